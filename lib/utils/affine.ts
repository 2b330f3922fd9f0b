import type { Matrix4 } from 'three';

/**
 * Affine 3×4 matrices in flat arrays, row by row (see `AFFINE_SIZE`). Baking multiplies hundreds of thousands of them, which
 * is about twice as fast without objects and the fourth row as with `Matrix4`.
 */
export type AffineArray = Float32Array | Float64Array;

/** Writes translation · rotation · scale, as `Matrix4.compose` does. `trs` holds position 3, quaternion 4, scale 3. */
export function composeAffine(trs: AffineArray, offset: number, out: AffineArray, at: number): void {
  const x = trs[offset + 3];
  const y = trs[offset + 4];
  const z = trs[offset + 5];
  const w = trs[offset + 6];
  const sx = trs[offset + 7];
  const sy = trs[offset + 8];
  const sz = trs[offset + 9];

  const x2 = x + x;
  const y2 = y + y;
  const z2 = z + z;
  const xx = x * x2;
  const xy = x * y2;
  const xz = x * z2;
  const yy = y * y2;
  const yz = y * z2;
  const zz = z * z2;
  const wx = w * x2;
  const wy = w * y2;
  const wz = w * z2;

  out[at] = (1 - yy - zz) * sx;
  out[at + 1] = (xy - wz) * sy;
  out[at + 2] = (xz + wy) * sz;
  out[at + 3] = trs[offset];
  out[at + 4] = (xy + wz) * sx;
  out[at + 5] = (1 - xx - zz) * sy;
  out[at + 6] = (yz - wx) * sz;
  out[at + 7] = trs[offset + 1];
  out[at + 8] = (xz - wy) * sx;
  out[at + 9] = (yz + wx) * sy;
  out[at + 10] = (1 - xx - yy) * sz;
  out[at + 11] = trs[offset + 2];
}

/** Writes `a · b`; `out` may not overlap `a` or `b`. */
export function multiplyAffine(
  a: AffineArray,
  aAt: number,
  b: ArrayLike<number>,
  bAt: number,
  out: AffineArray,
  at: number,
): void {
  const b0 = b[bAt];
  const b1 = b[bAt + 1];
  const b2 = b[bAt + 2];
  const b3 = b[bAt + 3];
  const b4 = b[bAt + 4];
  const b5 = b[bAt + 5];
  const b6 = b[bAt + 6];
  const b7 = b[bAt + 7];
  const b8 = b[bAt + 8];
  const b9 = b[bAt + 9];
  const b10 = b[bAt + 10];
  const b11 = b[bAt + 11];

  for (let row = 0; row < 12; row += 4) {
    const a0 = a[aAt + row];
    const a1 = a[aAt + row + 1];
    const a2 = a[aAt + row + 2];
    out[at + row] = a0 * b0 + a1 * b4 + a2 * b8;
    out[at + row + 1] = a0 * b1 + a1 * b5 + a2 * b9;
    out[at + row + 2] = a0 * b2 + a1 * b6 + a2 * b10;
    out[at + row + 3] = a0 * b3 + a1 * b7 + a2 * b11 + a[aAt + row + 3];
  }
}

/** Writes the upper three rows of a `Matrix4`. */
export function affineFromMatrix4(matrix: Matrix4, out: AffineArray, at: number): void {
  const e = matrix.elements;
  for (let row = 0; row < 3; row++) {
    out[at + row * 4] = e[row];
    out[at + row * 4 + 1] = e[4 + row];
    out[at + row * 4 + 2] = e[8 + row];
    out[at + row * 4 + 3] = e[12 + row];
  }
}

/** The upper three rows of a `Matrix4`. */
export const affineOf = (matrix: Matrix4): number[] => matrix.clone().transpose().elements.slice(0, 12);

/** Sets a `Matrix4` from an affine matrix; the last row becomes (0, 0, 0, 1). */
export function affineToMatrix4(affine: ArrayLike<number>, at: number, target: Matrix4): Matrix4 {
  const { elements } = target.identity();
  for (let i = 0; i < 12; i++) elements[(i & 3) * 4 + (i >> 2)] = affine[at + i];
  return target;
}

/** Determinant of the 3×3 part: negative for a matrix that mirrors. */
export function linearDeterminant(m: AffineArray, at: number): number {
  return (
    m[at] * (m[at + 5] * m[at + 10] - m[at + 6] * m[at + 9]) -
    m[at + 1] * (m[at + 4] * m[at + 10] - m[at + 6] * m[at + 8]) +
    m[at + 2] * (m[at + 4] * m[at + 9] - m[at + 5] * m[at + 8])
  );
}

/** Whether the 3×3 part cannot be inverted, up to rounding, because it flattens space. */
export function isSingular(m: AffineArray, at: number): boolean {
  const columns = [0, 1, 2].map((i) => Math.hypot(m[at + i], m[at + 4 + i], m[at + 8 + i]));
  return Math.abs(linearDeterminant(m, at)) <= 1e-12 * columns[0] * columns[1] * columns[2];
}
