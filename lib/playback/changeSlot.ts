import { REPEAT_FOREVER } from '../constants.js';
import { aheadAt, basePass, locate, type Place, passesLeft, totalAt } from './loops.js';
import {
  FADING_OUT,
  FINISHED,
  FIRST,
  hasBit,
  hasMoved,
  intervalsOf,
  isReversed,
  ONCE,
  REVERSED,
  SLOT_LOOP,
  SLOT_PASS,
  SLOT_PLACE,
  SLOT_RATE,
  SLOT_SINCE,
  SLOT_WARP,
  SLOT_WARP_RATE,
  SLOT_WARP_START,
  type Slots,
} from './slots.js';

/** Share of a clip's length by which a time that was computed from its duration may be off. */
const LENGTH_EPSILON = 1e-9;

const _place: Place = { pass: 0, within: 0, finished: false };

/** Writes place and pass at `clock` into a slot, so that its speed may change from there. Not for paused instances. */
export function settle(slots: Slots, at: number, clock: number): void {
  if (!hasMoved(slots, at, clock)) return;
  const { pass, within, finished } = locate(slots, at, totalAt(slots, at, clock), false, _place);
  if (finished) {
    slots[at + SLOT_LOOP] |= FINISHED;
    slots[at + SLOT_PLACE] = within;
  } else {
    if (pass !== basePass(slots, at)) slots[at + SLOT_LOOP] &= ~FIRST;
    slots[at + SLOT_PLACE] = within - slots[at + SLOT_RATE] * aheadAt(slots, at, clock);
    slots[at + SLOT_SINCE] = clock;
  }
  slots[at + SLOT_PASS] = pass;
}

/** Lets a slot that is settled at `clock` go on from there at another speed; a warp under way goes on, in proportion. */
export function changeRate(slots: Slots, at: number, clock: number, rate: number): void {
  const turned = rate !== 0 && rate < 0 !== isReversed(slots, at);
  // In the new direction, nothing was played yet.
  if (turned) slots[at + SLOT_LOOP] = (slots[at + SLOT_LOOP] ^ REVERSED) | FIRST;
  if (!hasBit(slots, at, FINISHED)) {
    slots[at + SLOT_PLACE] += (slots[at + SLOT_RATE] - rate) * aheadAt(slots, at, clock);
    slots[at + SLOT_SINCE] = clock;
  }
  slots[at + SLOT_RATE] = rate;
}

/** Lets a slot count as one that fades out under one that was started later. */
export function startFadingOut(slots: Slots, at: number, clock: number): void {
  if (slots[at + SLOT_WARP] !== 0) endWarp(slots, at, clock);
  slots[at + SLOT_LOOP] |= FADING_OUT;
}

/** Ends the warp of a slot, whose clip goes on at the speed that warping has brought it to. */
export function endWarp(slots: Slots, at: number, clock: number): void {
  const warp = slots[at + SLOT_WARP];
  if (warp === 0) return;
  settle(slots, at, clock);
  const rate = slots[at + SLOT_RATE];
  if (!hasBit(slots, at, FINISHED)) {
    slots[at + SLOT_PLACE] += rate * aheadAt(slots, at, clock);
    slots[at + SLOT_SINCE] = clock;
  }
  slots[at + SLOT_WARP] = 0;
  const warpRate = slots[at + SLOT_WARP_RATE];
  const done = (clock - slots[at + SLOT_WARP_START]) * Math.abs(warpRate);
  // Beyond its ends, a warp does not change the speed.
  if (done < 0 || done > 1) return;
  const faster = 2 * warp * warpRate * (warpRate > 0 ? done : 1 - done);
  changeRate(slots, at, clock, rate * (1 + faster));
}

/**
 * Puts a slot at a time that may lie outside of the clip.
 *
 * One that moves goes on as an `AnimationAction` with such a time does, which counts whole lengths of the clip as passes;
 * one that is held shows the nearest end.
 *
 * @param frames From the clip's start.
 */
export function setPlace(slots: Slots, at: number, clock: number, frames: number, held: boolean): void {
  const intervals = intervalsOf(slots, at);
  slots[at + SLOT_LOOP] = (slots[at + SLOT_LOOP] & ~FINISHED) | FIRST;
  slots[at + SLOT_SINCE] = clock;
  slots[at + SLOT_PLACE] = Math.min(Math.max(frames, 0), intervals);
  if (!held) countLengths(slots, at, frames);
  if (hasBit(slots, at, FINISHED)) return;
  slots[at + SLOT_PLACE] -= slots[at + SLOT_RATE] * aheadAt(slots, at, clock);
}

/** Counts whole lengths of the clip in `frames`, where a slot is that will move, as passes. */
function countLengths(slots: Slots, at: number, frames: number): void {
  const intervals = intervalsOf(slots, at);
  const rate = slots[at + SLOT_RATE];
  if (intervals < 1 || rate === 0 || frames === 0) return;
  // In reverse both ends lie within the clip: zero, and the duration, which was multiplied and is rounded.
  const inLengths = frames / intervals;
  const lengths = rate < 0 ? Math.ceil(inLengths - LENGTH_EPSILON) - 1 : Math.floor(inLengths);
  if (lengths === 0) return;

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
