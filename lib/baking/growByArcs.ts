import type { Box3 } from 'three';
import { AFFINE_SIZE } from '../constants.js';
import { encodingByName } from '../encodings/index.js';
import { frameTexel, type TextureLayout } from '../encodings/textureLayout.js';
import { expandByJoint, type JointBoxes } from '../poses/jointBoxes.js';

/**
 * Cosine of half the angle between two rotations above which the arc between them counts as straight: it bulges by less than
 * a ten-thousandth of its radius.
 */
const STRAIGHT = 0.9999;

/**
 * Grows the bounds of a clip by poses half-way between its frames: mixed quaternions move vertices along an arc, which
 * bulges out of the box around its ends.
 */
export function growByArcs(
  texels: Float32Array,
  layout: TextureLayout,
  start: number,
  count: number,
  bounds: Box3,
  boxes: JointBoxes,
): void {
  const { texels: size, decode } = encodingByName('quaternion');
  const middle = new Float64Array(AFFINE_SIZE);
  for (let frame = start + 1; frame < start + count; frame++) {
    let i = frameTexel(layout, frame - 1) * 4;
    let j = frameTexel(layout, frame) * 4;
    for (let joint = 0; joint * 6 < boxes.length; joint++, i += size * 4, j += size * 4) {
      if (isStraight(texels, i, j) || boxes[joint * 6] > boxes[joint * 6 + 3]) continue;
      decode(texels.subarray(i, i + size * 4), texels.subarray(j, j + size * 4), 0.5, middle, 0);
      expandByJoint(bounds, boxes, joint, middle, 0);
    }
  }
}

function isStraight(q: Float32Array, i: number, j: number): boolean {
  const dot = q[i] * q[j] + q[i + 1] * q[j + 1] + q[i + 2] * q[j + 2] + q[i + 3] * q[j + 3];
  const first = q[i] * q[i] + q[i + 1] * q[i + 1] + q[i + 2] * q[i + 2] + q[i + 3] * q[i + 3];
  const second = q[j] * q[j] + q[j + 1] * q[j + 1] + q[j + 2] * q[j + 2] + q[j + 3] * q[j + 3];
  return dot * dot > STRAIGHT * STRAIGHT * first * second;
}
