import type { BufferGeometry, Object3D } from 'three';
import { isSameOrder } from '../character/positionSums.js';
import { drawnMeshes } from './VertexSampler.js';
import type { VertexTextureData } from './VertexTextureData.js';

/** See `VertexBinding.findMoved`. */
export function findMoved(
  object: Object3D,
  { parts }: VertexTextureData,
  sumsOf: (geometry: BufferGeometry) => readonly number[],
  caller: string,
): string | null {
  const meshes = drawnMeshes(object, caller);
  if (meshes.length !== parts.length) return null;
  for (const [i, { geometry, name }] of meshes.entries()) {
    const { vertices, positions } = parts[i];
    if (geometry.getAttribute('position').count !== vertices) return null;
    if (positions === undefined || isSameOrder(positions, sumsOf(geometry))) continue;
    return `vertices of mesh "${name}" are not where they were, or stand in another order`;
  }
  return null;
}
