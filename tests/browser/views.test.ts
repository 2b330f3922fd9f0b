import {
  ArrayCamera,
  Box3,
  BoxGeometry,
  type Camera,
  Color,
  InstancedBufferAttribute,
  Matrix4,
  MeshBasicMaterial,
  MeshDepthMaterial,
  MeshStandardMaterial,
  Object3D,
  PerspectiveCamera,
  Quaternion,
  RawShaderMaterial,
  Scene,
  ShaderMaterial,
  Vector3,
  Vector4,
  WebGLRenderer,
} from 'three';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { countCalls } from '../../demos/lib/countCalls.js';
import { FIRST_LISTED, PARAM_LISTED } from '../../lib/constants.js';
import { TWINS } from '../support/captures.js';
import { createCoarsestCharacter } from '../support/coarseCharacter.js';
import { drawingOf } from '../support/drawings.js';
import { createEverything } from '../support/everything.js';
import { editsOf, orderOf, partsOf } from '../support/features.js';
import { addLevel } from '../support/levels.js';
import {
  bakeCharacter,
  createLevel,
  encodingOf,
  getViewInfo,
  JointAttachment,
  SkinnedInstancedMesh,
} from '../support/library.js';
import { aim, changedPixels, createStage, picture } from '../support/pictures.js';
import { random } from '../support/random.js';
import { THOROUGH } from '../support/thorough.js';

const renderer = new WebGLRenderer();
renderer.shadowMap.enabled = true;
afterAll(() => renderer.dispose());

const COUNT = 100;
/** Where the camera stands in the middle of the crowd; most of that is behind it or to the side. */
const MIDDLE = new Box3(new Vector3(-3, 0, -3), new Vector3(3, 2, 3));

/** Characters in rows, each with something of its own, and with hats. */
function createCrowd(perObjectFrustumCulled: boolean): SkinnedInstancedMesh {
  const { root, clips } = createCoarsestCharacter();
  const crowd = new SkinnedInstancedMesh(bakeCharacter(root, clips), COUNT);
  crowd.perObjectFrustumCulled = perObjectFrustumCulled;
  crowd.castShadow = true;
  crowd.receiveShadow = true;
  const hat = new JointAttachment(crowd, 'Head', new BoxGeometry(0.4, 0.2, 0.4), new MeshStandardMaterial());
  const matrix = new Matrix4();
  const color = new Color();
  for (let i = 0; i < COUNT; i++) {
    // In no order: neighbours have indices that are far apart.
    const place = (i * 37) % COUNT;
    matrix.makeRotationY(i).setPosition(((place % 10) - 4.5) * 2, 0, (Math.floor(place / 10) - 4.5) * 2);
    crowd.setMatrixAt(i, matrix);
    crowd.setColorAt(i, color.setHSL(i / COUNT, 0.8, 0.6));
    hat.setColorAt(i, color.setHSL(1 - i / COUNT, 0.8, 0.4));
    crowd.play(i, i % clips.length, { time: i * 0.1 });
    if (i % 7 === 0) partsOf(crowd).setVisibleAt(i, 0, false);
  }
  crowd.update(0.2);
  return crowd;
}

/** How many instances a mesh draws in each of its draws, shadow maps included. */
function countDrawn(crowd: SkinnedInstancedMesh): number[] {
  const drawn: number[] = [];
  for (const name of ['onBeforeRender', 'onBeforeShadow'] as const) {
    const original = crowd[name];
    crowd[name] = function (this: SkinnedInstancedMesh, ...args: never[]) {
      (original as (...args: never[]) => void).apply(this, args);
      drawn.push(this.count);
    } as never;
  }
  return drawn;
}

