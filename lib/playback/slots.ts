import { REST_FRAME } from '../constants.js';
import { RAMP_FROM, RAMP_RATE, RAMP_START, RAMP_TO, rampAt, rampDone, rampTo } from './ramps.js';

/**
 * How one clip plays on one instance, as numbers that are written only when something changes. A slot is `SLOT_SIZE`
 * numbers of an array, from a place `at`.
 *
 * It says where the clip was at one moment, as an `AnimationAction` would: at the second `SLOT_SINCE` of the clock,
 * `SLOT_PLACE` is the action's `time` in frames and `SLOT_PASS` its `_loopCount`. From there the clip moves at
 * `SLOT_RATE`. Where that leads to at any other time is computed in `loops.ts`, and nowhere else.
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
/** Frames into the clip at `SLOT_SINCE`, less the frames by which warping puts it ahead at that time. */
export const SLOT_PLACE = 6;
/** Seconds of the clock. */
export const SLOT_SINCE = 7;
/**
 * How far warping puts the clip ahead, in seconds of its own time: this, times the square of how far the warp is from done;
 * of a clip that fades out, times the square of how much of the warp is done.
 */
export const SLOT_WARP = 8;
/** Seconds of the clock at which the warp begins. */
export const SLOT_WARP_START = 9;
/** Share of the warp that is done each second: below 0 for a clip that fades in, above for one that fades out. */
export const SLOT_WARP_RATE = 10;
/** The fade is a ramp of the weight: what it is at its start, and from its end on. */
export const SLOT_FROM = 11 + RAMP_FROM;
export const SLOT_TO = 11 + RAMP_TO;
/** Seconds of the clock at which the fade begins. */
export const SLOT_FADE_START = 11 + RAMP_START;
/** Share of the fade that is done each second; 0 when there is none, and the weight is `SLOT_TO`. */
export const SLOT_FADE_RATE = 11 + RAMP_RATE;
/** Seconds since the beginning at which the clip was started, or its time set. */
export const SLOT_STARTED = 15;
/**
 * The pass the clip was in when it was started or its time was set; NaN after loading from JSON what was not
 * started at that very moment, so that nothing at that place is dispatched again.
 */
export const SLOT_STARTED_IN = 16;

/** Numbers per slot. */
export const SLOT_SIZE = 17;

// Bits of SLOT_LOOP; those that shaders read as well are LOOP_… in `constants.ts`.

/** The clip's root motion moves the instance. */
export const ROOT_MOTION = 4;
/** The clip ends at whichever end it comes to first, as under LoopOnce. */
export const ONCE = 8;
/** The clip runs in reverse, or ran in reverse when it last moved. */
export const REVERSED = 16;
/** The clip has finished, and stays at `SLOT_PLACE` whatever its speed. */
export const FINISHED = 32;
/** There is no pass before `SLOT_PASS`. */
export const FIRST = 64;

/** The clip fades out under one that was started later; its slot is free once it has faded out. */
export const FADING_OUT = 128;

/** Times that differ by less are the same time: adding seconds up and taking them off again loses about as much. */
export const TIME_EPSILON = 1e-6;

/** Empties a slot: the rest pose. */
export function clearSlot(slots: Slots, at: number): void {
  // For so few numbers `fill` takes several times as long.
  for (let i = at; i < at + SLOT_SIZE; i++) slots[i] = 0;
  slots[at + SLOT_START] = REST_FRAME;
  slots[at + SLOT_COUNT] = 1;
  slots[at + SLOT_FROM] = slots[at + SLOT_TO] = 1;
}

/** Intervals between the clip's frames; 0 for a pose. */
export function intervalsOf(slots: Slots, at: number): number {
  return slots[at + SLOT_COUNT] - 1;
}

/** Whether a slot has a bit in `SLOT_LOOP`. */
export function hasBit(slots: Slots, at: number, bit: number): boolean {
  return (slots[at + SLOT_LOOP] & bit) !== 0;
}

export function isReversed(slots: Slots, at: number): boolean {
  return hasBit(slots, at, REVERSED);
}

/** Whether a slot's clip does not move, however much time passes. */
export function standsStill(slots: Slots, at: number): boolean {
  return slots[at + SLOT_RATE] === 0 || hasBit(slots, at, FINISHED);
}

/** Whether a slot has moved since its numbers were written; until then, no pass has begun or ended. */
export function hasMoved(slots: Slots, at: number, clock: number): boolean {
  return !standsStill(slots, at) && Math.abs(clock - slots[at + SLOT_SINCE]) >= TIME_EPSILON;
}

/**
 * Whether a slot's clip was started, or its time set, at this very moment: what lies right there is still to be told of.
 *
 * @param elapsed Seconds since the beginning, of its instance.
 */
export function hasJustBegun(slots: Slots, at: number, elapsed: number): boolean {
  const isSame = Math.abs(elapsed - slots[at + SLOT_STARTED]) < TIME_EPSILON;
  return isSame && !Number.isNaN(slots[at + SLOT_STARTED_IN]);
}

/** How much of a slot's fade is done, 0 to 1. */
export function fadeDone(slots: Slots, at: number, clock: number): number {
  return rampDone(slots, at + SLOT_FROM, clock);
}

/** What a slot's fade has come to. */
export function weightAt(slots: Slots, at: number, clock: number): number {
  return rampAt(slots, at + SLOT_FROM, clock);
}

/** Lets a slot's fade go from what it is at `clock` to another weight, within so many seconds. */
export function fadeTo(slots: Slots, at: number, clock: number, weight: number, seconds: number): void {
  rampTo(slots, at + SLOT_FROM, clock, weight, seconds);
}

/** Moves the times of a slot by so many seconds of the clock. */
export function shiftSlot(slots: Slots, at: number, seconds: number): void {
  slots[at + SLOT_SINCE] += seconds;
  slots[at + SLOT_WARP_START] += seconds;
  slots[at + SLOT_FADE_START] += seconds;
}
