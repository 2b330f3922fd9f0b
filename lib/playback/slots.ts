import { LOOP_PING_PONG, REPEAT_FOREVER, REST_FRAME } from '../constants.js';
import {
  CLIP_COUNT,
  CLIP_FADE,
  CLIP_FADE_RATE,
  CLIP_LOOP,
  CLIP_RATE,
  CLIP_REPETITIONS,
  CLIP_START,
  CLIP_TIME,
  SLOT_STRIDE,
} from './instanceLayout.js';

/**
 * What one slot's numbers mean. A slot lies at `at` in an array of doubles; `total` is the time it has come to in frames,
 * whole passes counted in, from the start of its first pass.
 *
 * Passes are numbered in the order they are played, as `AnimationAction` counts its loops: forward from 0, in reverse
 * from -1, since the first way through the start does not count there.
 */
export type Slots = Float64Array;

/** Empties a slot: the rest pose. */
export function clearSlot(slots: Slots, at: number): void {
  slots.fill(0, at, at + SLOT_STRIDE);
  slots[at + CLIP_START] = REST_FRAME;
  slots[at + CLIP_COUNT] = 1;
}

/** Copies the clip and its timing, and leaves the fade alone. */
export function copyClip(from: Slots, fromAt: number, to: Slots, at: number): void {
  for (let i = 0; i < CLIP_FADE; i++) to[at + i] = from[fromAt + i];
}

/** Intervals between the clip's frames; 0 for a pose. */
export function intervalsOf(slots: Slots, at: number): number {
  return slots[at + CLIP_COUNT] - 1;
}

/** Frames that the slot has come to when the clock stands at `clock`; `warp` as in `warpIn` and `warpOut`. */
export function totalAt(slots: Slots, at: number, clock: number, warp: number): number {
  return slots[at + CLIP_TIME] + clock * slots[at + CLIP_RATE] + warp;
}

/** Share that the slots older than this one have, 0 when nothing fades. */
export function olderWeight(slots: Slots, at: number, clock: number): number {
  const rate = slots[at + CLIP_FADE_RATE];
  return rate === 0 ? 0 : Math.min(Math.max(slots[at + CLIP_FADE] - clock * rate, 0), 1);
}

/** Which stretch of the clip's length `total` lies in: 0 is the first one forward, and the first in reverse. */
export function cycleOf(total: number, intervals: number, reverse: boolean): number {
  const cycle = Math.floor(total / intervals);
  return reverse ? Math.min(cycle, 0) : cycle;
}

/** Number of the pass in a stretch. */
export function passOf(cycle: number, reverse: boolean): number {
  return reverse ? -cycle - 1 : cycle;
}

/** Whether a slot that has come to `total` has run all its repetitions. */
export function isFinished(slots: Slots, at: number, total: number, reverse: boolean): boolean {
  const intervals = intervalsOf(slots, at);
  if (intervals < 1) return false;
  const cycle = cycleOf(total, intervals, reverse);
  return cycle !== 0 && passOf(cycle, reverse) >= slots[at + CLIP_REPETITIONS];
}

/** A time at which a slot has finished, as far from the edge as can be. */
export function finishedTotal(slots: Slots, at: number, reverse: boolean): number {
  const passes = Math.max(Math.ceil(slots[at + CLIP_REPETITIONS]), 0) + 0.5;
  return (reverse ? -passes - 1 : passes + 1) * intervalsOf(slots, at);
}

/**
 * Turns a slot's count of passes around, as an `AnimationAction` does whose time scale changes sign: what was played
 * stays counted, and a ping-pong stays on its way there or back.
 *
 * @returns The new `total`.
 */
export function turnAround(slots: Slots, at: number, total: number, toReverse: boolean): number {
  const intervals = intervalsOf(slots, at);
  if (intervals < 1) return total;
  if (isFinished(slots, at, total, !toReverse)) return finishedTotal(slots, at, toReverse);

  const from = cycleOf(total, intervals, !toReverse);
  const pass = Math.max(passOf(from, !toReverse), toReverse ? 0 : -1);
  const within = Math.min(Math.max(total - from * intervals, 0), intervals);
  const odd = (slots[at + CLIP_LOOP] & LOOP_PING_PONG) !== 0 && (pass & 1) !== 0;

  // Not stretch 0 in reverse, which stands for a clip that came from no other pass.
  let cycle = odd && pass > 0 ? 1 : 0;
  if (toReverse) cycle = odd ? -2 : -1;
  if (slots[at + CLIP_REPETITIONS] < REPEAT_FOREVER) {
    slots[at + CLIP_REPETITIONS] += passOf(cycle, toReverse) - (toReverse ? pass : Math.max(pass, 0));
  }
  return within + cycle * intervals;
}

/**
 * Keeps a slot's time near its clip's start, where float32 is fine-grained.
 *
 * @returns How many stretches of the clip's length were taken off.
 */
export function dropWholeLoops(slots: Slots, at: number): number {
  const intervals = intervalsOf(slots, at);
  if (intervals < 1) {
    slots[at + CLIP_TIME] = 0;
    return 0;
  }

  const time = slots[at + CLIP_TIME];
  const reverse = slots[at + CLIP_RATE] < 0;
  if (isFinished(slots, at, time, reverse)) {
    slots[at + CLIP_TIME] = finishedTotal(slots, at, reverse);
    return 0;
  }
  // An even number, so that ping stays ping.
  const dropped = Math.trunc(cycleOf(time, intervals, reverse) / 2) * 2;
  slots[at + CLIP_TIME] = time - dropped * intervals;
  if (slots[at + CLIP_REPETITIONS] < REPEAT_FOREVER) slots[at + CLIP_REPETITIONS] -= Math.abs(dropped);
  return dropped;
}
