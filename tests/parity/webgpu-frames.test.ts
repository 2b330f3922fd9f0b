import { skinnedInstanceNormal, skinnedInstancePosition } from 'skinned-instanced-mesh/webgpu';
import {
  BoxGeometry,
  Color,
  Float32BufferAttribute,
  FloatType,
  Group,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  MeshStandardMaterial,
  NearestFilter,
  PerspectiveCamera,
  Scene,
  type SkinnedMesh,
  Vector3,
  WebGLRenderer,
} from 'three';
import { mrt, output, positionLocal, varying, velocity } from 'three/tsl';
import { MeshBasicNodeMaterial, MeshStandardNodeMaterial, RenderTarget, WebGPURenderer } from 'three/webgpu';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { countCalls } from '../../demos/lib/countCalls.js';
import { backendOf } from '../../lib/backends/backendOf.js';
import { captureGeometry } from '../support/capture.js';
import { captureNodeMaterial, captureNodes } from '../support/captureNodes.js';
import { createCoarseCharacter } from '../support/coarseCharacter.js';
import { nextFrame } from '../support/frames.js';
import { SkinnedInstancedMesh } from '../support/library.js';
import { type Problems, watchProblems } from '../support/problems.js';
import { Reference } from '../support/reference.js';
import { createStick } from '../support/stick.js';
import { THOROUGH } from '../support/thorough.js';

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

  test.each(['quaternion', 'tracks'] as const)(
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
      const crowd = SkinnedInstancedMesh.from(root, clips, 2, { encoding });
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

  test('compileAsync, then a first frame', async () => {
    const { root, clips } = createCoarseCharacter();
    const scene = new Scene();
    scene.add(SkinnedInstancedMesh.from(root, clips, 3).play(0, 0));
    const camera = new PerspectiveCamera(40, 1);
    camera.position.z = 4;
    await renderer.compileAsync(scene, camera);
    renderer.render(scene, camera);
    expect(renderer.info.render.drawCalls).toBeGreaterThan(0);
  });

  test.each([2, 2000])(
    '%i instances of geometry with every attribute stay within the vertex buffers',
    async (count) => {
      const { root, clips } = createCoarseCharacter();
      const { geometry } = root.getObjectByProperty('isSkinnedMesh', true) as SkinnedMesh;
      geometry.computeTangents();
      geometry.setAttribute('uv1', geometry.getAttribute('uv').clone());
      const crowd = SkinnedInstancedMesh.from(root, clips, count);
      // reads all of them: normal, tangent, uv, uv1, colour
      const material = new MeshStandardMaterial({ vertexColors: true });
      material.normalMap = await texture();
      material.aoMap = await texture();
      material.aoMap.channel = 1;
      crowd.material = material;
      crowd.frustumCulled = false;
      if (count > 2) crowd.geometry.setDrawRange(0, 30);
      const scene = new Scene();
      scene.add(crowd);
      renderer.render(scene, new PerspectiveCamera());
      await nextFrame();
      expect(problems()).toEqual([]);
    },
  );

  test('building blocks give the posed position and normal in nodes of the user', async () => {
    const { root, clips } = createStick();
    const crowd = SkinnedInstancedMesh.from(root, clips, 1);
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

  test('a node that reads positionLocal sees the placed instance, on a crowd and on plain meshes alike', async () => {
    const material = new MeshBasicNodeMaterial();
    material.colorNode = varying(positionLocal).normalize();
    const { root, clips } = createStick();
    const scene = new Scene();
    const crowd = SkinnedInstancedMesh.from(root, clips, 1);
    crowd.material = material;
    scene.add(crowd, new Mesh(new BoxGeometry(), material), new Group());
    renderer.render(scene, new PerspectiveCamera());
    expect(problems()).toEqual([]);
  });

  test('morph targets', async () => {
    const { root, mesh, clips } = createStick();
    mesh.geometry.morphAttributes.position = [new Float32BufferAttribute([0, 2, 0, 0, 2, 0, 0, 2, 0], 3)];
    mesh.geometry.morphTargetsRelative = true;
    mesh.updateMorphTargets();
    const crowd = SkinnedInstancedMesh.from(root, clips, 1);
    (mesh.morphTargetInfluences as number[])[0] = 0.5;
    crowd.setMorphAt(0, mesh);
    crowd.geometry = captureGeometry(crowd.geometry);
    crowd.play(0, 'Slide', { time: 0.5 });
    crowd.material = captureNodeMaterial(3);
    const drawn = await captureNodes(renderer, crowd, 3, 1);
    const twin = crowd.getVertexPositionAt(0, 0, new Vector3());
    expect(twin.y).toBeCloseTo(1, 5);
    expect(new Vector3().fromArray(drawn).distanceTo(twin)).toBeLessThan(1e-5);
  });
});

/** Seconds between two baked frames of a clip. */
function walkFrame(crowd: SkinnedInstancedMesh, clip: number): number {
  return 1 / crowd.boneTexture.clips[clip].fps;
}

async function texture() {
  const { bumps } = await import('../support/textures.js');
  return bumps();
}

test.each([
  [500, 'quaternion'],
  [MANY, 'quaternion'],
  [MANY, 'tracks'],
] as const)(
  '%i instances of encoding %s write a steady frame’s parameters and nothing else',
  async (count, encoding) => {
    const renderer = new WebGPURenderer();
    await renderer.init();
    const writes = countCalls((renderer.backend as unknown as { device: GPUDevice }).device);
    const { root, clips } = createCoarseCharacter();
    const uniforms = { emissive: 'color' } as const;
    const crowd = SkinnedInstancedMesh.from(root, clips, count, { encoding, uniforms });
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

    // One layer of the texture of what instances play: of 256 with a clip each, or of 128 with a header and four clips each.
    crowd.play(count - 1, 0);
    const layer = encoding === 'tracks' ? 128 * (16 + 4 * 48) : 256 * 32;
    expect((await frame()).bytes - steady.bytes).toBe(layer);
    crowd.play(0, 1, { fade: 1 });
    await frame();
    crowd.play(0, 0, { fade: 1 });
    const fades = encoding === 'tracks' ? 0 : 256 * 64;
    expect((await frame()).bytes - steady.bytes).toBe(layer + fades);
    expect(await frame()).toEqual(steady);

    // One layer of what instances have of their own, a texel each; nothing for what they have already.
    const glow = new Color(0.5, 0, 0);
    crowd.setEmissiveAt(count - 1, glow).setEmissiveAt({ start: count - 10, count: 9 }, glow);
    expect((await frame()).bytes - steady.bytes).toBe(256 * 16);
    crowd.setEmissiveAt(count - 1, glow);
    expect(await frame()).toEqual(steady);
    renderer.dispose();
  },
);

test('one crowd drawn by two renderers', async () => {
  const { root, clips } = createStick();
  const crowd = SkinnedInstancedMesh.from(root, clips, 1);
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
  const crowd = SkinnedInstancedMesh.from(root, clips, 1);
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

test('without the ./webgpu entry WebGPURenderer says what to import', async () => {
  vi.resetModules();
  const fresh = await import('../../lib/backends/backendOf.js?fresh' as string);
  expect(() => (fresh as { backendOf: typeof backendOf }).backendOf({})).toThrow(
    "import { SkinnedInstancedMesh } from 'skinned-instanced-mesh/webgpu'",
  );
  expect(backendOf({})).toBeTruthy();
});

test('a lost device leaves no endless errors behind', async () => {
  const renderer = new WebGPURenderer();
  await renderer.init();
  const lost = vi.fn();
  renderer.onDeviceLost = lost;
  const { root, clips } = createStick();
  const scene = new Scene();
  scene.add(SkinnedInstancedMesh.from(root, clips, 1));
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
