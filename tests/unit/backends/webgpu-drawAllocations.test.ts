import { SkinnedInstancedMesh } from 'skinned-instanced-mesh/webgpu';
import { Matrix4, type Mesh, PerspectiveCamera, Scene, type WebGLRenderer } from 'three';
import { expect, test } from 'vitest';
import { createCharacter } from '../../../demos/character.js';
import { expectFewObjects } from '../../support/allocations.js';

const COUNT = 100;
const FRAMES = 20;
const WARM_UPS = 8;
const ROUNDS = 8;
/** In a frame each mesh is drawn for so many cameras. */
const CAMERAS = 6;
/** Of a frame, of all meshes together: less than one object for each camera. Some of V8's notes are left. */
const BOUNDS = { count: 5, bytes: 4000 };

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

/** What three.js does with meshes of a crowd for a camera. */
function draw(
  renderer: WebGLRenderer,
  scene: Scene,
  meshes: readonly SkinnedInstancedMesh[],
  eye: PerspectiveCamera,
): void {
  for (let i = 0; i < meshes.length; i++) {
    const { geometry, material } = meshes[i];
    if (Array.isArray(material)) throw new Error('several materials');
    meshes[i].onBeforeRender(renderer, scene, eye, geometry, material, null);
    meshes[i].onAfterRender();
  }
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
  const eyes = Array.from({ length: CAMERAS }, () => new PerspectiveCamera(60, 1.7, 0.1, 100));
  const run = () => {
    for (let i = 0; i < FRAMES; i++) {
      renderer.info.frame++;
      crowd.update(1 / 60);
      scene.updateMatrixWorld();
      for (let k = 0; k < CAMERAS; k++) {
        eyes[k].rotation.y += 0.01;
        eyes[k].updateMatrixWorld();
        draw(target, scene, meshes, eyes[k]);
      }
    }
  };
  // What is made once. More often than that needs: V8 compiles code meanwhile, which makes fewer numbers then, and so is measured sooner.
  for (let i = 0; i < WARM_UPS; i++) run();
  expect(computed[0]).toHaveLength(6);
  await expectFewObjects(run, FRAMES, ROUNDS, BOUNDS);
  crowd.dispose();
});