test('nothing is drawn where nobody is seen, and nothing sent while nothing changes', () => {
  const crowd = createCrowd(true);
  const drawn = countDrawn(crowd);
  const calls = countCalls(renderer.getContext() as WebGL2RenderingContext);
  const scene = new Scene().add(crowd);
  const camera = new PerspectiveCamera(50, 1, 0.1, 50);
  // Towards a gap between the rows, from within the sphere around all of them.
  camera.position.set(0, 9, 0);
  camera.lookAt(0, 20, -1);
  const frame = () => {
    drawn.length = 0;
    calls.reset();
    renderer.render(scene, camera);
    return drawn[0];
  };
  expect(frame()).toBe(0);
  expect(renderer.getContext().getError()).toBe(0);
  camera.position.y = 2;
  camera.lookAt(8, 0, 5);
  const seen = frame();
  expect(seen).toBeGreaterThan(3);
  expect(seen).toBeLessThan(COUNT / 2);
  const meshes = [crowd, ...crowd.attachments];
  const triangles = meshes.reduce((sum, mesh) => sum + (seen * (mesh.geometry.index?.count ?? 0)) / 3, 0);
  const { calls: drawCalls } = renderer.info.render;
  const info = { visible: seen, levels: [seen], triangles, drawCalls, posed: seen };
  expect(getViewInfo(crowd, camera)).toEqual(info);
  expect(getViewInfo(crowd, camera.clone())).toBeNull();
  frame();
  expect(calls.uploads).toBe(0);
  const counts = new Set([seen]);
  for (let turn = 0; turn < 8; turn++) {
    camera.rotation.y += 0.3;
    counts.add(frame());
    // Ids alone: those of the crowd and its hats, and those that are posed since they were not seen before.
    expect(calls.uploads).toBeLessThanOrEqual(turn > 4 ? 1 : 2);
    if (turn > 4) expect(calls.bytes).toBeLessThanOrEqual(COUNT * 8);
  }
  expect(counts.size).toBeGreaterThan(2);
  crowd.dispose();
});

test('instances keep their own influences, textures and code of the user under overriding and double-sided materials', () => {
  const { root, clips, materials } = createEverything();
  const create = (culled: boolean) => {
    const crowd = new SkinnedInstancedMesh(bakeCharacter(root, clips), 9);
    crowd.perObjectFrustumCulled = culled;
    for (let i = 0; i < 9; i++) {
      crowd.setMatrixAt(i, new Matrix4().makeRotationY(i).setPosition((i - 4) * 2, 0, 0));
      crowd.play(i, 0, { time: i * 0.1 });
    }
    for (const material of [crowd.material].flat()) {
      material.transparent = true;
      material.opacity = 0.7;
      material.side = 2;
      material.onBeforeCompile = (shader) => {
        shader.vertexShader = shader.vertexShader.replace(
          '#include <begin_vertex>',
          '#include <begin_vertex>\ntransformed.y += 0.1 * float( gl_InstanceID );',
        );
      };
    }
    crowd.update(0.3);
    return crowd;
  };
  const [culled, plain] = [create(true), create(false)];
  const drawn = countDrawn(culled);
  const { scene, camera } = createStage(new Box3(new Vector3(-1, 0, -1), new Vector3(3, 1, 1)));
  const compare = (label: string) => {
    const expected = picture(renderer, scene, camera, plain);
    const empty = picture(renderer, scene, camera, new Object3D());
    expect(changedPixels(expected, empty), label).toBeGreaterThan(500);
    expect(changedPixels(expected, picture(renderer, scene, camera, culled), 0), label).toBe(0);
  };
  compare('its own materials');
  scene.overrideMaterial = new MeshDepthMaterial();
  compare('an overriding material');
  expect(Math.max(...drawn)).toBeLessThan(9);
  for (const crowd of [culled, plain]) crowd.dispose();
  for (const material of materials) material.dispose();
});

test('a crowd whose geometry has instanced attributes of the user is drawn whole, and says so', () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  const crowd = createCrowd(true);
  crowd.geometry.setAttribute('own', new InstancedBufferAttribute(new Float32Array(COUNT), 1));
  const drawn = countDrawn(crowd);
  const { scene, camera } = createStage(MIDDLE);
  picture(renderer, scene, camera, crowd);
  expect(new Set(drawn)).toEqual(new Set([COUNT]));
  expect(warn.mock.calls.join()).toContain('"own"');
  crowd.dispose();
});

