import { defineMotion } from 'skinned-instanced-mesh';
import {
  BoxGeometry,
  FloatType,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  NearestFilter,
  type Object3D,
  PerspectiveCamera,
  Scene,
} from 'three';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createNodeRenderer, TWINS } from '../support/captures.js';
import { createCoarseCharacter } from '../support/coarseCharacter.js';
import { drawInNewFrame } from '../support/frames.js';
import { bakeCharacter, frames, JointAttachment, SkinnedInstancedMesh } from '../support/library.js';
import { bladeRoot } from '../support/meadow.js';
import { moveBy } from '../support/moveBy.js';
import { Reference } from '../support/reference.js';
import { createStick, createStickCrowd } from '../support/stick.js';

const SIZE = 64;
const ENCODINGS = [
  ['frames', { encoding: frames }],
  ['tracks', {}],
] as const;
/** How far apart motion vectors may be, in the half widths of the picture that they are given in. */
const BOUND = 1e-4;

const at = (x: number, y = 0) => new Matrix4().makeTranslation(x, y, 0);

/** Rises by `speed` units a second. */
const rise = defineMotion({
  name: 'rise',
  uniforms: { speed: 1 },
  maxOffset: 4,
  glsl: 'position.y += speed * time;',
  tsl: ({ position, time, uniforms, vec3 }) => position.add(vec3(0, time.mul(uniforms.speed), 0)),
});

/** The largest part of motion vectors, or of how far they are from others. */
function largest(vectors: Float32Array, others?: Float32Array): number {
  let most = 0;
  for (let i = 0; i < vectors.length; i++) {
    if (i % 4 < 2) most = Math.max(most, Math.abs(vectors[i] - (others?.[i] ?? 0)));
  }
  return most;
}

function sceneOf(...objects: Object3D[]): Scene {
  for (const object of objects) {
    object.traverse((node) => (node.frustumCulled = false));
  }
  return new Scene().add(...objects);
}

function move(crowd: SkinnedInstancedMesh, index: number, matrix: Matrix4): void {
  crowd.setMatrixAt(index, matrix);
  crowd.instanceMatrix.addUpdateRange(index * 16, 16);
  crowd.instanceMatrix.needsUpdate = true;
}

