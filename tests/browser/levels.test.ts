import {
  Box3,
  BoxGeometry,
  type BufferGeometry,
  type Camera,
  Color,
  DirectionalLight,
  type Light,
  Matrix4,
  MeshBasicMaterial,
  MeshStandardMaterial,
  type PerspectiveCamera,
  type Scene,
  Vector3,
  WebGLRenderer,
} from 'three';
import { describe, expect, test } from 'vitest';
import type { LevelMesh } from '../../lib/objects/LevelMesh.js';
import { createNodeRenderer, TWINS, type Twin } from '../support/captures.js';
import { countHeld } from '../support/countHeld.js';
import { createKnight } from '../support/knight.js';
import { SkinnedInstancedMesh } from '../support/library.js';
import { changedPixels, createStage, type LightKind, picture, SIZE } from '../support/pictures.js';
import { createStick } from '../support/stick.js';
import { THOROUGH } from '../support/thorough.js';

const COUNT = 9;

/** Lights and encodings; each with one language of shaders, and with all where everything is tested or there is one language only. */
const LIT = [
  ['directional', 'tracks', 'TSL on WebGPU'],
  ['spot', 'matrix', 'TSL on WebGL 2'],
  ['point', 'tracks', 'GLSL'],
] as const;

/** Instances one behind the other, in the middle of fades, in different clothes. */
function createCrowd(encoding: 'tracks' | 'matrix') {
  const { root, clips } = createKnight();
  const crowd = SkinnedInstancedMesh.from(root, clips, COUNT, { encoding, mergeMaterials: true });
  crowd.castShadow = crowd.receiveShadow = true;
  for (let i = 0; i < COUNT; i++) {
    crowd.setMatrixAt(i, new Matrix4().makeRotationY(i).setPosition((i % 3) - 1, 0, -i));
    crowd.setColorAt(i, new Color().setHSL(i / COUNT, 1, 0.7));
    crowd.play(i, i % clips.length, { time: i * 0.1 });
  }
  crowd.update(0.2);
  for (let i = 0; i < COUNT; i++) crowd.play(i, (i + 1) % clips.length, { fade: 0.5 });
  crowd.update(0.17);
  crowd.setPartVisibleAt(4, 'Shield', false);
  crowd.setPartColorAt(5, 'Body', new Color(0, 0, 1));
  return { crowd, root };
}

/** A light and a camera for all of it. */
function createStageFor(crowd: SkinnedInstancedMesh, kind: LightKind) {
  crowd.computeBoundingBox();
  const stage = createStage(crowd.boundingBox as Box3, kind);
  crowd.boundingBox = null;
  return stage;
}

/** Distances at which the first third of the instances is at level 0, and so on. */
function thirds(crowd: SkinnedInstancedMesh, camera: Camera): number[] {
  const place = new Vector3();
  const matrix = new Matrix4();
  const distances = Array.from({ length: COUNT }, (_, i) => {
    crowd.getMatrixAt(i, matrix);
    return place.setFromMatrixPosition(matrix).distanceTo(camera.position);
  }).sort((a, b) => a - b);
  return [distances[COUNT / 3], distances[(COUNT / 3) * 2]];
}

type Draw = (scene: Scene, camera: Camera, crowd: SkinnedInstancedMesh) => Promise<Uint8Array>;

async function drawingOf(twin: Twin): Promise<{ draw: Draw; dispose(): void }> {
  if (twin === 'GLSL') {
    const renderer = new WebGLRenderer();
    renderer.shadowMap.enabled = true;
    const draw: Draw = async (scene, camera, crowd) => picture(renderer, scene, camera, crowd);
    return { draw, dispose: () => renderer.dispose() };
  }
  const { pictureNodes } = await import('../support/picturesNodes.js');
  const renderer = await createNodeRenderer(twin);
  renderer.shadowMap.enabled = true;
  const draw: Draw = (scene, camera, crowd) => pictureNodes(renderer, scene, camera, crowd);
  return { draw, dispose: () => renderer.dispose() };
}

