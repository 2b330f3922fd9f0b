import {
  EDIT_AXIS,
  EDIT_COSINE,
  EDIT_KIND,
  EDIT_NODE,
  EDIT_SINE,
  EDIT_VALUE,
  EDIT_WEIGHT,
  KIND_ADD,
  KIND_LOOK_AT,
  KIND_MODEL,
  KIND_POSITION,
  KIND_ROTATION,
  LIVE_HAS,
  LIVE_TEXELS,
  OPPOSITE,
} from '../../../shaders/editLayout.js';
import { multiplyQuaternions, slerp } from '../../animation/mixPose.js';
import { PROPERTY_OFFSETS, ROTATION, SCALE, TRANSLATION } from '../../animation/PoseTracks.js';
import { TRS_SIZE } from '../../animation/Rig.js';
import { linearDeterminant } from '../../utils/affine.js';

const _value = /*@__PURE__*/ new Float64Array(4);
const _turned = /*@__PURE__*/ new Float64Array(4);

/**
 * Lays a live pose over the local transform of a node: twin of `mixLive` in the shaders.
 *
 * @param live The pose's numbers begin at `at`.
 * @param trs `TRS_SIZE` numbers a node.
 */
export function mixLiveNode(
  live: Float32Array,
  at: number,
  node: number,
  weight: number,
  trs: Float64Array,
): void {
  const from = at + node * LIVE_TEXELS * 4;
  if (live[from + LIVE_HAS] === 0) return;
  const to = node * TRS_SIZE;
  turnTo(trs, to + PROPERTY_OFFSETS[ROTATION], live, from, weight);
  moveTo(trs, to + PROPERTY_OFFSETS[TRANSLATION], live, from + 4, weight);
  moveTo(trs, to + PROPERTY_OFFSETS[SCALE], live, from + 8, weight);
}

/** Applies an edit to the local transform of its node: twin of `editLocal` in the shaders. */
export function editLocal(edits: Float32Array, at: number, trs: Float64Array): void {
  const kind = edits[at + EDIT_KIND];
  const weight = edits[at + EDIT_WEIGHT];
  const node = edits[at + EDIT_NODE] * TRS_SIZE;
  const value = at + EDIT_VALUE;
  const adds = (kind & KIND_ADD) !== 0;
  if ((kind & ~KIND_ADD) === KIND_ROTATION) {
    const to = node + PROPERTY_OFFSETS[ROTATION];
    if (adds) {
      for (let i = 0; i < 4; i++) _value[i] = edits[value + i];
      multiplyQuaternions(trs, to, _value, _turned);
      turnTo(trs, to, _turned, 0, weight);
    } else {
      turnTo(trs, to, edits, value, weight);
    }
  } else if ((kind & ~KIND_ADD) === KIND_POSITION) {
    const to = node + PROPERTY_OFFSETS[TRANSLATION];
    if (adds) for (let i = 0; i < 3; i++) trs[to + i] += edits[value + i] * weight;
    else moveTo(trs, to, edits, value, weight);
  } else {
    const to = node + PROPERTY_OFFSETS[SCALE];
    if (adds) for (let i = 0; i < 3; i++) trs[to + i] *= 1 + (edits[value + i] - 1) * weight;
    else moveTo(trs, to, edits, value, weight);
  }
}

function turnTo(trs: Float64Array, to: number, value: ArrayLike<number>, at: number, weight: number): void {
  if (weight < 1) slerp(trs, to, value, at, weight);
  else for (let i = 0; i < 4; i++) trs[to + i] = value[at + i];
}

function moveTo(trs: Float64Array, to: number, value: ArrayLike<number>, at: number, weight: number): void {
  for (let i = 0; i < 3; i++) trs[to + i] = trs[to + i] * (1 - weight) + value[at + i] * weight;
}

const _turn = /*@__PURE__*/ new Float64Array(4);
const _whole = /*@__PURE__*/ new Float64Array(4);
const IDENTITY = [0, 0, 0, 1];

/**
 * Applies an edit to a node's matrix relative to the root, in place: twin of `editModel` in the shaders. The node is turned
 * about its own origin, so that only the upper left of its matrix changes, or moved, so that only the last column does.
 *
 * @param m 12 numbers, row by row.
 */
export function editModel(edits: ArrayLike<number>, at: number, m: Float64Array, to: number): void {
  const kind = edits[at + EDIT_KIND];
  const weight = edits[at + EDIT_WEIGHT];
  if (kind === KIND_LOOK_AT + KIND_MODEL) {
    if (!turnToTarget(edits, at, m, to)) return;
  } else if ((kind & KIND_LOOK_AT) === KIND_POSITION) {
    const keep = kind & KIND_ADD ? 1 : 1 - weight;
    for (let i = 0; i < 3; i++) {
      m[to + 3 + i * 4] = m[to + 3 + i * 4] * keep + edits[at + EDIT_VALUE + i] * weight;
    }
    return;
  } else {
    for (let i = 0; i < 4; i++) _whole[i] = edits[at + EDIT_VALUE + i];
    if (!(kind & KIND_ADD)) {
      if (!readRotation(m, to, _turn)) return;
      for (let i = 0; i < 3; i++) _turn[i] = -_turn[i];
      _value.set(_whole);
      multiplyQuaternions(_value, 0, _turn, _whole);
    }
  }
  if (weight >= 1) {
    _turn.set(_whole);
  } else {
    _turn.set(IDENTITY);
    slerp(_turn, 0, _whole, 0, weight);
  }
  turnRows(_turn, m, to);
}

