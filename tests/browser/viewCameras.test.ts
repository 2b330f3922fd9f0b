import {
  ArrayCamera,
  Box3,
  type Camera,
  CubeCamera,
  DirectionalLight,
  Matrix4,
  Object3D,
  OrthographicCamera,
  PerspectiveCamera,
  PlaneGeometry,
  PointLight,
  type Scene,
  SpotLight,
  Vector3,
  Vector4,
  WebGLCubeRenderTarget,
  WebGLRenderer,
} from 'three';
import { Reflector } from 'three-stdlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TWINS } from '../support/captures.js';
import { createCoarsestCharacter } from '../support/coarseCharacter.js';
import { type Drawing, drawingOf } from '../support/drawings.js';
import { drawInNewFrame } from '../support/frames.js';
import { bakeCharacter, readViewInfo, SkinnedInstancedMesh } from '../support/library.js';
import { aim, changedPixels, createStage, SIZE } from '../support/pictures.js';

const COUNT = 40;
/** Where cameras stand, in the middle of the crowd. */
const MIDDLE = new Box3(new Vector3(-3, 0, -3), new Vector3(3, 2, 3));

/** Characters in rows all around, of which one is hidden. */
function createCrowd(culled: boolean): SkinnedInstancedMesh {
  const { root, clips } = createCoarsestCharacter();
  const crowd = new SkinnedInstancedMesh(bakeCharacter(root, clips), COUNT);
  crowd.perObjectFrustumCulled = culled;
  crowd.castShadow = crowd.receiveShadow = true;
  for (let i = 0; i < COUNT; i++) {
    const place = (i * 13) % COUNT;
    const x = ((place % 8) - 3.5) * 2.2;
    crowd.setMatrixAt(i, new Matrix4().makeRotationY(i).setPosition(x, 0, (Math.floor(place / 8) - 2) * 3));
    crowd.play(i, i % clips.length, { time: i * 0.1 });
  }
  crowd.setVisibleAt(9, false);
  crowd.update(0.2);
  return crowd;
}

function lookFrom(camera: Camera, x: number, y: number, z: number): void {
  aim(camera, [x, y, z], [0, 1, 0]);
}

/** What a picture is of: changes the stage, and returns the camera. */
type Look = (scene: Scene, camera: PerspectiveCamera) => Camera;

const LOOKS: Record<string, Look> = {
  'an orthographic camera': () => {
    const camera = new OrthographicCamera(-3, 3, 3, -3, 0.1, 8);
    lookFrom(camera, 2, 3, 4);
    return camera;
  },

  // As cascaded shadow maps have them: each with a frustum of its own, of another size.
  'three directional lights': (scene, camera) => {
    for (const size of [1.5, 4, 9]) {
      const light = new DirectionalLight(0xffffff, 0.8);
      light.castShadow = true;
      light.position.set(size, 6, 3);
      light.target.position.set(0, 0, 3 - size / 2);
      Object.assign(light.shadow.camera, { left: -size, right: size, top: size, bottom: -size, far: 20 });
      scene.add(light, light.target);
    }
    lookFrom(camera, 1, 2, 5);
    return camera;
  },

  'a spot light and a point light at once': (scene, camera) => {
    const spot = new SpotLight(0xffffff, 3, 0, Math.PI / 8, 0.3, 0);
    const point = new PointLight(0xffffff, 2, 0, 0);
    spot.position.set(4, 6, 2);
    point.position.set(-1, 3, 1);
    for (const light of [spot, point]) light.castShadow = true;
    scene.add(spot, point);
    lookFrom(camera, 0, 2, 4);
    return camera;
  },

  'an array of cameras': (scene, camera) => {
    // A shadow map would have all posed before.
    scene.traverse((object) => (object.castShadow = false));
    const half = SIZE / 2;
    const eyes = [0, 1, 2, 3].map((i) => {
      const eye = Object.assign(new PerspectiveCamera(30 + i * 10, 1, 0.1, 12), {
        viewport: new Vector4((i % 2) * half, Math.floor(i / 2) * half, half, half),
      });
      lookFrom(eye, Math.cos(i * 1.8) * 6, 1 + i / 2, Math.sin(i * 1.8) * 6);
      return eye;
    });
    const array = new ArrayCamera(eyes);
    array.copy(camera, false);
    array.cameras = eyes;
    lookFrom(array, 0, 2, 12);
    return array;
  },

  'a camera that sees mirrored, with a slanting near plane': (_, camera) => {
    lookFrom(camera, 2, 2, 5);
    const { elements } = camera.projectionMatrix.premultiply(new Matrix4().makeScale(1, -1, 1));
    elements[2] += 0.2;
    camera.projectionMatrixInverse.copy(camera.projectionMatrix).invert();
    return camera;
  },
};

