import type { BufferGeometry } from 'three';
import { drawnVertices } from '../utils/drawnVertices.js';

/**
 * Makes a function that checks the four skin weights of a vertex. It returns whether they can be used, and throws if they cannot but
 * the vertex is drawn.
 *
 * @param what Names the geometry in messages.
 */
export function weightChecker(
  geometry: BufferGeometry,
  what: string,
): (weights: ArrayLike<number>, vertex: number) => boolean {
  let drawn: Uint8Array | null = null;
  return (weights, vertex) => {
    const sum = weights[0] + weights[1] + weights[2] + weights[3];
    const least = Math.min(weights[0], weights[1], weights[2], weights[3]);
    if (sum > 0 && sum < Infinity && least >= 0) return true;
    drawn ??= drawnVertices(geometry);
    if (drawn[vertex] === 0) return false;
    throw new Error(
      `The skin weights of vertex ${vertex} of ${what} are ${Array.from(weights).join(', ')}; ` +
        'they must not be negative and must add up to 1 (SkinnedMesh.normalizeSkinWeights mends sums).',
    );
  };
}
