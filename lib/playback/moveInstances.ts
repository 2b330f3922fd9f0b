import { LOOP_PING_PONG } from '../constants.js';
import type { BakedClip } from '../poses/ClipTable.js';
import { MOTION_SIZE } from '../poses/RootMotion.js';
import { basePass, FINISHED, hasBit, passesLeft, ROOT_MOTION, SLOT_RATE, type Slots } from './slots.js';

/** A rigid motion over the ground: x, y, z, then the turn about y in radians. */
export type Motion = Float64Array;

const _from = /*@__PURE__*/ new Float64Array(MOTION_SIZE);
const _to = /*@__PURE__*/ new Float64Array(MOTION_SIZE);
const _path = /*@__PURE__*/ new Float64Array(MOTION_SIZE);
const _power = /*@__PURE__*/ new Float64Array(MOTION_SIZE);

/**
 * Adds to `target` how a slot's clip moves its instance between two times, weighted.
 *
 * @param from In frames, as `totalAt` counts them.
 */
export function addSlotMotion(
  slots: Slots,
  at: number,
  clip: BakedClip | null,
  weight: number,
  from: number,
  to: number,
  target: Motion,
): void {
  if (clip === null || clip.rootMotion === null || !hasBit(slots, at, ROOT_MOTION)) return;
  const intervals = clip.count - 1;
  if (intervals < 1 || from === to || hasBit(slots, at, FINISHED)) return;

  const curve = clip.rootMotion;
  const reverse = slots[at + SLOT_RATE] < 0;
  const base = basePass(slots, at);
  const left = passesLeft(slots, at);
  const pingPong = hasBit(slots, at, LOOP_PING_PONG);
  // Where the clip has finished, it moves nothing.
  const end = reverse ? Math.max(to, (1 - left) * intervals) : Math.min(to, left * intervals);
  if (reverse ? from <= end : from >= end) return;

  // Passes in which the way begins and ends, by how many lengths of the clip they lie from where `total` counts.
  const first = reverse ? Math.ceil(from / intervals) - 1 : Math.floor(from / intervals);
  const last = reverse ? Math.floor(end / intervals) : Math.ceil(end / intervals) - 1;
  const start = reverse ? intervals : 0;
  const stop = intervals - start;

  const firstBack = pingPong && (base + first) % 2 !== 0;

  _path.fill(0);
  if (first === last) {
    addPart(curve, intervals, firstBack, from - first * intervals, end - first * intervals);
  } else {
    addPart(curve, intervals, firstBack, from - first * intervals, stop);
    const between = Math.abs(last - first) - 1;
    // There and back again leads nowhere.
    if (!pingPong) addPower(curve, intervals, start, stop, between);
    else if (between % 2 !== 0) addPart(curve, intervals, !firstBack, start, stop);
    const lastBack = firstBack !== (pingPong && between % 2 === 0);
    addPart(curve, intervals, lastBack, start, end - last * intervals);
  }
  for (let i = 0; i < MOTION_SIZE; i++) target[i] += weight * _path[i];
}

/** Appends the way through one pass, from one place in it to another. */
function addPart(curve: Float32Array, intervals: number, back: boolean, a: number, b: number): void {
  motionAt(curve, back ? intervals - a : a, intervals, _from);
  motionAt(curve, back ? intervals - b : b, intervals, _to);
  addStep(_path, _from, _to);
}

/** Appends the way through so many whole passes, in as many doublings as that number has bits. */
function addPower(curve: Float32Array, intervals: number, start: number, stop: number, passes: number): void {
  motionAt(curve, start, intervals, _from);
  motionAt(curve, stop, intervals, _to);
  _power.fill(0);
  addStep(_power, _from, _to);
  _from.fill(0);
  for (let left = passes; left >= 1; left = Math.floor(left / 2)) {
    if (left % 2 === 1) addStep(_path, _from, _power);
    _to.set(_power);
    addStep(_power, _from, _to);
  }
}

/** Moves a matrix by a motion in its own space. */
export function moveMatrix(matrix: Float32Array, at: number, [x, y, z, yaw]: Motion): void {
  const cos = Math.cos(yaw);
  const sin = Math.sin(yaw);
  for (let row = at; row < at + 3; row++) {
    const m0 = matrix[row];
    const m2 = matrix[row + 8];
    matrix[row + 12] += m0 * x + matrix[row + 4] * y + m2 * z;
    matrix[row] = m0 * cos - m2 * sin;
    matrix[row + 8] = m0 * sin + m2 * cos;
  }
}

function motionAt(curve: Float32Array, frame: number, intervals: number, out: Motion): void {
  const first = Math.min(Math.floor(frame), intervals - 1);
  const alpha = frame - first;
  const at = first * MOTION_SIZE;
  for (let i = 0; i < MOTION_SIZE; i++) {
    out[i] = curve[at + i] + (curve[at + MOTION_SIZE + i] - curve[at + i]) * alpha;
  }
}

/** Appends the way from one place on a curve to another. */
function addStep(path: Motion, from: Motion, to: Motion): void {
  const turn = path[3] - from[3];
  const cos = Math.cos(turn);
  const sin = Math.sin(turn);
  const x = to[0] - from[0];
  const z = to[2] - from[2];
  path[0] += cos * x + sin * z;
  path[1] += to[1] - from[1];
  path[2] += cos * z - sin * x;
  path[3] += to[3] - from[3];
}
