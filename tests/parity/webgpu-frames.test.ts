import {
  InstanceUniforms,
  skinnedInstanceNormal,
  skinnedInstancePosition,
} from 'skinned-instanced-mesh/webgpu';
import { Color, Matrix4, PerspectiveCamera, Scene, WebGLRenderer } from 'three';
import { MeshStandardNodeMaterial, WebGPURenderer } from 'three/webgpu';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { countCalls } from '../../demos/lib/countCalls.js';
import { backendOf, backends } from '../../lib/core/Backend.js';
import { captureGeometry } from '../support/capture.js';
import { captureNodeMaterial, captureNodes } from '../support/captureNodes.js';
import { createCoarseCharacter } from '../support/coarseCharacter.js';
import { uniformsOf } from '../support/features.js';
import { nextFrame } from '../support/frames.js';
import { bakeCharacter, encodingOf, SkinnedInstancedMesh } from '../support/library.js';
import { type Problems, watchProblems } from '../support/problems.js';
import { createStick, createStickCrowd } from '../support/stick.js';
import { THOROUGH } from '../support/thorough.js';

/** A software renderer takes seconds to draw a few frames of ten thousand. */
const MANY = THOROUGH ? 10_000 : 2_000;

describe.each(['WebGPU', 'WebGL 2'])('WebGPURenderer on %s', (backend) => {
  let renderer: WebGPURenderer;
  let problems: Problems;
  beforeAll(async () => {
    renderer = new WebGPURenderer({ forceWebGL: backend === 'WebGL 2' });
    await renderer.init();
  });
  beforeEach(() => {
    problems = watchProblems(renderer);
  });
  // No test of these may leave an error behind, whatever else it looks at.
  afterEach(async () => {
    await nextFrame();
    const left = problems();
    problems.stop();
    expect(left).toEqual([]);
  });
  afterAll(() => renderer.dispose());

  test('building blocks give the posed position and normal in nodes of the user', async () => {
    const crowd = createStickCrowd(1);
    crowd.setMatrixAt(0, new Matrix4().makeTranslation(0, 100, 0));
    crowd.geometry = captureGeometry(crowd.geometry);
    crowd.play(0, 'Slide', { time: 0.5 });
    crowd.material = captureNodeMaterial(3, skinnedInstancePosition());
    const position = await captureNodes(renderer, crowd, 3, 1);
    expect([...position.slice(0, 3)]).toEqual([
      expect.closeTo(5.5, 4),
      expect.closeTo(0, 4),
      expect.closeTo(0, 4),
    ]);
    crowd.material = captureNodeMaterial(3, skinnedInstanceNormal());
    const normal = await captureNodes(renderer, crowd, 3, 1);
    expect([...normal.slice(0, 3)]).toEqual([0, 0, 1].map((value) => expect.closeTo(value, 4)));
  });
});

test.each([
  [500, 'frames'],
  [MANY, 'frames'],
  [MANY, 'tracks'],
] as const)('%i instances of %s write a steady frame’s parameters, nothing else', async (count, encoding) => {
  const renderer = new WebGPURenderer();
  await renderer.init();
  const writes = countCalls((renderer.backend as unknown as { device: GPUDevice }).device);
  const { root, clips } = createCoarseCharacter();
  const character = bakeCharacter(root, clips, { encoding: encodingOf(encoding) });
  const crowd = new SkinnedInstancedMesh(character, count);
  new InstanceUniforms(crowd, { emissive: 'color' });
  crowd.frustumCulled = false;
  crowd.geometry.setDrawRange(0, 3);
  for (let i = 0; i < count; i++) crowd.setColorAt(i, new Color(0.5, 0.5, 0.5)).play(i, i % clips.length);
  const scene = new Scene();
  scene.add(crowd);
  const frame = async () => {
    await nextFrame();
    writes.reset();
    crowd.update(1 / 60);
    renderer.render(scene, new PerspectiveCamera());
    return { uploads: writes.uploads, bytes: writes.bytes };
  };
  for (let i = 0; i < 3; i++) await frame();
  const steady = await frame();
  console.log(
    `${count} instances of encoding ${encoding}: ${steady.uploads} writes of ${steady.bytes} bytes in a steady frame`,
  );
  // camera and object uniforms; far below one float per instance
  expect(steady.bytes).toBeLessThan(1024);

  // One layer of the texture of what instances play: of 128 with a header and a clip each.
  crowd.play(count - 1, 0);
  const layer = 128 * (16 + 48);
  expect((await frame()).bytes - steady.bytes).toBe(layer);
  crowd.play(0, 1, { fade: 1 });
  // All once there is room for a second one.
  await frame();
  crowd.play(count - 1, 1, { fade: 1 });
  expect((await frame()).bytes - steady.bytes).toBe(layer + 128 * 48);
  expect(await frame()).toEqual(steady);

  // One layer of what instances have of their own, a texel each; nothing for what they have already.
  const glow = new Color(0.5, 0, 0);
  uniformsOf(crowd)
    .setAt(count - 1, 'emissive', glow)
    .setAt({ start: count - 10, count: 9 }, 'emissive', glow);
  expect((await frame()).bytes - steady.bytes).toBe(256 * 16);
  uniformsOf(crowd).setAt(count - 1, 'emissive', glow);
  expect(await frame()).toEqual(steady);
  renderer.dispose();
});

test('WebGLRenderer says that it cannot draw a crowd in node materials', () => {
  const crowd = createStickCrowd(1);
  crowd.material = new MeshStandardNodeMaterial();
  crowd.frustumCulled = false;
  const renderer = new WebGLRenderer();
  const scene = new Scene();
  scene.add(crowd);
  expect(() => renderer.render(scene, new PerspectiveCamera())).toThrow(
    'WebGLRenderer cannot pose a crowd in a node material',
  );
  renderer.dispose();
});

test('without its entry a renderer says what to import', () => {
  const all = backends.splice(0);
  expect(() => backendOf({})).toThrow("import from there instead of 'skinned-instanced-mesh'");
  expect(() => backendOf({ isWebGLRenderer: true })).toThrow("entry 'skinned-instanced-mesh'");
  backends.push(...all);
});

test('a lost device leaves no endless errors behind', async () => {
  const renderer = new WebGPURenderer();
  await renderer.init();
  const lost = vi.fn();
  renderer.onDeviceLost = lost;
  const { root, clips } = createStick();
  const scene = new Scene();
  scene.add(new SkinnedInstancedMesh(bakeCharacter(root, clips), 1));
  renderer.render(scene, new PerspectiveCamera());
  const { device } = renderer.backend as unknown as { device: GPUDevice };
  device.destroy();
  await device.lost;
  const error = vi.spyOn(console, 'error').mockImplementation(() => {});
  for (let i = 0; i < 5; i++) renderer.render(scene, new PerspectiveCamera());
  await nextFrame();
  expect(error.mock.calls.length).toBeLessThanOrEqual(1);
  renderer.dispose();
});