describe.each(TWINS)('%s', (twin) => {
  test('levels of the same geometry give the same picture to the byte, with their shadows', async () => {
    const { draw, dispose } = await drawingOf(twin);
    for (const [kind, encoding] of LIT.filter(
      ([, , one]) => THOROUGH || TWINS.length === 1 || one === twin,
    )) {
      const { crowd, root } = createCrowd(encoding);
      const yellow = new MeshStandardMaterial({ color: 0xffee00 });
      crowd.attachToJoint('Head', new BoxGeometry(0.3, 0.1, 0.3), yellow);
      const { scene, camera } = createStageFor(crowd, kind);
      const expected = await draw(scene, camera, crowd);
      crowd.visible = false;
      const empty = await draw(scene, camera, crowd);
      crowd.visible = true;
      expect(changedPixels(expected, empty)).toBeGreaterThan(1500);

      for (const start of thirds(crowd, camera)) {
        const level = crowd.addLevel(root, start, 0.1, { mergeMaterials: true });
        if (Array.isArray(level.material)) throw new Error('the materials were not merged');
      }
      const levelled = await draw(scene, camera, crowd);
      expect(changedPixels(levelled, expected, 0), `${kind}, ${encoding}`).toBe(0);
      crowd.shadowLevel = 1;
      expect(changedPixels(await draw(scene, camera, crowd), expected, 0), `${kind}, coarser shadows`).toBe(
        0,
      );

      // The camera turns around, and the same instances are at other levels.
      camera.position.z -= 2 * COUNT;
      camera.lookAt(0, 1, -COUNT / 2);
      camera.updateMatrixWorld();
      const behind = await draw(scene, camera, crowd);
      for (const level of crowd.levels.slice(1)) crowd.removeLevel(level);
      expect(changedPixels(await draw(scene, camera, crowd), behind), `${kind}, from behind`).toBe(0);
      crowd.dispose();
    }
    dispose();
  });

  test('each instance is drawn in the material of its level, and nothing where there is none', async () => {
    const { draw, dispose } = await drawingOf(twin);
    const { crowd } = createCrowd('tracks');
    crowd.material = new MeshBasicMaterial({ color: 0xffffff });
    crowd.instanceColor?.array.fill(1);
    crowd.instanceMatrix.array.fill(0);
    for (let i = 0; i < COUNT; i++) {
      crowd.setMatrixAt(i, new Matrix4().setPosition((i % 3) * 3 - 3, Math.floor(i / 3) * 3 - 3, -i * 2));
    }
    const { scene, camera } = createStageFor(crowd, 'directional');
    for (const object of [...scene.children]) if (!(object as Light).isLight) scene.remove(object);
    (camera as PerspectiveCamera).position.set(0, 0, 20);
    camera.lookAt(0, 0, -8);
    camera.updateMatrixWorld();
    scene.background = new Color(0);
    const box = () => followingBox(crowd.geometry);
    crowd.geometry = box();
    const materials = [0xff0000, 0x00ff00].map((color) => new MeshBasicMaterial({ color }));
    crowd.addLevel(crowd.geometry, 24, 0, { material: materials[0] });
    crowd.addLevel(crowd.geometry, 29, 0, { material: materials[1] });
    crowd.addLevel(null, 35);
    crowd.setPartColorAt(crowd.all, 0, new Color(1, 1, 1));

    const pixels = await draw(scene, camera, crowd);
    const seen = Array.from({ length: COUNT }, (_, i) => {
      const matrix = new Matrix4();
      crowd.getMatrixAt(i, matrix);
      const centre = new Vector3().setFromMatrixPosition(matrix);
      const distance = centre.distanceTo(camera.position);
      const { x, y } = centre.project(camera);
      // WebGPU has the first row of pixels at the top.
      const row = Math.round(((twin === 'TSL on WebGPU' ? 1 - y : 1 + y) / 2) * SIZE);
      const pixel = row * SIZE + Math.round(((x + 1) / 2) * SIZE);
      return { distance, color: [...pixels.subarray(pixel * 4, pixel * 4 + 3)].map((value) => value > 128) };
    });
    const levels = new Set<number>();
    for (const { distance, color } of seen) {
      const level = [24, 29, 35].filter((start) => distance >= start).length;
      levels.add(level);
      const expected = [
        [true, true, true],
        [true, false, false],
        [false, true, false],
        [false, false, false],
      ][level];
      expect(color, `at ${distance}`).toEqual(expected);
    }
    expect(levels.size).toBe(4);
    crowd.dispose();
    dispose();
  });

  test('shadows are those of the level that shadowLevel says', async () => {
    const { draw, dispose } = await drawingOf(twin);
    const invisible = new MeshBasicMaterial({ colorWrite: false, depthWrite: false });
    const { crowd } = createCrowd('tracks');
    const { scene, camera } = createStageFor(crowd, 'directional');
    crowd.material = invisible;
    const knights = await draw(scene, camera, crowd);
    const other = createCrowd('tracks').crowd;
    other.material = invisible;
    other.geometry = followingBox(other.geometry);
    other.setPartColorAt(other.all, 0, new Color(1, 1, 1));
    const boxes = await draw(scene, camera, other);
    expect(changedPixels(knights, boxes)).toBeGreaterThan(300);

    crowd.addLevel(other.geometry, 1e6);
    expect(changedPixels(await draw(scene, camera, crowd), knights)).toBe(0);
    crowd.shadowLevel = 1;
    expect(changedPixels(await draw(scene, camera, crowd), boxes)).toBe(0);
    (crowd.levels[1].object as LevelMesh).castShadow = false;
    crowd.castShadow = true;
    scene.traverse((object) => {
      if (object instanceof DirectionalLight) object.castShadow = false;
    });
    const none = await draw(scene, camera, crowd);
    scene.traverse((object) => {
      if (object instanceof DirectionalLight) object.castShadow = true;
    });
    expect(changedPixels(await draw(scene, camera, crowd), none)).toBe(0);
    crowd.dispose();
    other.dispose();
    dispose();
  });
});

