import { MathUtils } from 'three';
import { AFFINE_SIZE } from '../../constants.js';
import type { AffineArray } from '../../utils/affine.js';
import type { Encoding } from './Encoding.js';

/** Below this a joint has been scaled away to hide it, and has no rotation to speak of; half floats hold no less. */
const VANISHED = 1e-6;

/**
 * A dual quaternion: rotation `q` in the first texel, stretched to the length of the uniform scale, and the translation
 * as `t q / 2` in the second. Two texels in place of three, and between two frames a joint turns about the axis it
 * really turns about, wherever the model's origin is, and keeps its size. Shear, non-uniform and mirroring scale cannot
 * be held.
 *
 * Kavan et al., "Geometric Skinning with Approximate Dual Quaternion Blending", 2008. Consecutive frames lie in one
 * hemisphere, so that mixing two of them needs no comparison.
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
    // Squares count twice, and the mean lies half-way.
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
      // Shepperd's method: from the largest of the four, which no rounding can harm.
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
    mixFrames(first, 0, second, 0, alpha, _poses, 0);
    poseAffine(_poses, 0, 1, _affine);
    for (let i = 0; i < AFFINE_SIZE; i++) out[at + i] = _affine[i];
  },

  blend({ layers, count }, texels, out, at) {
    _sum.fill(0);
    let linear = 0;
    let total = 0;
    for (let layer = 0; layer < count; layer++) {
      const { alpha, weight } = layers[layer];
      const pose = layer * POSE_SIZE;
      mixFrames(texels, layer * 2 * SIZE, texels, (layer * 2 + 1) * SIZE, alpha, _poses, pose);
      let cosine = 0;
      if (layer > 0) {
        for (let i = 0; i < 4; i++) cosine += _sum[i] * _poses[pose + i];
        // The first weight may be zero; its direction counts all the same.
        if (layer === 1) cosine = dot4(_poses, 0, pose) / Math.sqrt(dot4(_poses, 0, 0));
        else cosine /= Math.sqrt(dot4(_sum, 0, 0));
        linear += (1 - linear) * apart(cosine, total, weight);
      }
      for (let i = 0; i < SIZE; i++) _sum[i] += (cosine < 0 ? -weight : weight) * _poses[pose + i];
      _sum[SIZE] += weight * _poses[pose + SIZE];
      total += weight;
    }

    poseAffine(_sum, 0, 1, _affine);
    for (let i = 0; i < AFFINE_SIZE; i++) out[at + i] = _affine[i] * (1 - linear);
    if (linear === 0) return;
    for (let layer = 0; layer < count; layer++) {
      poseAffine(_poses, layer * POSE_SIZE, layers[layer].weight, _affine);
      for (let i = 0; i < AFFINE_SIZE; i++) out[at + i] += _affine[i] * linear;
    }
  },
};

/**
 * Cosine of half the angle between two rotations below which they are mixed as matrices, more and more: near half a turn
 * the shorter way round is now this one, now that, and a joint would jump from one to the other.
 */
export const FAR_APART = 0.35;
/** One over the weight below which that is not needed, since the lighter one then turns nothing far. */
export const LEAST_WEIGHT = 16;

/** Numbers per joint. */
const SIZE = 8;
/** A mixed dual quaternion, whose rotation has no unit length, and the mixed scale. */
const POSE_SIZE = SIZE + 1;
const _poses = /*@__PURE__*/ new Float64Array(3 * POSE_SIZE);
const _sum = /*@__PURE__*/ new Float64Array(POSE_SIZE);
const _affine = /*@__PURE__*/ new Float64Array(AFFINE_SIZE);

function mixFrames(
  first: Float32Array,
  firstAt: number,
  second: Float32Array,
  secondAt: number,
  alpha: number,
  out: Float64Array,
  at: number,
): void {
  const length0 = Math.sqrt(dot4(first, firstAt, firstAt));
  const length1 = Math.sqrt(dot4(second, secondAt, secondAt));
  const a0 = (1 - alpha) / length0;
  const a1 = alpha / length1;
  for (let i = 0; i < 4; i++) {
    out[at + i] = first[firstAt + i] * a0 + second[secondAt + i] * a1;
    out[at + 4 + i] = first[firstAt + 4 + i] * (1 - alpha) + second[secondAt + 4 + i] * alpha;
  }
  out[at + SIZE] = length0 * (1 - alpha) + length1 * alpha;
}

function apart(cosine: number, weight0: number, weight1: number): number {
  const near = MathUtils.smoothstep(Math.abs(cosine), 0, FAR_APART);
  return (1 - near) * Math.min(1, LEAST_WEIGHT * Math.min(weight0, weight1));
}

/** Writes a pose as a 3×4 matrix times `weight`. */
function poseAffine(pose: Float64Array, at: number, weight: number, out: AffineArray): void {
  const x = pose[at];
  const y = pose[at + 1];
  const z = pose[at + 2];
  const w = pose[at + 3];
  const dx = pose[at + 4];
  const dy = pose[at + 5];
  const dz = pose[at + 6];
  const dw = pose[at + 7];
  const scale = pose[at + SIZE] * weight;
  const unit = 2 / (x * x + y * y + z * z + w * w);
  const s = unit * scale;
  const t = unit * weight;

  out[0] = scale - s * (y * y + z * z);
  out[1] = s * (x * y - w * z);
  out[2] = s * (x * z + w * y);
  out[3] = t * (dx * w - dw * x + dz * y - dy * z);
  out[4] = s * (x * y + w * z);
  out[5] = scale - s * (x * x + z * z);
  out[6] = s * (y * z - w * x);
  out[7] = t * (dy * w - dw * y + dx * z - dz * x);
  out[8] = s * (x * z - w * y);
  out[9] = s * (y * z + w * x);
  out[10] = scale - s * (x * x + y * y);
  out[11] = t * (dz * w - dw * z + dy * x - dx * y);
}

function dot4(q: Float32Array | Float64Array, i: number, j: number): number {
  return q[i] * q[j] + q[i + 1] * q[j + 1] + q[i + 2] * q[j + 2] + q[i + 3] * q[j + 3];
}