/** Finds how a node has to turn so that its axis points at the target. False if there is no such turn. */
function turnToTarget(edits: ArrayLike<number>, at: number, m: Float64Array, to: number): boolean {
  const [ax, ay, az] = [edits[at + EDIT_AXIS], edits[at + EDIT_AXIS + 1], edits[at + EDIT_AXIS + 2]];
  let dx = m[to] * ax + m[to + 1] * ay + m[to + 2] * az;
  let dy = m[to + 4] * ax + m[to + 5] * ay + m[to + 6] * az;
  let dz = m[to + 8] * ax + m[to + 9] * ay + m[to + 10] * az;
  let tx = edits[at + EDIT_VALUE] - m[to + 3];
  let ty = edits[at + EDIT_VALUE + 1] - m[to + 7];
  let tz = edits[at + EDIT_VALUE + 2] - m[to + 11];
  const direction = Math.hypot(dx, dy, dz);
  const distance = Math.hypot(tx, ty, tz);
  if (!(direction > 0 && distance > 0)) return false;
  dx /= direction;
  dy /= direction;
  dz /= direction;
  tx /= distance;
  ty /= distance;
  tz /= distance;

  // Half way between both: turning by twice the angle to there goes all the way, without a sine or an angle.
  const hx = dx + tx;
  const hy = dy + ty;
  const hz = dz + tz;
  const half = Math.hypot(hx, hy, hz);
  const q = _whole;
  if (half < OPPOSITE) {
    // Any axis across will do: three.js's `setFromUnitVectors` takes this one.
    const across = Math.abs(dx) > Math.abs(dz);
    q[0] = across ? -dy : 0;
    q[1] = across ? dx : -dz;
    q[2] = across ? 0 : dy;
    q[3] = 0;
    const length = Math.hypot(q[0], q[1], q[2]);
    for (let i = 0; i < 3; i++) q[i] /= length;
  } else {
    q[0] = (dy * hz - dz * hy) / half;
    q[1] = (dz * hx - dx * hz) / half;
    q[2] = (dx * hy - dy * hx) / half;
    q[3] = (dx * hx + dy * hy + dz * hz) / half;
  }
  if (q[3] < edits[at + EDIT_COSINE]) {
    const sine = edits[at + EDIT_SINE] / Math.hypot(q[0], q[1], q[2]);
    for (let i = 0; i < 3; i++) q[i] *= sine;
    q[3] = edits[at + EDIT_COSINE];
  }
  return true;
}

/** Turns the upper left of a matrix by a rotation relative to the root. */
function turnRows(q: Float64Array, m: Float64Array, to: number): void {
  const [x, y, z, w] = q;
  for (let column = 0; column < 3; column++) {
    const at = to + column;
    const [a, b, c] = [m[at], m[at + 4], m[at + 8]];
    // v + 2 * cross(q.xyz, cross(q.xyz, v) + w * v)
    const tx = y * c - z * b + w * a;
    const ty = z * a - x * c + w * b;
    const tz = x * b - y * a + w * c;
    m[at] = a + 2 * (y * tz - z * ty);
    m[at + 4] = b + 2 * (z * tx - x * tz);
    m[at + 8] = c + 2 * (x * ty - y * tx);
  }
}

/** Reads the rotation of a matrix, as `Matrix4.decompose` does. False if it flattens space to less than three dimensions. */
function readRotation(m: Float64Array, at: number, q: Float64Array): boolean {
  let sx = Math.hypot(m[at], m[at + 4], m[at + 8]);
  const sy = Math.hypot(m[at + 1], m[at + 5], m[at + 9]);
  const sz = Math.hypot(m[at + 2], m[at + 6], m[at + 10]);
  if (!(sx > 0 && sy > 0 && sz > 0)) return false;
  if (linearDeterminant(m, at) < 0) sx = -sx;
  const [m11, m21, m31] = [m[at] / sx, m[at + 4] / sx, m[at + 8] / sx];
  const [m12, m22, m32] = [m[at + 1] / sy, m[at + 5] / sy, m[at + 9] / sy];
  const [m13, m23, m33] = [m[at + 2] / sz, m[at + 6] / sz, m[at + 10] / sz];
  // Each of the four numbers, squared and times four; the largest is the one to divide by.
  const squares = [1 + m11 - m22 - m33, 1 + m22 - m11 - m33, 1 + m33 - m11 - m22, 1 + m11 + m22 + m33];
  if (squares[3] >= 1) {
    write(q, m32 - m23, m13 - m31, m21 - m12, squares[3]);
  } else if (squares[0] >= squares[1] && squares[0] >= squares[2]) {
    write(q, squares[0], m12 + m21, m13 + m31, m32 - m23);
  } else if (squares[1] >= squares[2]) {
    write(q, m12 + m21, squares[1], m23 + m32, m13 - m31);
  } else {
    write(q, m13 + m31, m23 + m32, squares[2], m21 - m12);
  }
  return true;
}

/** Writes a quaternion, given all its numbers times one of them and another number. */
function write(q: Float64Array, x: number, y: number, z: number, w: number): void {
  const length = Math.hypot(x, y, z, w);
  q[0] = x / length;
  q[1] = y / length;
  q[2] = z / length;
  q[3] = w / length;
}
