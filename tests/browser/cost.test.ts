import type { FromOptions } from 'skinned-instanced-mesh';
import {
  BoxGeometry,
  Color,
  DataTexture,
  type Material,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  MeshStandardMaterial,
  PerspectiveCamera,
  PointLight,
  Scene,
  Vector4,
  WebGLRenderer,
} from 'three';
import { describe, expect, test, vi } from 'vitest';
import { countCalls } from '../../demos/lib/countCalls.js';
import { TimeHeap } from '../../lib/utils/TimeHeap.js';
import { createCoarseCharacter } from '../support/coarseCharacter.js';
import { SkinnedInstancedMesh } from '../support/library.js';
import { THOROUGH } from '../support/thorough.js';

const COUNT = 10_000;

/** Draws of the pass that poses a crowd by tracks. */
const PASS = 2;

function createCrowd(
  count = COUNT,
  encoding: 'quaternion' | 'tracks' = 'quaternion',
  options: FromOptions = {},
) {
  const renderer = new WebGLRenderer();
  renderer.setSize(64, 64);
  const { root, clips } = createCoarseCharacter();
  // a second part of the same material
  const { material } = root.getObjectByName('Body') as Mesh;
  root.getObjectByName('Head')?.add(new Mesh(new BoxGeometry(0.1, 0.1, 0.1), material));
  const crowd = SkinnedInstancedMesh.from(root, clips, count, { ...options, encoding });
  expect(crowd.geometry.groups).toEqual([]);
  const matrix = new Matrix4();
  for (let i = 0; i < count; i++) {
    crowd.setMatrixAt(i, matrix.makeTranslation((i % 100) * 2, 0, -Math.floor(i / 100) * 2));
    const time = ((i % 37) / 37) * clips[i % clips.length].duration;
    crowd.play(i, i % clips.length, { time, timeScale: 0.8 + (i % 5) / 10 });
  }
  // Uploads and calls do not depend on it, and a software renderer would take long over ten thousand of them.
  crowd.geometry.setDrawRange(0, 0);
  const scene = new Scene();
  scene.add(crowd);
  const camera = new PerspectiveCamera(60, 1, 0.1, 1000);
  camera.position.set(100, 30, 40);
  const calls = countCalls(renderer.getContext() as WebGL2RenderingContext);
  const frame = (delta = 1 / 60) => {
    calls.reset();
    crowd.update(delta);
    renderer.render(scene, camera);
    return { uploads: calls.uploads, bytes: calls.bytes, draws: calls.draws };
  };
  return { renderer, crowd, scene, camera, frame };
}

describe.each([
  ['quaternion', 0],
  ['tracks', PASS],
] as const)('encoding %s', (encoding, pass) => {
  test('ten thousand instances in mixed clips are one draw call and upload nothing while nothing changes', () => {
    const { renderer, frame } = createCrowd(COUNT, encoding);
    frame();
    // A software renderer takes long to pose so many, while the next tests wait for it.
    const frames = encoding === 'tracks' && !THOROUGH ? 6 : 60;
    for (let i = 0; i < frames; i++) expect(frame()).toEqual({ uploads: 0, bytes: 0, draws: 1 + pass });
    // What stands still is not posed anew.
    expect(frame(0)).toEqual({ uploads: 0, bytes: 0, draws: 1 });
    renderer.dispose();
  });

  test('shadows add one draw call per face of the shadow map, and no uploads', () => {
    const { renderer, crowd, scene, frame } = createCrowd(COUNT, encoding);
    renderer.shadowMap.enabled = true;
    crowd.castShadow = true;
    crowd.frustumCulled = false;
    const light = new PointLight();
    light.castShadow = true;
    light.shadow.mapSize.set(32, 32);
    scene.add(light);
    frame();
    const frames = encoding === 'tracks' && !THOROUGH ? 3 : 10;
    for (let i = 0; i < frames; i++) expect(frame()).toEqual({ uploads: 0, bytes: 0, draws: 7 + pass });
    renderer.dispose();
  });

  test('only what changed is uploaded, by what an instance takes', () => {
    const { renderer, crowd, frame } = createCrowd(COUNT, encoding);
    // With tracks a header and four clips.
    const size = encoding === 'tracks' ? 16 + 4 * 48 : 32;
    frame();
    crowd.play(5000, 0);
    expect(frame()).toMatchObject({ uploads: 1, bytes: size });
    crowd.play(0, 1).play(9999, 1);
    expect(frame()).toMatchObject({ uploads: 2, bytes: 2 * size });
    expect(frame()).toMatchObject({ uploads: 0 });
    renderer.dispose();
  });
});

