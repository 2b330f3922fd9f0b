import { SkinnedInstancedMesh } from 'skinned-instanced-mesh/webgpu';
import { Matrix4, type Mesh, PerspectiveCamera, Scene, type WebGLRenderer } from 'three';
import { expect, test } from 'vitest';
import { createCharacter } from '../../../demos/character.js';
import { objectsMadeIn } from '../../support/allocations.js';

const COUNT = 200;
const FRAMES = 20;
/** Most rounds of so many frames: the first that stays below the bound is the last, since V8 keeps notes on code that it has just met. */
const ROUNDS = 8;
/** Objects a frame, of all meshes together: less than one in each draw of the levels. Some of V8's notes are left. */
const BOUND = 5;

/** So much of a WebGPURenderer as crowds ask for; it computes nothing. */
function createRenderer() {
  const limits = {
    maxStorageBuffersPerShaderStage: 8,
    maxComputeInvocationsPerWorkgroup: 256,
    maxStorageBufferBindingSize: 2 ** 27,
    maxBufferSize: 2 ** 28,
    maxTextureDimension2D: 8192,
    maxTextureArrayLayers: 256,
    maxVertexBuffers: 8,
    maxVertexAttributes: 16,
  };
  const computed: unknown[] = [];
  const renderer = {
    isWebGPURenderer: true,
    backend: { isWebGPUBackend: true, device: { limits } },
    info: { frame: 0 },
    library: { getMaterialNodeClass: () => Object },
    compute(steps: unknown) {
      computed[0] = steps;
    },
  };
  return { renderer, computed };
}

test.each([1, 3])('draws of %i levels of detail make no objects under WebGPURenderer', async (levels) => {
  const { root, clips } = createCharacter({ detail: 0.2 });
  const crowd = SkinnedInstancedMesh.from(root, clips, COUNT, { encoding: 'tracks' });
  const matrix = new Matrix4();
  for (let i = 0; i < COUNT; i++) {
    crowd.setMatrixAt(i, matrix.makeTranslation((i % 20) * 2 - 20, 0, -2 * Math.floor(i / 20)));
    crowd.play(i, i % clips.length, { time: i / 10 });
  }
  for (let level = 1; level < levels; level++)
    crowd.addLevel(createCharacter({ detail: 0.1 }).root, 8 * level);
  const scene = new Scene().add(crowd);
  const meshes: SkinnedInstancedMesh[] = [];
  scene.traverse((object) => {
    if ((object as Mesh).isMesh) meshes.push(object as SkinnedInstancedMesh);
  });
  expect(meshes).toHaveLength(levels);
  const { renderer, computed } = createRenderer();
  const target = renderer as unknown as WebGLRenderer;
  const eye = new PerspectiveCamera(60, 1.7, 0.1, 100);
  const run = () => {
    for (let i = 0; i < FRAMES; i++) {
      renderer.info.frame++;
      crowd.update(1 / 60);
      eye.rotation.y += 0.01;
      eye.updateMatrixWorld();
      scene.updateMatrixWorld();
      for (let k = 0; k < meshes.length; k++) {
        const { geometry, material } = meshes[k];
        if (Array.isArray(material)) throw new Error('several materials');
        meshes[k].onBeforeRender(target, scene, eye, geometry, material, null);
        meshes[k].onAfterRender();
      }
    }
  };
  // What is made once.
  for (let i = 0; i < 3; i++) run();
  expect(computed[0]).toHaveLength(6);
  let least = Infinity;
  let makers = '';
  for (let round = 0; round < ROUNDS && least > BOUND; round++) {
    const found = [...(await objectsMadeIn(run, '/lib/'))].sort((a, b) => b[1] - a[1]);
    const made = found.reduce((sum, [, count]) => sum + count, 0) / FRAMES;
    if (made > least) continue;
    least = made;
    makers = found.map(([name, count]) => `${(count / FRAMES).toFixed(1)} objects: ${name}`).join('\n');
  }
  expect(least, makers).toBeLessThan(BOUND);
  crowd.dispose();
});
