import { LOOP_PING_PONG, REPEAT_FOREVER } from '../constants.js';

/**
 * How one clip plays on one instance, as numbers that are written only when something changes: `ACTION_SIZE` numbers of an
 * array, from a place `at`.
 *
 * They say where the clip was at one moment, as an `AnimationAction` would: at second `ACTION_SINCE`, `ACTION_PLACE` is the
 * action's `time` in frames and `ACTION_PASS` its `_loopCount`. From there the clip moves at `ACTION_RATE`. Times are seconds since the crowd's beginning.
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
/** Frames per second by its time scale alone, negative in reverse. */
export const ACTION_RATE = 4;
/** Number of the pass at `ACTION_SINCE`, as `AnimationAction` counts its loops: -1 until the clip has moved forward once. */
export const ACTION_PASS = 5;
/** Frames into the clip at `ACTION_SINCE`. */
export const ACTION_PLACE = 6;
/** A ramp of the factor by which a warp multiplies `ACTION_RATE`: 1 without a warp, and 0 while an action of an object is held. */
export const ACTION_WARP = 7;
/** A ramp of the weight; `rampAt` of `shaders/fadesAndFrames.glsl.ts` is its twin on the GPU. */
export const ACTION_WEIGHT = 11;
/** What was saved ends here. */
export const ACTION_SINCE = 15;
/** When the clip was started, or its time set. */
export const ACTION_STARTED = 16;
/**
 * The pass the clip was in when it was started or its time was set; NaN after loading from JSON what was not
 * started at that very moment, so that nothing at that place is dispatched again.
 */
export const ACTION_STARTED_IN = 17;
/** The event that comes next, while somebody listens: see `PlaybackEvents`. */
export const ACTION_EVENT = 18;

/** Frames into the clip at which it was told to start; NaN where that was not said. */
export const ACTION_TOLD_TIME = 22;
/** When `play` last let it go on. */
export const ACTION_TOLD_AGAIN = 23;

/** Numbers of an action. */
export const ACTION_SIZE = 24;

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

/** Empties an action. */
export function clearAction(actions: Actions, at: number): void {
  // For so few numbers `fill` takes several times as long.
  for (let i = at; i < at + ACTION_SIZE; i++) actions[i] = 0;
  actions[at + ACTION_COUNT] = 1;
  setRamp(actions, at + ACTION_WARP, 1);
  setRamp(actions, at + ACTION_WEIGHT, 1);
}

/** Intervals between the clip's frames; 0 for a pose. */
export const intervalsOf = (actions: Actions, at: number): number => actions[at + ACTION_COUNT] - 1;

/** Whether an action has a bit in `ACTION_LOOP`. */
export const hasBit = (actions: Actions, at: number, bit: number): boolean =>
  (actions[at + ACTION_LOOP] & bit) !== 0;

export const isReversed = (actions: Actions, at: number): boolean => hasBit(actions, at, REVERSED);

/** Frames per second of an action, without a warp that is under way; 0 while it is held. */
export const rateOf = (actions: Actions, at: number): number =>
  actions[at + ACTION_RATE] * (isWarping(actions, at) ? 1 : actions[at + ACTION_WARP + RAMP_TO]);

/** Whether an action has a warp, which may be over. */
export const isWarping = (actions: Actions, at: number): boolean =>
  actions[at + ACTION_WARP + RAMP_RATE] !== 0;

/** Whether an action's clip does not move, however much time passes. */
export const standsStill = (actions: Actions, at: number): boolean =>
  rateOf(actions, at) === 0 || hasBit(actions, at, FINISHED);

/** Whether an action has moved since its numbers were written; until then, no pass has begun or ended. */
export const hasMoved = (actions: Actions, at: number, time: number): boolean =>
  !standsStill(actions, at) && Math.abs(time - actions[at + ACTION_SINCE]) >= TIME_EPSILON;

/** Whether an action's clip was started, or its time set, at this very moment: what lies right there is still to be told of. */
export const hasJustBegun = (actions: Actions, at: number, time: number): boolean =>
  Math.abs(time - actions[at + ACTION_STARTED]) < TIME_EPSILON &&
  !Number.isNaN(actions[at + ACTION_STARTED_IN]);

