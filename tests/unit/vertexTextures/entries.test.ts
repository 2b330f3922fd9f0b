import { BoxGeometry, Mesh, MeshStandardMaterial } from 'three';
import { expect, test, vi } from 'vitest';

const main = () => import('skinned-instanced-mesh');
const mainVertices = () => import('skinned-instanced-mesh/vertex-textures');

test.for([
  ['WebGPURenderer', main, () => import('skinned-instanced-mesh/vertex-textures/webgpu')],
  ['WebGLRenderer', () => import('skinned-instanced-mesh/webgpu'), mainVertices],
] as const)('a page may take vertex textures of %s and else the other entry', async ([, entry, vertices]) => {
  vi.resetModules();
  const { SkinnedInstancedMesh } = await entry();
  const { bakeVertexCharacter } = await vertices();
  const root = new Mesh(new BoxGeometry(), new MeshStandardMaterial());
  const character = bakeVertexCharacter(root, [{ name: 'Still', duration: 0, pose: () => {} }]);
  const crowd = new SkinnedInstancedMesh(character, 2);
  crowd.update(0.1);
  crowd.computeBoundingBox();
  expect(crowd.boundingBox?.max.x).toBeCloseTo(0.5, 4);
  crowd.dispose();
});
