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
