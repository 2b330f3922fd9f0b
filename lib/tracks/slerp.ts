/** Cosine of half the angle between two rotations above which three.js's slerp is a normalised lerp. */
const NEARLY_SAME = 0.9995;

/**
 * Turns the quaternion at `a` towards the one at `b` by the share `t` of the way, as `Quaternion.slerpFlat` does; the
 * shaders have the same function.
 */
export function slerp(a: Float64Array, at: number, b: ArrayLike<number>, bAt: number, t: number): void {
  const x = a[at];
  const y = a[at + 1];
  const z = a[at + 2];
  const w = a[at + 3];
  const dot = x * b[bAt] + y * b[bAt + 1] + z * b[bAt + 2] + w * b[bAt + 3];
  const cosine = Math.abs(dot);
  let s0 = 1 - t;
  let s1 = t;
  if (cosine < NEARLY_SAME) {
    const angle = Math.acos(cosine);
    const sine = Math.sin(angle);
    s0 = Math.sin(s0 * angle) / sine;
    s1 = Math.sin(s1 * angle) / sine;
  }
  if (dot < 0) s1 = -s1;
  const qx = x * s0 + b[bAt] * s1;
  const qy = y * s0 + b[bAt + 1] * s1;
  const qz = z * s0 + b[bAt + 2] * s1;
  const qw = w * s0 + b[bAt + 3] * s1;
  const unit = cosine < NEARLY_SAME ? 1 : 1 / Math.sqrt(qx * qx + qy * qy + qz * qz + qw * qw);
  a[at] = qx * unit;
  a[at + 1] = qy * unit;
  a[at + 2] = qz * unit;
  a[at + 3] = qw * unit;
}

/** Writes the product of two quaternions, the first of which begins at `at`. `out` may be the first, but not the second. */
export function multiplyQuaternions(a: Float64Array, at: number, b: Float64Array, out: Float64Array): void {
  const [x, y, z, w] = [a[at], a[at + 1], a[at + 2], a[at + 3]];
  out[0] = x * b[3] + w * b[0] + y * b[2] - z * b[1];
  out[1] = y * b[3] + w * b[1] + z * b[0] - x * b[2];
  out[2] = z * b[3] + w * b[2] + x * b[1] - y * b[0];
  out[3] = w * b[3] - x * b[0] - y * b[1] - z * b[2];
}
