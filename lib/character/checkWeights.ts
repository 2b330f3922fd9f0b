import type { BufferGeometry } from 'three';
import { drawnVertices } from '../utils/drawnVertices.js';

/**
 * Makes a check of the four skin weights of vertices of a geometry: false for those that are no weights, where no triangle needs them.
 *
 * @param what Names the geometry in messages.
 * @throws If they are no weights, and the vertex is drawn.
 */
export function weightCheck(
  geometry: BufferGeometry,
  what: string,
  caller: string,
): (weights: ArrayLike<number>, vertex: number) => boolean {
  let drawn: Uint8Array | null = null;
  return (weights, vertex) => {
    const sum = weights[0] + weights[1] + weights[2] + weights[3];
    const least = Math.min(weights[0], weights[1], weights[2], weights[3]);
    if (sum > 0 && sum < Infinity && least >= 0) return true;
    drawn ??= drawnVertices(geometry);
    if (drawn[vertex] === 0) return false;
    throw new Error(
      `${caller}: the skin weights of vertex ${vertex} of ${what} are ${Array.from(weights).join(', ')}; ` +
        'they must not be negative and must add up to 1 (SkinnedMesh.normalizeSkinWeights mends sums).',
    );
  };
}
