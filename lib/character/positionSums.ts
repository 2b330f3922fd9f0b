import type { BufferGeometry } from 'three';
import { inRuns, runAll, type Steps } from '../utils/steps.js';

/** How far sums of the same vertices may be apart: tools that compress meshes round positions. Those of another order are far off. */
const TOLERANCE = 3e-3;

/**
 * Three numbers that very likely change when vertices of a geometry are moved or reordered: for each axis the sum of all coordinates,
 * within the box around them, each times a number between -1 and 1 that goes by the vertex. They are about as large for any number of
 * vertices. They do not notice everything: in a mesh of hundreds of thousands of vertices, two that change places are less than what is
 * allowed for rounding.
 */
export function* positionSumSteps({ attributes: { position } }: BufferGeometry): Steps<number[]> {
  const { count } = position;
  const axes = [0, 1, 2].map(() => ({ least: Infinity, most: -Infinity, sum: 0 }));
  let weights = 0;
  yield* inRuns(count, (start, end) => {
    for (let vertex = start; vertex < end; vertex++) {
      const weight = weightOf(vertex);
      weights += weight;
      for (let axis = 0; axis < 3; axis++) {
        const value = position.getComponent(vertex, axis);
        const one = axes[axis];
        if (value < one.least) one.least = value;
        if (value > one.most) one.most = value;
        one.sum += weight * value;
      }
    }
  });
  const scale = Math.max(...axes.map(({ least, most }) => most - least)) * Math.sqrt(count) || 1;
  return axes.map(({ sum, least }) => (sum - weights * least) / scale);
}

/** {@link positionSumSteps} at once. */
export const positionSums = (geometry: BufferGeometry): number[] => runAll(positionSumSteps(geometry));

/** Whether sums are near enough to be those of the same vertices in the same order. */
export const isSameOrder = (sums: readonly number[], others: readonly number[]): boolean =>
  sums.every((sum, axis) => !(Math.abs(sum - others[axis]) > TOLERANCE));

/** A number between -1 and 1 that looks as if by chance, but is always the same. */
function weightOf(vertex: number): number {
  const bits = Math.imul(vertex + 1, 0x9e3779b1);
  return Math.imul(bits ^ (bits >>> 15), 0x85ebca6b) / 2 ** 31;
}
