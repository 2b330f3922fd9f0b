import { LOOP_PING_PONG, REPEAT_FOREVER, REST_FRAME } from '../constants.js';
import { passesSince } from './frameAt.js';

/**
 * How one clip plays, as numbers that are written when something changes, and everything that follows from them.
 *
 * A slot tells where its clip was at one moment, as an `AnimationAction` would: `SLOT_PLACE` is its `time` in frames and
 * `SLOT_PASS` its `_loopCount`, at the second `SLOT_SINCE` of the clock. From there it moves at `SLOT_RATE`: the frames
 * it has come to since, its `total`, run on through later passes, and {@link locate} says which pass that is, and which
 * place in it. Nobody else counts passes.
 */
export type Slots = Float64Array;

/** First frame of the clip in the bone texture. */
export const SLOT_START = 0;
/** Frames of the clip; 1 for a pose. */
export const SLOT_COUNT = 1;
/** `LOOP_PING_PONG` and `LOOP_CLAMP`, and the bits below. */
export const SLOT_LOOP = 2;
/** Passes until the clip has finished, as it was asked for; `REPEAT_FOREVER` or more for ever. */
export const SLOT_REPETITIONS = 3;
/** Frames per second, negative in reverse. */
export const SLOT_RATE = 4;
/** Number of the pass at `SLOT_SINCE`, as `AnimationAction` counts its loops: -1 until the clip has moved forward once. */
export const SLOT_PASS = 5;
/** Frames into the clip at `SLOT_SINCE`, less what warping puts it ahead there. */
export const SLOT_PLACE = 6;
/** Seconds of the clock. */
export const SLOT_SINCE = 7;
/** Seconds of its own time that warping puts the clip ahead, times the square of how far its fade is from done. */
export const SLOT_WARP = 8;
/** Weight that the older slots would have at clock 0, if it were not kept between 0 and 1. */
export const SLOT_FADE = 9;
/** What that weight loses each second of the clock. */
export const SLOT_FADE_RATE = 10;

/** Numbers per slot. */
export const SLOT_SIZE = 11;
/** Numbers per instance of the two slots that fade out. */
export const OLDER_SIZE = 2 * SLOT_SIZE;

/** The clip's root motion moves the instance. */
export const ROOT_MOTION = 4;
/** The clip ends at whichever end it comes to first, as under LoopOnce. */
export const ONCE = 8;
/** The clip runs in reverse, or ran when it last moved. */
export const REVERSED = 16;
/** The clip has finished, and stays at `SLOT_PLACE` whatever its speed. */
export const FINISHED = 32;
/** There is no pass before `SLOT_PASS`. */
export const FIRST = 64;

/** Seconds within which no time has passed: so much is lost where times are added up and taken off again. */
export const AN_INSTANT = 1e-6;

/** Lengths of a clip by which a time may be off that was computed from its duration. */
const ROUNDED = 1e-9;

/** Where a clip is. */
export interface Place {
  /** Number of the pass, as in `SLOT_PASS`. */
  pass: number;
  /** Frames into the clip, as `AnimationAction.time` counts: from its start, also on the way back of a ping-pong. */
  within: number;
  /** Whether it has run all its repetitions. */
  finished: boolean;
}

const _place: Place = { pass: 0, within: 0, finished: false };

/** Empties a slot: the rest pose. */
export function clearSlot(slots: Slots, at: number): void {
  slots.fill(0, at, at + SLOT_SIZE);
  slots[at + SLOT_START] = REST_FRAME;
  slots[at + SLOT_COUNT] = 1;
}

/** Copies the clip and where it is, and leaves the fade alone. */
export function copyClip(from: Slots, fromAt: number, to: Slots, at: number): void {
  for (let i = 0; i < SLOT_FADE; i++) to[at + i] = from[fromAt + i];
}

/** Intervals between the clip's frames; 0 for a pose. */
export function intervalsOf(slots: Slots, at: number): number {
  return slots[at + SLOT_COUNT] - 1;
}