/** How much of an action's fade is done, 0 to 1. */
export const fadeDone = (actions: Actions, at: number, time: number): number =>
  rampDone(actions, at + ACTION_WEIGHT, time);

/** Lets an action's fade go from what it is to another weight, within so many seconds. */
export const fadeTo = (actions: Actions, at: number, time: number, weight: number, seconds: number): void =>
  rampTo(actions, at + ACTION_WEIGHT, time, weight, seconds);

/** Moves the times of an action by so many seconds. */
export function shiftAction(actions: Actions, at: number, seconds: number): void {
  actions[at + ACTION_SINCE] += seconds;
  actions[at + ACTION_WARP + RAMP_START] += seconds;
  actions[at + ACTION_WEIGHT + RAMP_START] += seconds;
}

// A ramp is a number that goes evenly to another one within a time, as four numbers of an array from a place `at`: what a fade
// does to the weight of a clip or a layer, and a warp to a speed. Shaders read the same four numbers of weights.

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

/** Lets the number be another one for good. */
export function setRamp(ramps: Actions | Float32Array, at: number, value: number): void {
  ramps[at + RAMP_FROM] = ramps[at + RAMP_TO] = value;
  ramps[at + RAMP_RATE] = 0;
}

/**
 * How time becomes passes of a clip and places in it, and how these become times again; and how the numbers of an action change.
 * What shaders need of it is `frameAt` of `shaders/fadesAndFrames.glsl.ts`.
 *
 * An action's `total` is the number of frames it has come to since the start of pass `basePass`: it runs on through the
 * passes that follow, and below zero in reverse.
 */

/** Where a clip is. */
export interface Place {
  /** Number of the pass, as in `ACTION_PASS`. */
  pass: number;
  /** Frames into the clip, as `AnimationAction.time` counts: from its start, also on the way back of a ping-pong. */
  within: number;
  /** Whether it has run all its repetitions. */
  finished: boolean;
}

/** Whether an action has a warp that changes nothing any more. */
export function warpIsOver(actions: Actions, at: number, time: number): boolean {
  const ramp = at + ACTION_WARP;
  return (time - actions[ramp + RAMP_START]) * actions[ramp + RAMP_RATE] > 1;
}

/** Seconds of its own time by which a warp puts an action ahead of where the speed at its end leads. */
function aheadAt(actions: Actions, at: number, time: number): number {
  const ramp = at + ACTION_WARP;
  if (!isWarping(actions, at)) return 0;
  const left = 1 - rampDone(actions, ramp, time);
  return (
    ((actions[ramp + RAMP_TO] - actions[ramp + RAMP_FROM]) * left * left) / (2 * actions[ramp + RAMP_RATE])
  );
}

/** The total that an action has come to. */
export function totalAt(actions: Actions, at: number, time: number): number {
  const since = actions[at + ACTION_SINCE];
  const ahead = aheadAt(actions, at, time) - aheadAt(actions, at, since);
  const seconds = actions[at + ACTION_WARP + RAMP_TO] * (time - since) + ahead;
  return actions[at + ACTION_PLACE] + actions[at + ACTION_RATE] * seconds;
}

/** The pass from whose start totals count: forward there is none before 0, unless the time was turned back to before it. */
export function basePass(actions: Actions, at: number): number {
  const pass = actions[at + ACTION_PASS];
  const isForward = rateOf(actions, at) !== 0 && !isReversed(actions, at);
  return isForward && hasBit(actions, at, FIRST) ? Math.max(pass, 0) : pass;
}

/** After how many passes, that one included, the clip has finished: at least 1, and `REPEAT_FOREVER` if it never does. */
export function passesLeft(actions: Actions, at: number): number {
  if (hasBit(actions, at, ONCE)) return 1;
  const repetitions = actions[at + ACTION_REPETITIONS];
  if (repetitions >= REPEAT_FOREVER) return REPEAT_FOREVER;
  return Math.max(Math.ceil(repetitions - basePass(actions, at)), 1);
}

/** Number of the pass in which the clip finishes; infinite if it never does. */
export function lastPass(actions: Actions, at: number): number {
  const left = passesLeft(actions, at);
  return left >= REPEAT_FOREVER ? Infinity : basePass(actions, at) + left - 1;
}

