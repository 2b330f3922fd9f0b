import { REST_FRAME } from '../constants.js';

/**
 * How one clip plays on one instance, as numbers that are written only when something changes: `ACTION_SIZE` numbers of an
 * array, from a place `at`.
 *
 * They say where the clip was at one moment, as an `AnimationAction` would: at second `ACTION_SINCE`, `ACTION_PLACE` is the
 * action's `time` in frames and `ACTION_PASS` its `_loopCount`. From there the clip moves at `ACTION_RATE`. Where that leads to
 * is computed in `actionTime.ts`. Times are seconds since the crowd's beginning.
 */
export type Actions = Float64Array;

/** First frame of the clip in the bone texture. */
export const ACTION_START = 0;
/** Frames of the clip; 1 for a pose. */
export const ACTION_COUNT = 1;
/** `LOOP_PING_PONG` and `LOOP_CLAMP`, and the bits below. */
export const ACTION_LOOP = 2;
/** Passes until the clip has finished, as it was asked for; `REPEAT_FOREVER` or more for ever. */
export const ACTION_REPETITIONS = 3;
/** Frames per second, negative in reverse. */
export const ACTION_RATE = 4;
/** Number of the pass at `ACTION_SINCE`, as `AnimationAction` counts its loops: -1 until the clip has moved forward once. */
export const ACTION_PASS = 5;
/** Frames into the clip at `ACTION_SINCE`, less the frames by which warping puts it ahead at that time. */
export const ACTION_PLACE = 6;
export const ACTION_SINCE = 7;
/**
 * How far warping puts the clip ahead, in seconds of its own time: this, times the square of how far the warp is from done;
 * of a clip that fades out, times the square of how much of the warp is done.
 */
export const ACTION_WARP = 8;
export const ACTION_WARP_START = 9;
/** Share of the warp that is done each second: below 0 for a clip that fades in, above for one that fades out. */
export const ACTION_WARP_RATE = 10;
/** The weight is a ramp, see `RAMP_FROM`. */
export const ACTION_FROM = 11;
export const ACTION_TO = 12;
export const ACTION_FADE_START = 13;
export const ACTION_FADE_RATE = 14;
/** When the clip was started, or its time set. */
export const ACTION_STARTED = 15;
/**
 * The pass the clip was in when it was started or its time was set; NaN after loading from JSON what was not
 * started at that very moment, so that nothing at that place is dispatched again.
 */
export const ACTION_STARTED_IN = 16;
/** The event that comes next, while somebody listens: see `PlaybackEvents`. */
export const ACTION_EVENT = 17;

/** Numbers of an action. */
export const ACTION_SIZE = 21;

// Bits of ACTION_LOOP; those that shaders read as well are LOOP_… in `constants.ts`.

/** The clip's root motion moves the instance. */
export const ROOT_MOTION = 4;
/** The clip ends at whichever end it comes to first, as under LoopOnce. */
export const ONCE = 8;
/** The clip runs in reverse, or ran in reverse when it last moved. */
export const REVERSED = 16;
/** The clip has finished, and stays at `ACTION_PLACE` whatever its speed. */
export const FINISHED = 32;
/** There is no pass before `ACTION_PASS`. */
export const FIRST = 64;
/** The clip fades out under one that was started later; it ends once it has faded out. */
export const FADING_OUT = 128;

/** Times that differ by less are the same time: adding seconds up and taking them off again loses about as much. */
export const TIME_EPSILON = 1e-6;

/** Empties an action: the rest pose. */
export function clearAction(actions: Actions, at: number): void {
  // For so few numbers `fill` takes several times as long.
  for (let i = at; i < at + ACTION_SIZE; i++) actions[i] = 0;
  actions[at + ACTION_START] = REST_FRAME;
  actions[at + ACTION_COUNT] = 1;
  actions[at + ACTION_FROM] = actions[at + ACTION_TO] = 1;
}

/** Intervals between the clip's frames; 0 for a pose. */
export const intervalsOf = (actions: Actions, at: number): number => actions[at + ACTION_COUNT] - 1;