test('where all instances move each matrix is sent once, and pictures are those of a crowd that is not culled', () => {
  const crowds = [createCrowd(true), createCrowd(false)] as const;
  const calls = countCalls(renderer.getContext() as WebGL2RenderingContext);
  const { scene, camera } = createStage(MIDDLE);
  const [matrix, turn] = [new Matrix4(), new Matrix4().makeRotationY(0.1)];
  const move = () => {
    for (const crowd of crowds) {
      for (let i = 0; i < COUNT; i++)
        crowd.setMatrixAt(i, turn.clone().multiply(crowd.getMatrixAt(i, matrix)));
      crowd.instanceMatrix.needsUpdate = true;
    }
  };
  const compare = (label: string): number => {
    const expected = picture(renderer, scene, camera, crowds[1]);
    calls.reset();
    expect(changedPixels(expected, picture(renderer, scene, camera, crowds[0]), 0), label).toBe(0);
    return calls.bytes;
  };
  const bytes: number[] = [];
  for (let i = 0; i < 4; i++) {
    move();
    bytes.push(compare('in part'));
  }
  expect(bytes[0]).toBeGreaterThan(COUNT * 64 * 2);
  expect(bytes[3]).toBeLessThan(COUNT * 64 * 1.5);
  crowds.forEach((crowd) => {
    crowd.setMatrixAt(99, matrix.makeTranslation(0.5, 0, 1));
    crowd.instanceMatrix.addUpdateRange(99 * 16, 16);
    crowd.instanceMatrix.needsUpdate = true;
  });
  compare('a range');
  const vertexShader = `attribute vec3 position; attribute mat4 instanceMatrix; uniform mat4 projectionMatrix, modelViewMatrix;
    void main() { gl_Position = projectionMatrix * modelViewMatrix * instanceMatrix * vec4(position, 1.0); }`;
  const fragmentShader = 'void main() { gl_FragColor = vec4(1.0); }';
  const raw = new RawShaderMaterial({ vertexShader, fragmentShader });
  scene.overrideMaterial = raw;
  compare('by shaders that know no lists');
  scene.overrideMaterial = null;
  for (let i = 0; i < 2; i++) {
    move();
    compare('in part again');
  }
  // Also at a level at which nobody was before.
  addLevel(crowds[0], crowds[0].geometry, 40);
  compare('in part, with a level');
  camera.position.multiplyScalar(8);
  camera.updateMatrixWorld();
  for (let i = 0; i < 5; i++) {
    // At first by matrices that were sent for lists.
    if (i === 1) move();
    compare('all in view');
  }
  expect(renderer.getContext().getError()).toBe(0);
  for (const crowd of crowds) crowd.dispose();
});

test('whoever comes into view after some time is posed at once, also if posed less often, edited or posed from outside', () => {
  const { scene, camera } = createStage(MIDDLE);
  // Its light would see all of them.
  renderer.shadowMap.enabled = false;
  const culled = createCrowd(true);
  const plain = createCrowd(false);
  culled.setPoseRateAt(culled.all, 0.5);
  const look = (turn: number) => {
    camera.position.set(0, 2, Math.cos(turn) * -4);
    camera.rotation.set(0, turn, 0);
    camera.updateMatrixWorld();
  };
  const pose = createCoarsestCharacter().root;
  pose.getObjectByName('Head')?.rotateX(1);
  const turned = new Quaternion().setFromAxisAngle(new Vector3(0, 0, 1), 1);
  for (let half = 0; half < 4; half++) {
    look(half * Math.PI);
    const first = picture(renderer, scene, camera, culled);
    expect(changedPixels(picture(renderer, scene, camera, plain), first, 0), `turn ${half}`).toBe(0);
    for (let frame = 0; frame < 3; frame++) {
      for (const crowd of [culled, plain]) crowd.update(0.01);
      picture(renderer, scene, camera, culled);
    }
    // Others go on, and are changed, where nobody looks.
    for (const crowd of [culled, plain]) {
      crowd.update(0.2);
      for (let i = half; i < COUNT; i += 4) editsOf(crowd).setRotationAt(i, 'Head', turned, { mode: 'add' });
      for (let i = half; i < COUNT; i += 9) editsOf(crowd).setPoseAt(i, pose);
    }
  }
  renderer.shadowMap.enabled = true;
  for (const crowd of [culled, plain]) crowd.dispose();
});