/**
 * Where an action is that has come to a total.
 *
 * @param still Whether it is held there: then no pass has begun since, not even at the very end of one.
 */
export function locate(actions: Actions, at: number, total: number, still: boolean, target: Place): Place {
  const intervals = intervalsOf(actions, at);
  const moves = !still && rateOf(actions, at) !== 0;
  const reverse = isReversed(actions, at);
  target.finished = hasBit(actions, at, FINISHED);
  target.pass = actions[at + ACTION_PASS];
  target.within = 0;
  if (intervals < 1) return target;
  if (target.finished) {
    target.within = actions[at + ACTION_PLACE];
    return target;
  }

  // As in `AnimationAction`, a pass forward ends at the duration, and one in reverse only below zero.
  const lengths = moves ? Math.floor(total / intervals) : 0;
  // Rounding must not lead to a pass before the first.
  const since = Math.max(reverse ? -lengths : lengths, hasBit(actions, at, FIRST) ? 0 : -Infinity);
  if (moves) target.pass = basePass(actions, at) + since;
  const left = passesLeft(actions, at);
  if (since >= left && left < REPEAT_FOREVER) {
    target.finished = true;
    target.pass = basePass(actions, at) + left - 1;
    target.within = reverse ? 0 : intervals;
  } else {
    const start = (reverse ? -since : since) * intervals;
    target.within = Math.min(Math.max(total - start, 0), intervals);
  }
  return target;
}

/** Whether a pass shows the clip from its other end: every second one of a ping-pong. */
export function isMirrored(actions: Actions, at: number, pass: number): boolean {
  return pass % 2 !== 0 && hasBit(actions, at, LOOP_PING_PONG);
}

/** Frame of the clip at which a pass is that has come so far into it; and the other way round. */
export function mirrored(within: number, intervals: number, isMirrored: boolean): number {
  return isMirrored ? intervals - within : within;
}

/** Frame of the clip that an action shows at a place. */
export function frameOf(actions: Actions, at: number, { pass, within, finished }: Place): number {
  // In reverse three.js does not count the first pass: it numbers it -1, and mirrors it, while it runs.
  const counts =
    pass >= 0 ||
    !hasBit(actions, at, FIRST) ||
    (!finished && isReversed(actions, at) && rateOf(actions, at) !== 0);
  return mirrored(within, intervalsOf(actions, at), counts && isMirrored(actions, at, pass));
}

/** Frames into the clip at which a pass ends. */
export function endOfPass(actions: Actions, at: number): number {
  return isReversed(actions, at) ? 0 : intervalsOf(actions, at);
}

/**
 * When an action that does not fade out comes to a place: seconds; infinite when it stands still.
 */
export function timeAt(actions: Actions, at: number, pass: number, within: number): number {
  if (standsStill(actions, at)) return Infinity;
  const passes = (pass - basePass(actions, at)) * intervalsOf(actions, at);
  const total = within + (isReversed(actions, at) ? -passes : passes);
  const since = actions[at + ACTION_SINCE];
  const seconds =
    (total - actions[at + ACTION_PLACE]) / actions[at + ACTION_RATE] + aheadAt(actions, at, since);
  const ramp = at + ACTION_WARP;
  const goal = actions[ramp + RAMP_TO];
  const after = since + seconds / goal;
  if (!isWarping(actions, at)) return after;

  // The sign of the factor, by which the clip runs as it does.
  const sign = actions[at + ACTION_RATE] < 0 === isReversed(actions, at) ? 1 : -1;
  const length = 1 / actions[ramp + RAMP_RATE];
  const end = actions[ramp + RAMP_START] + length;
  if (goal * sign > 0 && after >= end) return after;
  // With time = end - left * length, that is change * left² / 2 - goal * left = past / length.
  const change = goal - actions[ramp + RAMP_FROM];
  const past = (seconds - goal * (end - since)) / length;
  const square = goal * goal + 2 * change * past;
  // It stops before.
  if (square < 0) return Infinity;
  return end + ((2 * past) / (goal + sign * Math.sqrt(square)) || 0) * length;
}

const _place: Place = { pass: 0, within: 0, finished: false };