/** Whether a slot has a bit in `SLOT_LOOP`. */
export function hasBit(slots: Slots, at: number, bit: number): boolean {
  return (slots[at + SLOT_LOOP] & bit) !== 0;
}

/** Whether a slot's clip does not move, however much time passes. */
export function standsStill(slots: Slots, at: number): boolean {
  return slots[at + SLOT_RATE] === 0 || hasBit(slots, at, FINISHED);
}

/** Whether a slot has moved since its numbers were written; before that, no pass has begun or ended. */
export function hasMoved(slots: Slots, at: number, clock: number): boolean {
  return !standsStill(slots, at) && Math.abs(clock - slots[at + SLOT_SINCE]) >= AN_INSTANT;
}

/** Share that the slots older than this one have, 0 when nothing fades. */
export function olderWeight(slots: Slots, at: number, clock: number): number {
  const rate = slots[at + SLOT_FADE_RATE];
  return rate === 0 ? 0 : Math.min(Math.max(slots[at + SLOT_FADE] - clock * rate, 0), 1);
}

/**
 * Frames from the start of `SLOT_PASS` that a slot has come to.
 *
 * @param ease Square of how far its fade is from done.
 */
export function totalAt(slots: Slots, at: number, clock: number, ease: number): number {
  const seconds = clock - slots[at + SLOT_SINCE] + slots[at + SLOT_WARP] * ease;
  return slots[at + SLOT_PLACE] + slots[at + SLOT_RATE] * seconds;
}

/** The pass that `total` counts from: forward there is none before 0. */
export function basePass(slots: Slots, at: number): number {
  const pass = slots[at + SLOT_PASS];
  return slots[at + SLOT_RATE] > 0 ? Math.max(pass, 0) : pass;
}

/** How many passes after that one the clip has finished; at least 1, and `REPEAT_FOREVER` if it never does. */
export function passesLeft(slots: Slots, at: number): number {
  if (hasBit(slots, at, ONCE)) return 1;
  const repetitions = slots[at + SLOT_REPETITIONS];
  if (repetitions >= REPEAT_FOREVER) return REPEAT_FOREVER;
  return Math.max(Math.ceil(repetitions - basePass(slots, at)), 1);
}

/**
 * Where a slot is that has come to `total` frames.
 *
 * @param still Whether it is held there: then no pass has begun since, not even at the very end of one.
 */
export function locate(slots: Slots, at: number, total: number, still: boolean, target: Place): Place {
  const intervals = intervalsOf(slots, at);
  const rate = still ? 0 : slots[at + SLOT_RATE];
  target.finished = hasBit(slots, at, FINISHED);
  target.pass = slots[at + SLOT_PASS];
  target.within = 0;
  if (intervals < 1) return target;
  if (target.finished) {
    target.within = slots[at + SLOT_PLACE];
    return target;
  }

  const since = passesSince(total, intervals, rate, hasBit(slots, at, FIRST));
  if (rate !== 0) target.pass = basePass(slots, at) + since;
  const left = passesLeft(slots, at);
  if (since >= left && left < REPEAT_FOREVER) {
    target.finished = true;
    target.pass = basePass(slots, at) + left - 1;
    target.within = rate < 0 ? 0 : intervals;
  } else {
    const start = (rate < 0 ? -since : since) * intervals;
    target.within = Math.min(Math.max(total - start, 0), intervals);
  }
  return target;
}

/** Whether a ping-pong is on its way back. */
export function runsBack(slots: Slots, at: number, { pass, finished }: Place): boolean {
  if (!hasBit(slots, at, LOOP_PING_PONG)) return false;
  // In reverse three.js does not count the first pass: it numbers it -1, and mirrors it, until it has ended.
  if (pass < 0) return !finished && hasBit(slots, at, REVERSED);
  return pass % 2 === 1;
}