describe.each(TWINS)('%s', (twin) => {
  let drawing: Drawing;
  const crowds: SkinnedInstancedMesh[] = [];
  beforeAll(async () => {
    drawing = await drawingOf(twin);
    crowds.push(createCrowd(true), createCrowd(false));
  });
  afterAll(() => {
    for (const crowd of crowds) crowd.dispose();
    drawing.dispose();
  });

  test.each(Object.entries(LOOKS))(
    'pictures of %s are the same to the byte, culled or not',
    async (_, look) => {
      const { scene, camera: own } = createStage(MIDDLE);
      const camera = look(scene, own as PerspectiveCamera);
      // One that no camera has seen is posed in the middle of its picture.
      const [culled, plain] = [crowds[0].clone(), crowds[1]];
      const empty = await drawing.draw(scene, camera, new Object3D());
      const drawn = await drawing.draw(scene, camera, culled);
      const expected = await drawing.draw(scene, camera, plain);
      expect(changedPixels(expected, empty)).toBeGreaterThan(1000);
      expect(changedPixels(expected, drawn, 0)).toBe(0);
      // WebGLRenderer draws for each camera of an array by itself.
      const seeing = twin === 'GLSL' && camera instanceof ArrayCamera ? camera.cameras : [camera];
      for (const one of seeing) {
        const { visible } = await readViewInfo(culled, drawing.renderer, one);
        expect(visible).toBeGreaterThan(0);
        expect(visible).toBeLessThan(COUNT - 1);
      }
      culled.dispose();
    },
  );

  test('so are the pictures of a cube camera', async () => {
    const { scene } = createStage(MIDDLE);
    const { renderer } = drawing;
    const size = 64;
    const CubeTarget =
      twin === 'GLSL' ? WebGLCubeRenderTarget : (await import('three/webgpu')).CubeRenderTarget;
    const target = new CubeTarget(size);
    const camera = new CubeCamera(0.1, 9, target);
    camera.position.set(0.4, 1, 0.5);
    const facesOf = async (object: Object3D) => {
      scene.add(object);
      if (renderer instanceof WebGLRenderer) camera.update(renderer, scene);
      else await drawInNewFrame(renderer, () => camera.update(renderer as never, scene));
      scene.remove(object);
      const faces: Uint8Array[] = [];
      for (let face = 0; face < 6; face++) {
        if (renderer instanceof WebGLRenderer) {
          const pixels = new Uint8Array(size * size * 4);
          renderer.readRenderTargetPixels(target as WebGLCubeRenderTarget, 0, 0, size, size, pixels, face);
          faces.push(pixels);
        } else {
          const reading = renderer.readRenderTargetPixelsAsync;
          faces.push(
            (await reading.call(renderer, target as never, 0, 0, size, size, 0, face)) as Uint8Array,
          );
        }
      }
      return faces;
    };
    const [drawn, expected] = [await facesOf(crowds[0]), await facesOf(crowds[1])];
    const empty = await facesOf(new Object3D());
    let covered = 0;
    expected.forEach((face, i) => {
      covered += changedPixels(face, empty[i]);
      expect(changedPixels(face, drawn[i], 0), `face ${i}`).toBe(0);
    });
    expect(covered).toBeGreaterThan(500);
    for (const eye of camera.children as PerspectiveCamera[]) {
      const { visible } = await readViewInfo(crowds[0], renderer, eye);
      expect(visible).toBeLessThan(COUNT - 1);
    }
    target.dispose();
  });
});

/** Expects pictures of a crowd that is culled, and of one that is not, to be one; returns the first. */
async function expectSameCulled({ draw }: Drawing, scene: Scene, camera: Camera) {
  const [culled, plain] = [createCrowd(true), createCrowd(false)];
  const empty = await draw(scene, camera, new Object3D());
  const expected = await draw(scene, camera, plain);
  expect(changedPixels(expected, empty)).toBeGreaterThan(1000);
  expect(changedPixels(expected, await draw(scene, camera, culled), 0)).toBe(0);
  plain.dispose();
  return culled;
}

test('pictures with a mirror are the same to the byte too', async () => {
  const drawing = await drawingOf('GLSL');
  const { scene, camera } = createStage(MIDDLE);
  const mirror = new Reflector(new PlaneGeometry(8, 4), { textureWidth: SIZE, textureHeight: SIZE });
  mirror.position.set(0, 2, -1.4);
  scene.add(mirror);
  lookFrom(camera, 0, 2, 5);
  const culled = await expectSameCulled(drawing, scene, camera);
  mirror.dispose();
  culled.dispose();
  drawing.dispose();
});

test.each(TWINS)('%s: and with reversed depth', async (twin) => {
  const drawing = await drawingOf(twin, true);
  const { scene, camera } = createStage(MIDDLE);
  lookFrom(camera, 2, 2, 5);
  const culled = await expectSameCulled(drawing, scene, camera);
  const { visible } = await readViewInfo(culled, drawing.renderer, camera);
  expect(visible).toBeLessThan(COUNT - 1);
  // Not every device that draws by WebGL can do it.
  if (twin === 'TSL on WebGPU') expect(camera.reversedDepth).toBe(true);
  culled.dispose();
  drawing.dispose();
});