test('materials with and without a texture look for no program in shadow maps', () => {
  const { root, clips } = createCoarseCharacter();
  const map = new DataTexture(new Uint8Array(4).fill(255), 1, 1);
  map.needsUpdate = true;
  root
    .getObjectByName('Head')
    ?.add(new Mesh(new BoxGeometry(0.1, 0.1, 0.1), new MeshStandardMaterial({ map })));
  const crowd = SkinnedInstancedMesh.from(root, clips, 1);
  crowd.castShadow = true;
  crowd.frustumCulled = false;
  let lookUps = 0;
  const materials = [crowd.material, crowd.customDistanceMaterial as Material].flat();
  expect(materials).toHaveLength(3);
  for (const material of materials) {
    const key = material.customProgramCacheKey;
    material.customProgramCacheKey = () => {
      lookUps++;
      return key.call(material);
    };
  }
  const renderer = new WebGLRenderer();
  renderer.setSize(64, 64);
  renderer.shadowMap.enabled = true;
  const light = new PointLight();
  light.castShadow = true;
  light.shadow.mapSize.set(32, 32);
  const scene = new Scene();
  scene.add(crowd, light);
  const camera = new PerspectiveCamera();
  for (let frame = 0; frame < 5; frame++) {
    if (frame === 2) {
      expect(lookUps).toBeGreaterThan(0);
      lookUps = 0;
    }
    crowd.update(1 / 60);
    renderer.render(scene, camera);
  }
  expect(lookUps).toBe(0);
  renderer.dispose();
});

test('only what changed is uploaded', () => {
  const { renderer, crowd, frame } = createCrowd();
  frame();
  crowd.play(5000, 0);
  expect(frame()).toMatchObject({ uploads: 1, bytes: 32 });
  crowd.play(0, 1).play(9999, 1);
  expect(frame()).toMatchObject({ uploads: 2, bytes: 64 });
  for (let i = 100; i < 200; i++) crowd.play(i, 1);
  expect(frame()).toMatchObject({ uploads: 1, bytes: 3200 });
  expect(frame()).toMatchObject({ uploads: 0 });
  renderer.dispose();
});

test('the clock going back to zero costs one upload of the playback state, and is not seen', () => {
  const { renderer, crowd, frame } = createCrowd();
  frame();
  const uploads: number[] = [];
  for (let i = 0; i < 130; i++) uploads.push(frame(0.25).bytes);
  expect(uploads.filter((bytes) => bytes > 0)).toEqual([COUNT * 32, COUNT * 32]);
  expect(crowd.clock).toBeLessThan(16);
  renderer.dispose();
});

test('a fade sends what it is about, and steady fading nothing', () => {
  const { renderer, crowd, frame } = createCrowd();
  frame();
  crowd.play(5000, 0, { fade: 2 });
  // the first fade of a crowd makes the texture for all
  expect(frame().bytes).toBeGreaterThan(COUNT * 64);
  expect(frame()).toMatchObject({ uploads: 0 });
  crowd.play(5001, 0, { fade: 2 }).play(7, 2, { fade: 1 });
  expect(frame()).toMatchObject({ uploads: 4, bytes: 2 * (32 + 64) });
  for (let i = 0; i < 30; i++) expect(frame(1 / 60)).toMatchObject({ uploads: 0, draws: 1 });
  for (let i = 300; i < 500; i++) crowd.play(i, 1, { fade: 0.5 });
  expect(frame()).toMatchObject({ uploads: 2, bytes: 200 * (32 + 64) });
  renderer.dispose();
});

test('of five thousand characters whose events are listened to, a frame costs what changes and what fires', () => {
  // so that no clip ends right where the counting does
  const step = 1 / 59;
  const count = 5_000;
  const { renderer, crowd, scene, camera, frame } = createCrowd(count);
  let heard = 0;
  for (const type of ['loop', 'finished', 'marker'] as const) {
    crowd.addEventListener(type, () => heard++);
  }
  frame(0);
  // each instance whose next event is looked for is put into its place anew
  const scheduled = vi.spyOn(TimeHeap.prototype, 'set');
  /** Draws 200 frames; says for how many instances in all something was done, and how long a frame took at best. */
  const run = (act = (_frame: number) => {}) => {
    scheduled.mockClear();
    let milliseconds = Infinity;
    for (let round = 0; round < 10; round++) {
      const start = performance.now();
      for (let i = 0; i < 20; i++) {
        act(round * 20 + i);
        crowd.update(step);
        renderer.render(scene, camera);
      }
      milliseconds = Math.min(milliseconds, (performance.now() - start) / 20);
    }
    return { done: scheduled.mock.calls.length, milliseconds };
  };

  const still = run();
  // every one wraps as often as the time that it has come to says
  const { clips } = crowd.boneTexture;
  let loops = 0;
  for (let i = 0; i < count; i++) {
    const { duration } = clips[i % clips.length];
    const now = ((i % 37) / 37) * duration + 200 * step * (0.8 + (i % 5) / 10);
    loops += Math.floor(now / duration);
  }
  expect(heard).toBe(loops);
  expect(loops).toBeGreaterThan(10_000);
  expect(still.done).toBe(loops);

  // without events there is nothing that is done for each
  crowd.setTimeScaleAt(crowd.all, 1e-6);
  const quiet = run();
  expect(quiet.done).toBe(0);

  const change = (at: number) => {
    for (let k = 0; k < 5; k++) crowd.play((at * 101 + k * 997) % count, k % clips.length, { fade: 0.3 });
  };
  heard = 0;
  const changing = run(change);
  expect(changing.done).toBe(200 * 5 + heard);
  change(1000);
  const { bytes } = frame(step);
  expect(bytes).toBe(5 * (32 + 64));
  const [whileStill, whileChanging, inQuiet] = [still, changing, quiet].map(({ milliseconds }) =>
    milliseconds.toFixed(3),
  );
  console.log(
    `5,000 characters: ${whileStill} ms of JavaScript a frame with ${(loops / 200).toFixed(0)} events, ` +
      `${whileChanging} ms and ${bytes} bytes with 300 changes of clip a second, ${inQuiet} ms with neither`,
  );
  scheduled.mockRestore();
  renderer.dispose();
});