/** Share of a clip's length by which a time that was computed from its duration may be off. */
const LENGTH_EPSILON = 1e-9;

/** Writes place and pass at `time` into an action, so that its speed may change from there. Not for paused instances. */
export function settle(actions: Actions, at: number, time: number): void {
  if (!hasMoved(actions, at, time)) return;
  const { pass, within, finished } = locate(actions, at, totalAt(actions, at, time), false, _place);
  if (finished) {
    actions[at + ACTION_LOOP] |= FINISHED;
    actions[at + ACTION_PLACE] = within;
  } else {
    if (pass !== basePass(actions, at)) actions[at + ACTION_LOOP] &= ~FIRST;
    actions[at + ACTION_PLACE] = within;
    actions[at + ACTION_SINCE] = time;
  }
  actions[at + ACTION_PASS] = pass;
}

/** Lets an action that is settled at `time` go on from there at another speed; a warp under way goes on, in proportion. */
export function changeRate(actions: Actions, at: number, time: number, rate: number): void {
  const turned = rate !== 0 && rate < 0 !== isReversed(actions, at);
  // In the new direction, nothing was played yet.
  if (turned) actions[at + ACTION_LOOP] = (actions[at + ACTION_LOOP] ^ REVERSED) | FIRST;
  if (!isWarping(actions, at)) setRamp(actions, at + ACTION_WARP, 1);
  if (!hasBit(actions, at, FINISHED)) actions[at + ACTION_SINCE] = time;
  actions[at + ACTION_RATE] = rate;
}

/** Lets an action count as one that fades out under one that was started later. */
export function startFadingOut(actions: Actions, at: number, time: number): void {
  endWarp(actions, at, time);
  actions[at + ACTION_LOOP] |= FADING_OUT;
}

/** Ends the warp of an action, whose clip goes on at the speed that warping has brought it to. */
export function endWarp(actions: Actions, at: number, time: number): void {
  if (!isWarping(actions, at)) return;
  settle(actions, at, time);
  const rate = actions[at + ACTION_RATE] * rampAt(actions, at + ACTION_WARP, time);
  setRamp(actions, at + ACTION_WARP, 1);
  changeRate(actions, at, time, rate);
}

/**
 * Puts an action at a time that may lie outside of the clip.
 *
 * One that moves goes on as an `AnimationAction` with such a time does, which counts whole lengths of the clip as passes;
 * one that is held shows the nearest end.
 *
 * @param frames From the clip's start.
 */
export function setPlace(actions: Actions, at: number, time: number, frames: number, paused: boolean): void {
  const intervals = intervalsOf(actions, at);
  actions[at + ACTION_LOOP] = (actions[at + ACTION_LOOP] & ~FINISHED) | FIRST;
  actions[at + ACTION_SINCE] = time;
  actions[at + ACTION_PLACE] = Math.min(Math.max(frames, 0), intervals);
  if (!paused) countLengths(actions, at, frames);
}

/** Counts whole lengths of the clip in `frames`, where an action is that will move, as passes. */
function countLengths(actions: Actions, at: number, frames: number): void {
  const intervals = intervalsOf(actions, at);
  const reverse = isReversed(actions, at);
  if (intervals < 1 || rateOf(actions, at) === 0 || frames === 0) return;
  // In reverse both ends lie within the clip: zero, and the duration, which was multiplied and is rounded.
  const inLengths = frames / intervals;
  const lengths = reverse ? Math.ceil(inLengths - LENGTH_EPSILON) - 1 : Math.floor(inLengths);
  if (lengths === 0) return;

  const passes = Math.abs(lengths);
  const left = passesLeft(actions, at);
  const base = basePass(actions, at);
  if (passes < left || left >= REPEAT_FOREVER) {
    actions[at + ACTION_PASS] = base + passes;
    actions[at + ACTION_PLACE] = Math.min(Math.max(frames - lengths * intervals, 0), intervals);
    return;
  }
  actions[at + ACTION_LOOP] |= FINISHED;
  actions[at + ACTION_PASS] = base + left - 1;
  if (!hasBit(actions, at, ONCE)) actions[at + ACTION_PLACE] = reverse ? 0 : intervals;
}
