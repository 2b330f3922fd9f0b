import type { BufferGeometry } from 'three';

/** How far sums of the same vertices may be apart: tools that compress meshes round positions. Those of another order are far off. */
const TOLERANCE = 3e-3;

/**
 * Three numbers that say where the vertices of a geometry are and in which order: for each axis the sum of all coordinates, within the
 * box around them, each times a number between -1 and 1 that goes by the vertex. They are about as large for any number of vertices.
 */
export function positionSums({ attributes: { position } }: BufferGeometry): number[] {
  const { count } = position;
  const axes = [0, 1, 2].map((axis) => {
    let [least, most, sum, weights] = [Infinity, -Infinity, 0, 0];
    for (let vertex = 0; vertex < count; vertex++) {
      const value = position.getComponent(vertex, axis);
      const weight = weightOf(vertex);
      least = Math.min(least, value);
      most = Math.max(most, value);
      sum += weight * value;
      weights += weight;
    }
    return { size: most - least, sum: sum - weights * least };
  });
  const scale = Math.max(...axes.map(({ size }) => size)) * Math.sqrt(count) || 1;
  return axes.map(({ sum }) => sum / scale);
}

/** Whether sums are those of the same vertices. */
export const isSameOrder = (sums: readonly number[], others: readonly number[]): boolean =>
  sums.every((sum, axis) => !(Math.abs(sum - others[axis]) > TOLERANCE));

/** A number between -1 and 1 that looks as if by chance, but is always the same. */
function weightOf(vertex: number): number {
  const bits = Math.imul(vertex + 1, 0x9e3779b1);
  return Math.imul(bits ^ (bits >>> 15), 0x85ebca6b) / 2 ** 31;
}