/** Whether an action has a bit in `ACTION_LOOP`. */
export const hasBit = (actions: Actions, at: number, bit: number): boolean =>
  (actions[at + ACTION_LOOP] & bit) !== 0;

export const isReversed = (actions: Actions, at: number): boolean => hasBit(actions, at, REVERSED);

/** Whether an action is the rest pose, which shows wherever weights leave room for it, without a weight of its own. */
export const isRest = (actions: Actions, at: number): boolean => actions[at + ACTION_START] === REST_FRAME;

/** Whether an action's clip does not move, however much time passes. */
export const standsStill = (actions: Actions, at: number): boolean =>
  actions[at + ACTION_RATE] === 0 || hasBit(actions, at, FINISHED);

/** Whether an action has moved since its numbers were written; until then, no pass has begun or ended. */
export const hasMoved = (actions: Actions, at: number, time: number): boolean =>
  !standsStill(actions, at) && Math.abs(time - actions[at + ACTION_SINCE]) >= TIME_EPSILON;

/** Whether an action's clip was started, or its time set, at this very moment: what lies right there is still to be told of. */
export const hasJustBegun = (actions: Actions, at: number, time: number): boolean =>
  Math.abs(time - actions[at + ACTION_STARTED]) < TIME_EPSILON &&
  !Number.isNaN(actions[at + ACTION_STARTED_IN]);

/** How much of an action's fade is done, 0 to 1. */
export const fadeDone = (actions: Actions, at: number, time: number): number =>
  rampDone(actions, at + ACTION_FROM, time);

/** What an action's fade has come to. */
export const weightAt = (actions: Actions, at: number, time: number): number =>
  rampAt(actions, at + ACTION_FROM, time);

/** Lets an action's fade go from what it is to another weight, within so many seconds. */
export const fadeTo = (actions: Actions, at: number, time: number, weight: number, seconds: number): void =>
  rampTo(actions, at + ACTION_FROM, time, weight, seconds);

/** Moves the times of an action by so many seconds. */
export function shiftAction(actions: Actions, at: number, seconds: number): void {
  actions[at + ACTION_SINCE] += seconds;
  actions[at + ACTION_WARP_START] += seconds;
  actions[at + ACTION_FADE_START] += seconds;
}

// A ramp is a number that goes evenly to another one within a time, as four numbers of an array from a place `at`: weights of
// clips and of layers. Shaders read the same four numbers.

/** The number at the start, and from the end on. */
export const RAMP_FROM = 0;
export const RAMP_TO = 1;
export const RAMP_START = 2;
/** Share of the way that is done each second; 0 when there is none, and the number is `RAMP_TO`. */
export const RAMP_RATE = 3;
/** Numbers of a ramp. */
export const RAMP_SIZE = 4;

/** How much of the way is done, 0 to 1. */
export function rampDone(ramps: Actions, at: number, time: number): number {
  const rate = ramps[at + RAMP_RATE];
  return rate === 0 ? 1 : Math.min(Math.max((time - ramps[at + RAMP_START]) * rate, 0), 1);
}

/** What the number is. */
export function rampAt(ramps: Actions, at: number, time: number): number {
  if (ramps[at + RAMP_RATE] === 0) return ramps[at + RAMP_TO];
  const from = ramps[at + RAMP_FROM];
  return from + (ramps[at + RAMP_TO] - from) * rampDone(ramps, at, time);
}

/** Lets the number go from what it is to another, within so many seconds. */
export function rampTo(ramps: Actions, at: number, time: number, value: number, seconds: number): void {
  ramps[at + RAMP_FROM] = seconds > 0 ? rampAt(ramps, at, time) : value;
  ramps[at + RAMP_TO] = value;
  ramps[at + RAMP_START] = time;
  ramps[at + RAMP_RATE] = seconds > 0 ? 1 / seconds : 0;
}

/** Lets the number stay what it comes to. */
export function endRamp(ramps: Actions, at: number): void {
  ramps[at + RAMP_FROM] = ramps[at + RAMP_TO];
  ramps[at + RAMP_RATE] = 0;
}
