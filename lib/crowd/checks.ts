import type { Matrix4 } from 'three';
import { warnOnce } from '../utils/messages.js';

/** Whether a matrix mirrors nothing, and has finite numbers. */
export function isPlain(m: readonly number[]): boolean {
  const determinant =
    m[0] * (m[5] * m[10] - m[6] * m[9]) -
    m[4] * (m[1] * m[10] - m[2] * m[9]) +
    m[8] * (m[1] * m[6] - m[2] * m[5]);
  const sum = determinant + m[3] + m[7] + m[11] + m[12] + m[13] + m[14] + m[15];
  return determinant >= 0 && sum - sum === 0;
}

/** Whether a matrix has finite numbers. Warns if it mirrors. */
export function isFinitePlace(elements: readonly number[]): boolean {
  if (isPlain(elements)) return true;
  if (!elements.every(Number.isFinite)) return false;
  warnOnce(
    `SkinnedInstancedMesh: a matrix mirrors, so its instance is drawn inside out; put mirrored instances in a crowd of their own whose scale.x is -1.`,
  );
  return true;
}

/** @throws If a matrix would be drawn as garbage. */
export function checkMatrix({ elements }: Matrix4): void {
  if (isFinitePlace(elements)) return;
  throw new Error(`The matrix is ${elements.join(', ')}; use finite numbers.`);
}