describe.each(TWINS.filter((twin) => twin !== 'GLSL'))('%s', (twin) => {
  /** Draws a scene in a frame of its own, and returns its motion vectors: they look from one frame of the browser to the one before. */
  let draw: (scene: Scene) => Promise<Float32Array>;
  let dispose: () => void;
  // Anew for each test: one that was moved has come from somewhere.
  let camera: PerspectiveCamera;
  beforeEach(() => {
    camera = new PerspectiveCamera(60, 1, 0.1, 20);
    camera.position.set(0.5, 0.5, 6);
  });

  beforeAll(async () => {
    await import('skinned-instanced-mesh/webgpu');
    const { RenderTarget } = await import('three/webgpu');
    const { mrt, output, velocity } = await import('three/tsl');
    const renderer = await createNodeRenderer(twin as 'TSL on WebGPU');
    const target = new RenderTarget(SIZE, SIZE, {
      count: 2,
      type: FloatType,
      minFilter: NearestFilter,
      magFilter: NearestFilter,
    });
    target.textures[0].name = 'output';
    target.textures[1].name = 'velocity';
    renderer.setMRT(mrt({ output, velocity }));
    draw = async (scene) => {
      await drawInNewFrame(renderer, () => {
        renderer.setRenderTarget(target);
        renderer.render(scene, camera);
      });
      const pixels = await renderer.readRenderTargetPixelsAsync(target, 0, 0, SIZE, SIZE, 1);
      renderer.setRenderTarget(null);
      return (pixels as Float32Array).slice();
    };
    dispose = () => renderer.dispose();
  });
  afterAll(() => dispose());

  test.each(ENCODINGS)('%s: a crowd has those of a SkinnedMesh, zero when paused', async (_, options) => {
    const { root, clips } = createCoarseCharacter();
    const walk = clips.findIndex(({ name }) => name === 'Walk');
    const reference = new Reference(root);
    const character = bakeCharacter(root, clips, options);
    const crowd = new SkinnedInstancedMesh(character, 2);
    crowd.setMatrixAt(1, at(50)).play(0, walk);
    crowd.material = new MeshBasicMaterial();
    for (const mesh of reference.meshes) mesh.material = new MeshBasicMaterial();
    const [theirs, ours] = [sceneOf(reference.root), sceneOf(crowd)];
    camera.position.set(0, 1, 2.2);
    const frameTime = 1 / crowd.boneTexture.clips[walk].fps;
    let now = 0;
    const step = async (frames: number, updates: number) => {
      for (let i = 0; i < updates; i++) crowd.update((frames * frameTime) / updates);
      now += frames;
      reference.pose(clips[walk], now * frameTime);
      return [await draw(theirs), await draw(ours)];
    };
    await step(0, 1);

    for (let k = 0; k < 3; k++) {
      const [expected, drawn] = await step(1, 1);
      expect(largest(expected), 'the reference moves').toBeGreaterThan(0.01);
      expect(largest(expected, drawn)).toBeLessThan(BOUND);
    }
    const [expected, drawn] = await step(2, 2);
    expect(largest(expected, drawn), 'two updates before one frame').toBeLessThan(BOUND);
    expect(largest(await draw(ours)), 'not updated').toBeLessThan(1e-6);

    // across the clock's return to zero
    crowd.update(15.9 - crowd.clock);
    await draw(ours);
    crowd.update(0.05);
    const before = largest(await draw(ours));
    crowd.update(0.06);
    const across = largest(await draw(ours));
    expect(crowd.clock).toBeLessThan(1);
    expect(across).toBeLessThan(before * 4 + 0.02);
    crowd.dispose();
  });

  test('of a crowd that is moved by code they have the way since the frame before, by the clock and by the uniforms of then', async () => {
    const material = new MeshBasicMaterial({ side: 2 });
    const [blade] = bladeRoot().children as Mesh[];
    const still = new Mesh(blade.geometry, material);
    const crowd = new SkinnedInstancedMesh(bakeCharacter(bladeRoot(), []), 1);
    crowd.material = material;
    const place = new Matrix4().makeScale(5, 1, 5);
    crowd.setMatrixAt(0, place);
    const rising = rise();
    moveBy(crowd, rising);
    still.matrixAutoUpdate = false;
    const [theirs, ours] = [sceneOf(still), sceneOf(crowd)];

    let before = 0;
    let most = 0;
    for (const [frame, height] of [0, 0.2, 0.5, 0.5].entries()) {
      still.matrix.makeTranslation(0, height, 0).multiply(place);
      still.matrixWorldNeedsUpdate = true;
      // The last way is made by a uniform: the clock goes on to 1, at half the speed.
      crowd.update(frame === 3 ? 1 - before : height - before);
      before = height;
      if (frame === 3) rising.uniforms.speed.value = 0.5;
      const expected = await draw(theirs);
      const vectors = await draw(ours);
      expect(largest(expected, vectors)).toBeLessThan(BOUND);
      most = Math.max(most, largest(vectors));
    }
    expect(most).toBeGreaterThan(0.03);
    crowd.dispose();
  });

  test.each(ENCODINGS)('%s: crowds and clones of one material move by themselves', async (_, options) => {
    const { root, mesh, clips } = createStick();
    const material = new MeshBasicMaterial();
    const starts = [at(-1.5), at(1), at(0, 1.5), at(2, -1)];
    const ends = [at(-1.2), at(1, -0.2), at(0, 1.5), at(2.1, -0.9)];
    // Unskinned: three.js counts the way of a SkinnedMesh's root twice.
    const references = starts.map((matrix) => {
      const reference = new Mesh(mesh.geometry, material);
      reference.matrixAutoUpdate = false;
      reference.matrix.copy(matrix);
      return reference;
    });
    const crowds = starts
      .slice(0, 2)
      .map(() => new SkinnedInstancedMesh(bakeCharacter(root, clips, options), 1));
    crowds.forEach((crowd, i) => {
      crowd.material = material;
      crowd.setMatrixAt(0, starts[i]);
    });
    crowds.push(crowds[0].clone());
    crowds[2].setMatrixAt(0, starts[2]);
    const scenes = [sceneOf(...references), sceneOf(...crowds)];
    await draw(scenes[0]);
    await draw(scenes[1]);

    const late = new SkinnedInstancedMesh(bakeCharacter(root, clips, options), 1);
    late.material = material;
    late.setMatrixAt(0, starts[3]);
    late.frustumCulled = false;
    crowds.push(late);
    scenes[1].add(late);
    await draw(scenes[0]);
    await draw(scenes[1]);
    expect(largest(await draw(scenes[1])), 'nothing moves').toBeLessThan(1e-6);

    ends.forEach((matrix, i) => {
      references[i].matrix.copy(matrix);
      references[i].matrixWorldNeedsUpdate = true;
      move(crowds[i], 0, matrix);
    });
    const expected = await draw(scenes[0]);
    const drawn = await draw(scenes[1]);
    const moved = new Set<string>();
    for (let i = 0; i < expected.length; i += 4) {
      moved.add(`${Math.round(expected[i] * 1e3)} ${Math.round(expected[i + 1] * 1e3)}`);
    }
    expect(moved.size, 'three ways, and what does not move').toBe(4);
    expect(largest(expected, drawn)).toBeLessThan(BOUND);
    expect(largest(await draw(scenes[1])), 'nothing moves any more').toBeLessThan(1e-6);
    for (const crowd of crowds) crowd.dispose();
  });

  test.each(ENCODINGS)('%s: exchanged instances have not moved, nor have attachments', async (_, options) => {
    const crowd = createStickCrowd(2, undefined, options);
    const box = new JointAttachment(crowd, 'Base', new BoxGeometry(0.5, 0.5, 0.5), new MeshBasicMaterial());
    crowd.setMatrixAt(0, at(-1.5));
    crowd.setMatrixAt(1, at(1, 1));
    const scene = sceneOf(crowd);
    await draw(scene);
    await draw(scene);
    crowd.swapInstances(0, 1);
    expect(largest(await draw(scene))).toBeLessThan(1e-6);
    expect(largest(await draw(scene))).toBeLessThan(1e-6);
    expect(box.instanceMatrix).toBe(crowd.instanceMatrix);

    crowd.setCapacity(8);
    expect(largest(await draw(scene)), 'room for more').toBeLessThan(1e-6);
    move(crowd, 0, at(1.2, 1));
    expect(largest(await draw(scene))).toBeGreaterThan(0.01);
    crowd.dispose();
  });

  test.each(ENCODINGS)(
    '%s: an instance of an old id has not come from where that was',
    async (_, options) => {
      const crowd = createStickCrowd(2, undefined, options);
      crowd.setMatrixAt(0, at(-6)).setMatrixAt(1, at(-5, 1));
      for (const i of [0, 1]) crowd.play(i, 'Slide', { time: 0.1 });
      const scene = sceneOf(crowd);
      await draw(scene);
      expect(largest(await draw(scene))).toBeLessThan(1e-6);
      crowd.deleteInstance(1);
      expect(crowd.addInstance()).toBe(1);
      crowd.setMatrixAt(1, at(-5.4, 1)).play(1, 'Slide', { time: 0.9, timeScale: 0 });
      crowd.instanceMatrix.needsUpdate = true;
      expect(largest(await draw(scene)), 'in its first frame').toBeLessThan(1e-6);
      expect(largest(await draw(scene)), 'and after it').toBeLessThan(1e-6);
      move(crowd, 1, at(-5.1, 1));
      expect(largest(await draw(scene))).toBeGreaterThan(0.01);
      crowd.dispose();
    },
  );
});