/** Lets a slot, whose instance is not paused, count anew from where it is at `clock`. */
export function settle(slots: Slots, at: number, clock: number, ease: number): void {
  if (!hasMoved(slots, at, clock)) return;
  const { pass, within, finished } = locate(slots, at, totalAt(slots, at, clock, ease), false, _place);
  if (finished) {
    slots[at + SLOT_LOOP] |= FINISHED;
    slots[at + SLOT_PLACE] = within;
  } else {
    if (pass !== basePass(slots, at)) slots[at + SLOT_LOOP] &= ~FIRST;
    slots[at + SLOT_PLACE] = within - slots[at + SLOT_RATE] * slots[at + SLOT_WARP] * ease;
    slots[at + SLOT_SINCE] = clock;
  }
  slots[at + SLOT_PASS] = pass;
}

/** Lets a slot that is settled at `clock` go on from there at another speed. */
export function changeRate(
  slots: Slots,
  at: number,
  clock: number,
  ease: number,
  rate: number,
  warp: number,
): void {
  const turned = rate !== 0 && rate < 0 !== hasBit(slots, at, REVERSED);
  // In the new direction, nothing was played yet.
  if (turned) slots[at + SLOT_LOOP] = (slots[at + SLOT_LOOP] ^ REVERSED) | FIRST;
  if (!hasBit(slots, at, FINISHED)) {
    slots[at + SLOT_PLACE] += (slots[at + SLOT_RATE] * slots[at + SLOT_WARP] - rate * warp) * ease;
    slots[at + SLOT_SINCE] = clock;
  }
  slots[at + SLOT_RATE] = rate;
  slots[at + SLOT_WARP] = warp;
}

/**
 * Puts a slot at a time that may lie outside of the clip.
 *
 * One that moves goes on as an `AnimationAction` with such a time, which counts whole lengths of the clip as passes; one
 * that is held shows the nearest end.
 *
 * @param frames From the clip's start.
 */
export function setPlace(
  slots: Slots,
  at: number,
  clock: number,
  ease: number,
  frames: number,
  held: boolean,
): void {
  const intervals = intervalsOf(slots, at);
  slots[at + SLOT_LOOP] = (slots[at + SLOT_LOOP] & ~FINISHED) | FIRST;
  slots[at + SLOT_SINCE] = clock;
  slots[at + SLOT_PLACE] = Math.min(Math.max(frames, 0), intervals);
  if (!held) foldPlace(slots, at, frames);
  if (hasBit(slots, at, FINISHED)) return;
  slots[at + SLOT_PLACE] -= slots[at + SLOT_RATE] * slots[at + SLOT_WARP] * ease;
}

/** Counts whole lengths of the clip in `frames`, where a slot is that will move, as passes. */
function foldPlace(slots: Slots, at: number, frames: number): void {
  const intervals = intervalsOf(slots, at);
  const rate = slots[at + SLOT_RATE];
  if (intervals < 1 || rate === 0) return;
  // Both ends are within in reverse: the duration, which has been multiplied and is rounded, as much as zero.
  const inLengths = frames / intervals;
  const lengths = rate < 0 ? Math.ceil(inLengths - ROUNDED) - 1 : Math.floor(inLengths);
  if (lengths === 0 || (rate < 0 && frames === 0)) return;

  const passes = Math.abs(lengths);
  const left = passesLeft(slots, at);
  const base = basePass(slots, at);
  if (passes < left || left >= REPEAT_FOREVER) {
    slots[at + SLOT_PASS] = base + passes;
    slots[at + SLOT_PLACE] = Math.min(Math.max(frames - lengths * intervals, 0), intervals);
    return;
  }
  slots[at + SLOT_LOOP] |= FINISHED;
  slots[at + SLOT_PASS] = base + left - 1;
  if (!hasBit(slots, at, ONCE)) slots[at + SLOT_PLACE] = rate < 0 ? 0 : intervals;
}
