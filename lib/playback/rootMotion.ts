import { LOOP_PING_PONG, LOOP_ROOT_MOTION, REPEAT_FOREVER } from '../constants.js';
import type { BakedClip } from '../poses/ClipTable.js';
import { MOTION_SIZE } from '../poses/RootMotion.js';
import { CLIP_LOOP, CLIP_RATE, CLIP_REPETITIONS } from './instanceLayout.js';
import { passOf, type Slots } from './slots.js';

/** A rigid motion over the ground: x, y, z, then the turn about y in radians. */
export type Motion = Float64Array;

const _from = /*@__PURE__*/ new Float64Array(MOTION_SIZE);
const _to = /*@__PURE__*/ new Float64Array(MOTION_SIZE);
const _path = /*@__PURE__*/ new Float64Array(MOTION_SIZE);

/**
 * Adds to `target` how a slot's clip moves its instance between two times, weighted.
 *
 * @param from In frames, whole passes counted in.
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
  if (clip === null || clip.rootMotion === null || (slots[at + CLIP_LOOP] & LOOP_ROOT_MOTION) === 0) return;
  const intervals = clip.count - 1;
  if (intervals < 1 || from === to) return;

  const reverse = slots[at + CLIP_RATE] < 0;
  const pingPong = (slots[at + CLIP_LOOP] & LOOP_PING_PONG) !== 0;
  const repetitions = Math.ceil(Math.min(slots[at + CLIP_REPETITIONS], REPEAT_FOREVER));
  // Where the clip has finished, or has not begun, it moves nothing.
  const last = (reverse ? -repetitions : Math.max(repetitions, 1)) * intervals;
  const end = reverse ? Math.max(to, last) : Math.min(to, last);
  let place = reverse ? Math.min(from, intervals) : from;

  _path.fill(0);
  while (reverse ? place > end : place < end) {
    const cycle = reverse ? Math.ceil(place / intervals) - 1 : Math.floor(place / intervals);
    const next = reverse ? Math.max(end, cycle * intervals) : Math.min(end, (cycle + 1) * intervals);
    const turned = pingPong && (passOf(cycle, reverse) & 1) !== 0;
    const a = place - cycle * intervals;
    const b = next - cycle * intervals;
    motionAt(clip.rootMotion, turned ? intervals - a : a, intervals, _from);
    motionAt(clip.rootMotion, turned ? intervals - b : b, intervals, _to);
    addStep(_path, _from, _to);
    place = next;
  }
  for (let i = 0; i < MOTION_SIZE; i++) target[i] += weight * _path[i];
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