/** A box about the origin whose vertices all follow the first joint of a crowd geometry, as part 0. */
function followingBox(source: BufferGeometry): BufferGeometry {
  const box = new BoxGeometry(1, 1, 1);
  const { count } = box.attributes.position;
  for (const name of ['skinIndex', 'skinWeight']) {
    const from = source.getAttribute(name);
    const copy = from.clone();
    const { itemSize } = from;
    const values = Float32Array.from({ length: count * itemSize }, (_, i) => {
      return name === 'skinIndex' ? 0 : i % itemSize === 0 ? 1 : 0;
    });
    box.setAttribute(name, Object.assign(copy, { array: values, count, data: undefined }) as never);
  }
  return box;
}

test('200 rounds of levels added and disposed end where they began', () => {
  const renderer = new WebGLRenderer();
  renderer.setSize(32, 32);
  renderer.shadowMap.enabled = true;
  const held = countHeld(renderer.getContext(), {
    buffers: ['createBuffer', 'deleteBuffer'],
    textures: ['createTexture', 'deleteTexture'],
    'vertex arrays': ['createVertexArray', 'deleteVertexArray'],
  });
  const { root, clips } = createStick();
  const crowd = SkinnedInstancedMesh.from(root, clips, 4);
  crowd.castShadow = true;
  const { scene, camera } = createStage(
    new Box3(new Vector3(-1, -1, -1), new Vector3(1, 1, 1)),
    'directional',
  );
  scene.add(crowd);
  const listeners = () =>
    Object.values((crowd.boneTexture as unknown as { _listeners?: object })._listeners ?? {}).map(
      (list) => (list as unknown[]).length,
    );
  const round = () => {
    const level = crowd.addLevel(root, 0.5);
    crowd.addLevel(null, 100);
    renderer.render(scene, camera);
    crowd.removeLevel(level);
    crowd.removeLevel(100);
    renderer.render(scene, camera);
  };
  // A material keeps the variants that it was once compiled with.
  for (let i = 0; i < 3; i++) round();
  const state = () => ({
    ...held,
    ...renderer.info.memory,
    listeners: listeners(),
    programs: renderer.info.programs?.length,
  });
  const before = state();
  for (let i = 0; i < 200; i++) round();
  expect(state()).toEqual(before);
  expect(crowd.children).toEqual([]);
  crowd.dispose();
  renderer.dispose();
});