describe('viewHooks', () => {
  const COUNT = 36;

  /** Characters in rows, of which some are hidden, with a second level of detail that is larger, to be told apart. */
  function createCrowd(encoding: 'tracks' | 'frames' = 'tracks', levels = true): SkinnedInstancedMesh {
    const { root, clips } = createCoarsestCharacter();
    const character = bakeCharacter(root, clips, { encoding: encodingOf(encoding) });
    const crowd = new SkinnedInstancedMesh(character, COUNT);
    crowd.perObjectFrustumCulled = true;
    crowd.castShadow = crowd.receiveShadow = true;
    for (let i = 0; i < COUNT; i++) {
      const place = (i * 7) % COUNT;
      const x = ((place % 6) - 2.5) * 2;
      crowd.setMatrixAt(
        i,
        new Matrix4().makeRotationY(i).setPosition(x, 0, (Math.floor(place / 6) - 2.5) * 2),
      );
      crowd.play(i, i % clips.length, { time: i * 0.1 });
    }
    if (levels) {
      const level = addLevel(crowd, createLevel(crowd, createCoarsestCharacter().root), 7);
      level.castShadow = level.receiveShadow = true;
      level.material = new MeshStandardMaterial({ color: 0xff0000 });
    }
    for (const i of [1, 5, 8]) crowd.setVisibleAt(i, false);
    crowd.update(0.2);
    return crowd;
  }

  const stage = () => createStage(MIDDLE);

  const VERTEX = `
  varying float height;
  void main() {
    height = position.y;
    gl_Position = projectionMatrix * modelViewMatrix * instanceMatrix * vec4( position, 1.0 );
  }`;
  const FRAGMENT =
    'varying float height; void main() { gl_FragColor = vec4( fract( height ), 0.0, 1.0, 1.0 ); }';

  test('shaders that cannot pose a crowd draw those of its instances that are visible, each at its level', () => {
    vi.spyOn(console, 'warn').mockImplementation(() => {});
    const still = new ShaderMaterial({ vertexShader: VERTEX, fragmentShader: FRAGMENT });
    const { scene, camera } = stage();
    aim(camera, [0, 2, 3], [0, 1, -3]);
    const crowd = createCrowd();
    const drawn: number[] = [];
    for (const mesh of [crowd, ...crowd.attachments]) {
      mesh.onBeforeRender = function (this: SkinnedInstancedMesh, ...args) {
        SkinnedInstancedMesh.prototype.onBeforeRender.apply(this, args);
        drawn.push(this.count);
      };
    }
    for (const mesh of [crowd, ...crowd.attachments]) mesh.material = still;
    // The first picture finds out what the shader is.
    picture(renderer, scene, camera, crowd);
    drawn.length = 0;
    const listed = picture(renderer, scene, camera, crowd);
    const info = getViewInfo(crowd, camera);
    expect(drawn).toEqual(info?.levels);
    expect(info?.visible).toBeLessThan(COUNT - 3);

    // The same without lists: whoever is hidden shrinks to nothing, and levels look alike.
    const plain = createCrowd('tracks', false);
    plain.perObjectFrustumCulled = false;
    plain.setVisibleAt(plain.all, true);
    for (const i of [1, 5, 8]) plain.setMatrixAt(i, new Matrix4().makeScale(0, 0, 0));
    plain.material = still;
    const expected = picture(renderer, scene, camera, plain);
    expect(changedPixels(expected, picture(renderer, scene, camera, new Object3D()))).toBeGreaterThan(500);
    expect(changedPixels(expected, listed, 0)).toBe(0);
    for (const one of [crowd, plain, still]) one.dispose();
  });

  test('both eyes of a headset see an instance at the same level', () => {
    const crowd = createCrowd();
    const scene = new Scene().add(crowd);
    const head = new PerspectiveCamera(90, 1, 0.1, 50);
    head.position.set(0, 1.6, 6);
    head.updateMatrixWorld();
    // Far apart, so that distances to the same instance are other ones.
    const eyes = [2, 5].map((x, i) => {
      const eye = Object.assign(head.clone(), { viewport: new Vector4(i * 128, 0, 128, 128) });
      eye.position.x = x;
      eye.updateMatrixWorld();
      return eye;
    });
    const array = new ArrayCamera(eyes);
    array.copy(head, false);
    array.cameras = eyes;
    array.updateMatrixWorld();
    const { xr } = renderer;
    const { getCamera, isPresenting, cameraAutoUpdate, getDepthSensingMesh } = xr;
    xr.enabled = true;
    Object.assign(xr, {
      isPresenting: true,
      cameraAutoUpdate: false,
      getCamera: () => array,
      getDepthSensingMesh: () => null,
    });
    /** By eye: the instances at each level. */
    const drawn = new Map<Camera, number[][]>(eyes.map((eye) => [eye, []]));
    for (const mesh of [crowd, ...crowd.attachments]) {
      mesh.onBeforeRender = function (this: SkinnedInstancedMesh, ...args) {
        SkinnedInstancedMesh.prototype.onBeforeRender.apply(this, args);
        const { data } = this.skeleton.textures.list.image as { data: Float32Array };
        const first = this.bindMatrix.elements[PARAM_LISTED] - FIRST_LISTED;
        drawn.get(args[2])?.push([...data.subarray(first, first + this.count)]);
      };
    }
    renderer.render(scene, head);
    Object.assign(xr, { isPresenting, cameraAutoUpdate, getCamera, getDepthSensingMesh });
    xr.enabled = false;

    const levelsOf = (eye: Camera, viewer: Camera) => {
      const view = crowd.views.of(eye, crowd.matrixWorld, renderer.info.render.frame, viewer, false);
      return [0, 1].map((level) => {
        const { count, list, start = 0 } = view.of(1 << level);
        return Array.from({ length: count }, (_, i) => list.get(start + i));
      });
    };
    for (const eye of eyes) {
      expect(drawn.get(eye)).toEqual(levelsOf(eye, array));
      expect(levelsOf(eye, eye), 'each by itself would see other levels').not.toEqual(drawn.get(eye));
    }
    crowd.dispose();
  });
});