test('ten thousand fades in one frame', () => {
  const { renderer, crowd, frame } = createCrowd();
  const clips = crowd.boneTexture.clips.length;
  const options = { fade: 0.3, timeScale: 1.1 };
  const times: number[] = [];
  const rounds = THOROUGH ? 9 : 3;
  for (let round = 0; round < rounds; round++) {
    const start = performance.now();
    for (let i = 0; i < COUNT; i++) crowd.play(i, (i + round) % clips, options);
    times.push(performance.now() - start);
    frame(0.1);
  }
  times.sort((a, b) => a - b);
  console.log(
    `10,000 play calls with fades: ${times[rounds >> 1].toFixed(2)} ms (${times[0].toFixed(2)} to ${times[rounds - 1].toFixed(2)})`,
  );
  for (let i = 0; i < COUNT; i++) crowd.play(i, 0, options);
  const { uploads, bytes } = frame();
  expect(bytes).toBe(COUNT * (32 + 64));
  // one for the newest slots, and one for each row of the texture of those that fade
  expect(uploads).toBe(1 + Math.ceil(COUNT / 256));
  renderer.dispose();
});

test('parts, colours and attachments cost a steady frame nothing', () => {
  const { renderer, crowd, scene, frame } = createCrowd();
  const box = new BoxGeometry();
  const swords = crowd.attachToJoint('RightHand', box, new MeshBasicMaterial());
  swords.frustumCulled = false;
  scene.add(crowd);
  const color = new Color();
  for (let i = 0; i < COUNT; i++) crowd.setPartColorAt(i, 0, color.setHSL(i / COUNT, 0.5, 0.5));
  swords.setPartVisibleAt({ start: 0, count: COUNT / 2 }, 0, false);
  frame();
  for (let i = 0; i < 5; i++) expect(frame(1 / 60)).toMatchObject({ uploads: 0, draws: 2 });

  // both parts of one instance
  crowd.setPartVisibleAt(4000, 0, false);
  expect(frame()).toMatchObject({ uploads: 1, bytes: 2 * 16 });
  // with the last of them, its sword goes too
  crowd.setPartVisibleAt(4000, 1, false);
  expect(frame()).toMatchObject({ uploads: 2, bytes: 3 * 16 });
  swords.setPartVisibleAt({ start: 100, count: 20 }, 0, true);
  expect(frame()).toMatchObject({ uploads: 1, bytes: 20 * 16 });
  crowd.play(3, 1);
  expect(frame()).toMatchObject({ uploads: 1, bytes: 32 });
  renderer.dispose();
});

test('what instances have of their own costs a steady frame nothing, and a change what it is', () => {
  const { renderer, crowd, scene, frame } = createCrowd(COUNT, 'quaternion', {
    uniforms: { dirt: 'float', at: 'vec4' },
  });
  const box = new BoxGeometry();
  const swords = crowd.attachToJoint('RightHand', box, new MeshStandardMaterial());
  swords.frustumCulled = false;
  scene.add(crowd);
  frame();
  for (let i = 0; i < 5; i++) expect(frame(1 / 60)).toMatchObject({ uploads: 0, draws: 2 });

  // two texels an instance, which the swords share
  crowd.setUniformAt(4000, 'dirt', 0.5);
  expect(frame()).toMatchObject({ uploads: 1, bytes: 2 * 16 });
  crowd.setUniformAt({ start: 100, count: 20 }, 'dirt', 0.5);
  expect(frame()).toMatchObject({ uploads: 1, bytes: 20 * 2 * 16 });
  crowd.setUniformAt(crowd.all, 'at', new Vector4(0, 0, 0, 0));
  expect(frame(), 'the same as before').toMatchObject({ uploads: 0 });
  // one of the swords' own, of as many texels
  swords.setEmissiveAt(7, new Color(1, 0, 0));
  frame();
  swords.setEmissiveAt(7, new Color(0, 1, 0));
  expect(frame()).toMatchObject({ uploads: 1, bytes: 2 * 16 });
  renderer.dispose();
});
