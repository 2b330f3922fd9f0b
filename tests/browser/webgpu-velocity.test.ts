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
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TWINS } from '../support/captures.js';
import { drawInNewFrame } from '../support/frames.js';
import { bakeCharacter, encodingOf, JointAttachment, SkinnedInstancedMesh } from '../support/library.js';
import { createStick } from '../support/stick.js';

const SIZE = 64;
/** How far apart motion vectors may be, in the half widths of the picture that they are given in. */
const BOUND = 1e-4;

const at = (x: number, y = 0) => new Matrix4().makeTranslation(x, y, 0);

const RUNS = TWINS.filter((twin) => twin !== 'GLSL').flatMap((twin) =>
  (['frames', 'tracks'] as const).map((encoding) => [twin, encoding] as const),
);

describe.each(RUNS)('%s, encoding %s', (twin, encoding) => {
  /** Draws a scene and returns its motion vectors; with `again`, draws it once before that is called, in the same frame. */
  let draw: (scene: Scene, again?: () => void) => Promise<Float32Array>;
  let dispose: () => void;

  beforeAll(async () => {
    await import('skinned-instanced-mesh/webgpu');
    const { RenderTarget, WebGPURenderer } = await import('three/webgpu');
    const { mrt, output, velocity } = await import('three/tsl');
    const renderer = new WebGPURenderer({ forceWebGL: twin === 'TSL on WebGL 2' });
    await renderer.init();
    const target = new RenderTarget(SIZE, SIZE, {
      count: 2,
      type: FloatType,
      minFilter: NearestFilter,
      magFilter: NearestFilter,
    });
    target.textures[0].name = 'output';
    target.textures[1].name = 'velocity';
    renderer.setMRT(mrt({ output, velocity }));
    const camera = new PerspectiveCamera(60, 1, 0.1, 20);
    camera.position.set(0.5, 0.5, 6);
    draw = async (scene, again) => {
      // Motion vectors look from one frame of the browser to the one before.
      await drawInNewFrame(renderer, () => {
        renderer.setRenderTarget(target);
        if (again !== undefined) {
          renderer.render(scene, camera);
          again();
        }
        renderer.render(scene, camera);
      });
      const pixels = await renderer.readRenderTargetPixelsAsync(target, 0, 0, SIZE, SIZE, 1);
      renderer.setRenderTarget(null);
      return (pixels as Float32Array).slice();
    };
    dispose = () => renderer.dispose();
  });
  afterAll(() => dispose());

  const largest = (vectors: Float32Array, others?: Float32Array) => {
    let most = 0;
    for (let i = 0; i < vectors.length; i++) {
      if (i % 4 < 2) most = Math.max(most, Math.abs(vectors[i] - (others?.[i] ?? 0)));
    }
    return most;
  };
  const sceneOf = (...objects: Object3D[]) => {
    const scene = new Scene();
    for (const object of objects) {
      object.traverse((node) => {
        node.frustumCulled = false;
      });
    }
    scene.add(...objects);
    return scene;
  };
  const move = (crowd: SkinnedInstancedMesh, index: number, matrix: Matrix4) => {
    crowd.setMatrixAt(index, matrix);
    crowd.instanceMatrix.needsUpdate = true;
  };

  test('two crowds, a clone and one that comes later, of one material, each move by themselves', async () => {
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
      .map(() => new SkinnedInstancedMesh(bakeCharacter(root, clips, { encoding: encodingOf(encoding) }), 1));
    crowds.forEach((crowd, i) => {
      crowd.material = material;
      crowd.setMatrixAt(0, starts[i]);
    });
    crowds.push(crowds[0].clone());
    crowds[2].setMatrixAt(0, starts[2]);
    const scenes = [sceneOf(...references), sceneOf(...crowds)];
    await draw(scenes[0]);
    await draw(scenes[1]);

    const late = new SkinnedInstancedMesh(bakeCharacter(root, clips, { encoding: encodingOf(encoding) }), 1);
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

  test('instances that were exchanged have not moved, and attachments neither', async () => {
    const { root, clips } = createStick();
    const crowd = new SkinnedInstancedMesh(bakeCharacter(root, clips, { encoding: encodingOf(encoding) }), 2);
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

  test('an instance with the id of one that is gone has not come from where that was', async () => {
    const { root, clips } = createStick();
    const crowd = new SkinnedInstancedMesh(bakeCharacter(root, clips, { encoding: encodingOf(encoding) }), 2);
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
  });
});
