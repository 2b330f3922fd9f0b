import type { Occlusion as OcclusionType } from 'skinned-instanced-mesh/occlusion';
import {
  Box3,
  BoxGeometry,
  Group,
  Matrix4,
  Mesh,
  MeshNormalMaterial,
  MeshStandardMaterial,
  type Object3D,
  PerspectiveCamera,
  Scene,
  Vector3,
} from 'three';
import { BundleGroup, RenderTarget, type WebGPURenderer } from 'three/webgpu';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createCharacter } from '../../demos/character.js';
import { TWINS } from '../support/captures.js';
import { type Drawing, drawingOf } from '../support/drawings.js';
import { SkinnedInstancedMesh } from '../support/library.js';
import { changedPixels, createStage } from '../support/pictures.js';

const STAGE = new Box3(new Vector3(-4, 0, -4), new Vector3(4, 2, 4));
const FIGURE = createCharacter({ detail: 0.15 });
const WALL = new BoxGeometry();
/** How many of a row stand in front of the wall, and how many there are. */
const SEEN = 5;
const ALL = 12;

/** Five in front of a wall and seven behind it; `at` is where that is. */
function createRow(at = new Vector3(), front = 4): SkinnedInstancedMesh {
  const crowd = SkinnedInstancedMesh.from(FIGURE.root, FIGURE.clips, ALL, { encoding: 'tracks' });
  for (let i = 0; i < ALL; i++) {
    const place = new Vector3(((i % SEEN) - 2) * 1.2, 0, i < SEEN ? front : -4).add(at);
    crowd.setMatrixAt(i, new Matrix4().setPosition(place));
  }
  crowd.playAll(0);
  return crowd;
}

function createWall(at = new Vector3()): Mesh {
  const wall = new Mesh(WALL, new MeshStandardMaterial({ color: 0xaa8866 }));
  wall.position.copy(at).y += 1.5;
  wall.scale.set(18, 9, 0.3);
  return wall;
}

function createCamera(at = new Vector3(), near = 0.1): PerspectiveCamera {
  const camera = new PerspectiveCamera(60, 1, near, 100);
  camera.position.set(0, 1.5, 12).add(at);
  camera.lookAt(new Vector3(0, 1, 0).add(at));
  camera.updateMatrixWorld();
  return camera;
}

describe.runIf(TWINS.length > 1)('under WebGPU', () => {
  let drawing: Drawing;
  let renderer: WebGPURenderer;
  let Occlusion: typeof OcclusionType;
  beforeAll(async () => {
    // Not above: WebGPU's part does not load with the oldest three.js.
    ({ Occlusion } = await import('skinned-instanced-mesh/occlusion'));
    drawing = await drawingOf('TSL on WebGPU');
    renderer = drawing.renderer as WebGPURenderer;
  });
  afterAll(() => drawing.dispose());

  const visible = async (crowd: SkinnedInstancedMesh, camera: PerspectiveCamera) =>
    (await crowd.readViewInfo(renderer, camera)).visible;

  /** Draws a crowd with occluders and without, twice. Expects that the pictures are the same. */
  async function expectSame(scene: Scene, camera: PerspectiveCamera, occluders: Object3D, hidden = true) {
    const [plain, occluded] = [createRow(), createRow()];
    const occlusion = new Occlusion(occluders);
    occluded.occlusion = occlusion;
    // Levels of shadows go by the camera that drew a crowd last.
    await drawing.draw(scene, camera, plain);
    for (let frame = 0; frame < 2; frame++) {
      const picture = await drawing.draw(scene, camera, occluded);
      const expected = await drawing.draw(scene, camera, plain);
      expect(changedPixels(expected, picture, 0), `frame ${frame}`).toBe(0);
      expect(await visible(occluded, camera), `frame ${frame}`).toBe(hidden ? SEEN : ALL);
    }
    const empty = await drawing.draw(scene, camera, new Group());
    expect(changedPixels(empty, await drawing.draw(scene, camera, occluded))).toBeGreaterThan(100);
    for (const owner of [plain, occluded, occlusion]) owner.dispose();
  }

  test('the whole scene hides what is behind it, with a background, hooks and an override', async () => {
    const { vec4 } = await import('three/tsl');
    const { scene } = createStage(STAGE, 'directional');
    const camera = createCamera();
    scene.add(createWall());
    scene.backgroundNode = vec4(0.2, 0.4, 0.6, 1);
    scene.overrideMaterial = new MeshNormalMaterial();
    const drawn: unknown[] = [];
    scene.onBeforeRender = (_renderer, _scene, of) => drawn.push(of);
    await expectSame(scene, camera, scene);
    // Once in each picture, and not for the camera of the pass.
    expect(drawn.map((of) => of === camera)).toEqual(Array.from({ length: 7 }, () => true));
  });

  test('so do walls in a bundle', async () => {
    const { scene } = createStage(STAGE, 'directional');
    const bundle = new BundleGroup();
    bundle.add(createWall());
    scene.add(bundle as unknown as Object3D);
    await expectSame(scene, createCamera(), bundle as unknown as Object3D);
  });

  test('so does an occluder whose hook draws another picture of the crowd', async () => {
    const { scene } = createStage(STAGE, 'directional');
    const [camera, other] = [createCamera(), createCamera()];
    other.position.y += 1;
    other.updateMatrixWorld();
    const wall = createWall();
    const target = new RenderTarget(64, 64);
    let isMirrored = false;
    let pictures = 0;
    wall.onBeforeRender = (_renderer, _scene, of) => {
      if (isMirrored || (of as { isShadowCamera?: boolean }).isShadowCamera) return;
      isMirrored = true;
      const before = renderer.getRenderTarget();
      renderer.setRenderTarget(target);
      renderer.render(scene, other);
      renderer.setRenderTarget(before);
      isMirrored = false;
      pictures++;
    };
    scene.add(wall);
    await expectSame(scene, camera, wall);
    expect(pictures).toBeGreaterThan(7);
    target.dispose();
  });

  test('far from the origin, with a near plane close to the eye, none is left out that is seen', async () => {
    const scene = new Scene();
    // Feet and hands reach almost to the wall.
    const [wall, crowd] = [createWall(), createRow(new Vector3(), 0.9)];
    const occlusion = new Occlusion(wall);
    crowd.occlusion = occlusion;
    scene.add(wall);
    for (const away of [0, 1_000, 10_000]) {
      const at = new Vector3(away, 0, -0.7 * away);
      const camera = createCamera(at, 0.01);
      wall.position.copy(at).y += 1.5;
      crowd.instanceMatrix.copy(createRow(at, 0.9).instanceMatrix);
      crowd.instanceMatrix.needsUpdate = true;
      await drawing.draw(scene, camera, crowd);
      expect(await visible(crowd, camera), `${away} away`).toBe(SEEN);
    }
    for (const owner of [crowd, occlusion]) owner.dispose();
  });
});
