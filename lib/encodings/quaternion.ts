import type { Encoding } from './Encoding.js';

/** A joint that is scaled to less was scaled to hide it, and has no rotation that can be read; half floats hold no less. */
const VANISHED = 1e-6;

/**
 * A dual quaternion. The first texel holds the rotation `q`, multiplied by the uniform scale; the second the translation
 * `t`, as `t q / 2`. That is two texels instead of three, and between two frames a joint turns about the axis that it
 * really turns about, wherever the model's origin is, and keeps its size. Shear, non-uniform scale and mirroring cannot
 * be stored.
 *
 * `q` and `-q` are the same rotation; of the two, each frame has the one nearer to the frame before, so that frames can be
 * mixed without comparing them.
 *
 * Kavan et al., "Geometric Skinning with Approximate Dual Quaternion Blending", 2008.
 */
export const quaternionEncoding: Encoding = {
  name: 'quaternion',
  texels: 2,

  encode(affine, at, out, outAt, previousAt) {
    const a0 = affine[at];
    const a1 = affine[at + 1];
    const a2 = affine[at + 2];
    const a4 = affine[at + 4];
    const a5 = affine[at + 5];
    const a6 = affine[at + 6];
    const a8 = affine[at + 8];
    const a9 = affine[at + 9];
    const a10 = affine[at + 10];
    const determinant = a0 * (a5 * a10 - a6 * a9) - a1 * (a4 * a10 - a6 * a8) + a2 * (a4 * a9 - a5 * a8);

    // Rotation and uniform scale have rows of one length at right angles to each other.
    const row0 = a0 * a0 + a1 * a1 + a2 * a2;
    const row1 = a4 * a4 + a5 * a5 + a6 * a6;
    const row2 = a8 * a8 + a9 * a9 + a10 * a10;
    const size = Math.max(row0, row1, row2);
    const scale = determinant < 0 ? 0 : Math.sqrt((row0 + row1 + row2) / 3);
    // The rows' squared lengths differ twice as much as their lengths, and the scale that is stored lies between the
    // longest and the shortest: a quarter of the difference is the error.
    let error = 0;
    if (size > VANISHED * VANISHED) {
      const uneven = size - Math.min(row0, row1, row2);
      const sheared = Math.max(
        Math.abs(a0 * a4 + a1 * a5 + a2 * a6),
        Math.abs(a0 * a8 + a1 * a9 + a2 * a10),
        Math.abs(a4 * a8 + a5 * a9 + a6 * a10),
      );
      error = determinant < 0 ? 1 : Math.max(uneven / 4, sheared / 2) / size;
    }

    let x = 0;
    let y = 0;
    let z = 0;
    let w = 1;
    if (scale >= VANISHED) {
      // Shepperd's method: starting from the largest of the four components keeps rounding errors small.
      const trace = a0 + a5 + a10;
      if (trace > 0) {
        w = trace + scale;
        x = a9 - a6;
        y = a2 - a8;
        z = a4 - a1;
      } else if (a0 > a5 && a0 > a10) {
        w = a9 - a6;
        x = scale + a0 - a5 - a10;
        y = a1 + a4;
        z = a2 + a8;
      } else if (a5 > a10) {
        w = a2 - a8;
        x = a1 + a4;
        y = scale + a5 - a0 - a10;
        z = a6 + a9;
      } else {
        w = a4 - a1;
        x = a2 + a8;
        y = a6 + a9;
        z = scale + a10 - a0 - a5;
      }
    } else if (previousAt >= 0) {
      x = out[previousAt];
      y = out[previousAt + 1];
      z = out[previousAt + 2];
      w = out[previousAt + 3];
    }

    let unit = 1 / Math.sqrt(x * x + y * y + z * z + w * w);
    if (
      previousAt >= 0 &&
      x * out[previousAt] + y * out[previousAt + 1] + z * out[previousAt + 2] + w * out[previousAt + 3] < 0
    ) {
      unit = -unit;
    }
    x *= unit;
    y *= unit;
    z *= unit;
    w *= unit;

    const tx = affine[at + 3] / 2;
    const ty = affine[at + 7] / 2;
    const tz = affine[at + 11] / 2;
    const length = Math.max(scale, VANISHED);
    out[outAt] = x * length;
    out[outAt + 1] = y * length;
    out[outAt + 2] = z * length;
    out[outAt + 3] = w * length;
    out[outAt + 4] = tx * w + ty * z - tz * y;
    out[outAt + 5] = ty * w + tz * x - tx * z;
    out[outAt + 6] = tz * w + tx * y - ty * x;
    out[outAt + 7] = -(tx * x + ty * y + tz * z);
    return error;
  },

  decode(first, second, alpha, out, at) {
    const length0 = length4(first);
    const length1 = length4(second);
    const a0 = (1 - alpha) / length0;
    const a1 = alpha / length1;
    const x = first[0] * a0 + second[0] * a1;
    const y = first[1] * a0 + second[1] * a1;
    const z = first[2] * a0 + second[2] * a1;
    const w = first[3] * a0 + second[3] * a1;
    const dx = first[4] * (1 - alpha) + second[4] * alpha;
    const dy = first[5] * (1 - alpha) + second[5] * alpha;
    const dz = first[6] * (1 - alpha) + second[6] * alpha;
    const dw = first[7] * (1 - alpha) + second[7] * alpha;

    const scale = length0 * (1 - alpha) + length1 * alpha;
    const t = 2 / (x * x + y * y + z * z + w * w);
    const s = t * scale;

    out[at] = scale - s * (y * y + z * z);
    out[at + 1] = s * (x * y - w * z);
    out[at + 2] = s * (x * z + w * y);
    out[at + 3] = t * (dx * w - dw * x + dz * y - dy * z);
    out[at + 4] = s * (x * y + w * z);
    out[at + 5] = scale - s * (x * x + z * z);
    out[at + 6] = s * (y * z - w * x);
    out[at + 7] = t * (dy * w - dw * y + dx * z - dz * x);
    out[at + 8] = s * (x * z - w * y);
    out[at + 9] = s * (y * z + w * x);
    out[at + 10] = scale - s * (x * x + y * y);
    out[at + 11] = t * (dz * w - dw * z + dy * x - dx * y);
  },
};

// Math.hypot is many times slower, and nothing here comes near the ends of the number range.
function length4(q: Float32Array): number {
  return Math.sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
}