describe('order', () => {
  const COUNT = 40;
  const BOUNDS = new Box3(new Vector3(-2, 0, -2), new Vector3(2, 2, 2));

  interface Placed {
    matrix: Matrix4;
    color: Color;
  }

  function createPlaces(): Placed[] {
    const next = random(3);
    return Array.from({ length: COUNT }, () => ({
      matrix: new Matrix4().makeRotationY(next() * 6).setPosition(next() * 3 - 1.5, 0, next() * 3 - 1.5),
      color: new Color().setHSL(next(), 1, 0.5),
    }));
  }

  /** Characters through which one sees those behind them: what is drawn first shows less. */
  function createCrowd(places: readonly Placed[]): SkinnedInstancedMesh {
    const { root, clips } = createCoarsestCharacter();
    const crowd = new SkinnedInstancedMesh(bakeCharacter(root, clips), places.length);
    crowd.material = new MeshBasicMaterial({ transparent: true, opacity: 0.5, depthWrite: false });
    places.forEach(({ matrix, color }, i) => {
      crowd.setMatrixAt(i, matrix);
      crowd.setColorAt(i, color);
    });
    return crowd;
  }

  describe.each(TWINS)('%s', (twin) => {
    test('sorted crowds look like crowds whose instances were added in that order', async ({ skip }) => {
      skip(!THOROUGH && twin !== 'GLSL');
      const drawing = await drawingOf(twin);
      const { scene, camera } = createStage(BOUNDS);
      const places = createPlaces();
      // Distances are those of the middle of all poses.
      const one = createCrowd([{ matrix: new Matrix4(), color: new Color() }]);
      one.computeBoundingBox();
      const middle = one.boundingBox!.getCenter(new Vector3());
      const depth = ({ matrix }: Placed) =>
        middle.clone().applyMatrix4(matrix).applyMatrix4(camera.matrixWorldInverse).z;
      camera.updateMatrixWorld();
      const farFirst = [...places].sort((a, b) => depth(a) - depth(b));
      const eye = new Vector3().setFromMatrixPosition(camera.matrixWorld);
      const distance = ({ matrix }: Placed) => middle.clone().applyMatrix4(matrix).distanceTo(eye);
      const nearest = [...places].sort((a, b) => distance(a) - distance(b)).slice(0, 15);

      const show = (crowd: SkinnedInstancedMesh) => drawing.draw(scene, camera, crowd);
      const crowd = createCrowd(places);
      const sorted = createCrowd(farFirst);
      sorted.perObjectFrustumCulled = false;
      const few = createCrowd(farFirst.filter((place) => nearest.includes(place)));
      few.perObjectFrustumCulled = false;

      expect(changedPixels(await show(crowd), await show(sorted)), 'as they were added').toBeGreaterThan(500);
      orderOf(crowd).sortObjects = true;
      expect(changedPixels(await show(crowd), await show(sorted))).toBe(0);
      orderOf(crowd).maxVisible = 15;
      expect(changedPixels(await show(crowd), await show(few))).toBe(0);
      orderOf(crowd).maxVisible = Infinity;
      orderOf(crowd).customSort = (list) => list.sort((a, b) => a.index - b.index);
      expect(changedPixels(await show(crowd), await show(createCrowd(places)))).toBe(0);
      orderOf(crowd).customSort = null;
      expect(changedPixels(await show(crowd.clone()), await show(sorted)), 'a clone').toBe(0);
      for (const done of [one, crowd, sorted, few]) done.dispose();
      drawing.dispose();
    });
  });
});
