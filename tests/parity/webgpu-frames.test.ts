import {
  InstanceUniforms,
  skinnedInstanceNormal,
  skinnedInstancePosition,
} from 'skinned-instanced-mesh/webgpu';
import {
  Color,
  FloatType,
  Matrix4,
  MeshBasicMaterial,
  NearestFilter,
  PerspectiveCamera,
  Scene,
  WebGLRenderer,
} from 'three';
import { mrt, output, velocity } from 'three/tsl';
import { MeshStandardNodeMaterial, RenderTarget, WebGPURenderer } from 'three/webgpu';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { countCalls } from '../../demos/lib/countCalls.js';
import { backendOf, backends } from '../../lib/backends/Backend.js';
import { captureGeometry } from '../support/capture.js';
import { captureNodeMaterial, captureNodes } from '../support/captureNodes.js';
import { createCoarseCharacter } from '../support/coarseCharacter.js';
import { nextFrame } from '../support/frames.js';
import { bakeCharacter, encodingOf, SkinnedInstancedMesh } from '../support/library.js';
import { type Problems, watchProblems } from '../support/problems.js';
import { Reference } from '../support/reference.js';
import { createStick } from '../support/stick.js';
import { THOROUGH } from '../support/thorough.js';
import { uniformsOf } from '../support/uniformsOf.js';

const SIZE = 128;

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

  test.each(['frames', 'tracks'] as const)(
    'encoding %s: motion vectors are those of a SkinnedMesh under the same motion, and zero when paused',
    async (encoding) => {
      const target = new RenderTarget(SIZE, SIZE, {
        count: 2,
        type: FloatType,
        minFilter: NearestFilter,
        magFilter: NearestFilter,
      });
      target.textures[0].name = 'output';
      target.textures[1].name = 'velocity';
      renderer.setMRT(mrt({ output, velocity }));
      const camera = new PerspectiveCamera(40, 1, 0.1, 20);
      camera.position.set(0, 1, 3.5);

      const { root, clips } = createCoarseCharacter();
      const walk = clips.findIndex(({ name }) => name === 'Walk');
      const scenes = [new Scene(), new Scene()];
      const reference = new Reference(root);
      const crowd = new SkinnedInstancedMesh(
        bakeCharacter(root, clips, { encoding: encodingOf(encoding) }),
        2,
      );
      crowd.setMatrixAt(1, new Matrix4().makeTranslation(50, 0, 0));
      crowd.material = new MeshBasicMaterial();
      for (const mesh of reference.meshes) mesh.material = new MeshBasicMaterial();
      scenes[0].add(reference.root);
      scenes[1].add(crowd);
      crowd.play(0, walk);

      const vectors = async (scene: Scene) => {
        renderer.setRenderTarget(target);
        renderer.render(scene, camera);
        const pixels = await renderer.readRenderTargetPixelsAsync(target, 0, 0, SIZE, SIZE, 1);
        renderer.setRenderTarget(null);
        return (pixels as Float32Array).slice();
      };
      const largest = (a: Float32Array, b?: Float32Array) => {
        let most = 0;
        for (let i = 0; i < a.length; i++)
          if (i % 4 < 2) most = Math.max(most, Math.abs(a[i] - (b ? b[i] : 0)));
        return most;
      };
      const frameTime = walkFrame(crowd, walk);
      // Motion vectors look from one frame to the one before.
      const step = async (frames: number, updates: number) => {
        await nextFrame();
        for (let i = 0; i < updates; i++) crowd.update((frames * frameTime) / updates);
        now += frames;
        reference.pose(clips[walk], now * frameTime);
        return [await vectors(scenes[0]), await vectors(scenes[1])];
      };
      let now = 0;
      reference.pose(clips[walk], 0);
      await vectors(scenes[0]);
      await vectors(scenes[1]);

      for (let k = 0; k < 3; k++) {
        const [expected, drawn] = await step(1, 1);
        expect(largest(expected), 'the reference moves').toBeGreaterThan(0.01);
        expect(largest(expected, drawn)).toBeLessThan(1e-4);
      }
      const [expected, drawn] = await step(2, 2);
      expect(largest(expected, drawn), 'two updates before one frame').toBeLessThan(1e-4);
      await nextFrame();
      expect(largest(await vectors(scenes[1])), 'not updated').toBeLessThan(1e-6);

      // across the clock's return to zero
      await nextFrame();
      crowd.update(15.9 - crowd.clock);
      await vectors(scenes[1]);
      await nextFrame();
      crowd.update(0.05);
      const before = largest(await vectors(scenes[1]));
      await nextFrame();
      crowd.update(0.06);
      const across = largest(await vectors(scenes[1]));
      expect(crowd.clock).toBeLessThan(1);
      expect(across).toBeLessThan(before * 4 + 0.02);
      renderer.setMRT(null);
      target.dispose();
    },
  );

  test('building blocks give the posed position and normal in nodes of the user', async () => {
    const { root, clips } = createStick();
    const crowd = new SkinnedInstancedMesh(bakeCharacter(root, clips), 1);
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

/** Seconds between two baked frames of a clip. */
function walkFrame(crowd: SkinnedInstancedMesh, clip: number): number {
  return 1 / crowd.boneTexture.clips[clip].fps;
}

test.each([
  [500, 'frames'],
  [MANY, 'frames'],
  [MANY, 'tracks'],
] as const)(
  '%i instances of encoding %s write a steady frame’s parameters and nothing else',
  async (count, encoding) => {
    const renderer = new WebGPURenderer();
    await renderer.init();
    const writes = countCalls((renderer.backend as unknown as { device: GPUDevice }).device);
    const { root, clips } = createCoarseCharacter();
    const crowd = new SkinnedInstancedMesh(
      bakeCharacter(root, clips, { encoding: encodingOf(encoding) }),
      count,
    );
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

    // One layer of the texture of what instances play: of 128 with a header and four clips each.
    crowd.play(count - 1, 0);
    const layer = 128 * (16 + 4 * 48);
    expect((await frame()).bytes - steady.bytes).toBe(layer);
    crowd.play(0, 1, { fade: 1 });
    await frame();
    crowd.play(0, 0, { fade: 1 });
    expect((await frame()).bytes - steady.bytes).toBe(layer);
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
  },
);

test('one crowd drawn by two renderers', async () => {
  const { root, clips } = createStick();
  const crowd = new SkinnedInstancedMesh(bakeCharacter(root, clips), 1);
  crowd.geometry = captureGeometry(crowd.geometry);
  crowd.material = captureNodeMaterial(3);
  for (const forceWebGL of [false, true]) {
    const renderer = new WebGPURenderer({ forceWebGL });
    await renderer.init();
    for (const time of [0.25, 0.75]) {
      crowd.play(0, 'Slide', { time });
      const drawn = await captureNodes(renderer, crowd, 3, 1);
      expect(drawn[0]).toBeCloseTo(time + 5, 4);
    }
    renderer.dispose();
  }
});

test('WebGLRenderer says that it cannot draw a crowd in node materials', () => {
  const { root, clips } = createStick();
  const crowd = new SkinnedInstancedMesh(bakeCharacter(root, clips), 1);
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
  error.mockRestore();
  renderer.dispose();
});
