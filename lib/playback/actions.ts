import { LOOP_PING_PONG, REPEAT_FOREVER, REST_FRAME } from '../constants.js';

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
/** The weight is a ramp, see `RAMP_FROM`, and `rampAt` of `shaders/frameAt.glsl.ts` for the GPU. */
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

/** Frames into the clip at which it was told to start; NaN where that was not said. */
export const ACTION_TOLD_TIME = 21;
/** When `play` last let it go on. */
export const ACTION_TOLD_AGAIN = 22;

/** Numbers of an action. */
export const ACTION_SIZE = 23;

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
// 256 is `LEADING` of LayerActions. Of an action of an object that is held: its speed is `ACTION_WARP_RATE` while it has no warp.
/** It is paused. */
export const PAUSED = 512;
/** It begins at `ACTION_WARP_START`. */
export const WAITING = 1024;

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

/**
 * How time becomes passes of a clip and places in it, and how these become times again; and how the numbers of an action change.
 * What shaders need of it is `frameAt` of `shaders/frameAt.glsl.ts`.
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

/** Seconds of its own time that warping puts an action's clip ahead. */
export function aheadAt(actions: Actions, at: number, time: number): number {
  const warp = actions[at + ACTION_WARP];
  if (warp === 0) return 0;
  const rate = actions[at + ACTION_WARP_RATE];
  const done = Math.min(Math.max((time - actions[at + ACTION_WARP_START]) * Math.abs(rate), 0), 1);
  return warp * (rate > 0 ? done : 1 - done) ** 2;
}

/** Whether an action has a warp that changes nothing any more. */
export function warpIsOver(actions: Actions, at: number, time: number): boolean {
  const passed = time - actions[at + ACTION_WARP_START];
  return actions[at + ACTION_WARP] !== 0 && passed * Math.abs(actions[at + ACTION_WARP_RATE]) > 1;
}

/** The total that an action has come to. */
export function totalAt(actions: Actions, at: number, time: number): number {
  const seconds = time - actions[at + ACTION_SINCE] + aheadAt(actions, at, time);
  return actions[at + ACTION_PLACE] + actions[at + ACTION_RATE] * seconds;
}

/** The pass from whose start totals count: forward there is none before 0, unless the time was turned back to before it. */
export function basePass(actions: Actions, at: number): number {
  const pass = actions[at + ACTION_PASS];
  return actions[at + ACTION_RATE] > 0 && hasBit(actions, at, FIRST) ? Math.max(pass, 0) : pass;
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
  const rate = still ? 0 : actions[at + ACTION_RATE];
  target.finished = hasBit(actions, at, FINISHED);
  target.pass = actions[at + ACTION_PASS];
  target.within = 0;
  if (intervals < 1) return target;
  if (target.finished) {
    target.within = actions[at + ACTION_PLACE];
    return target;
  }

  // As in `AnimationAction`, a pass forward ends at the duration, and one in reverse only below zero.
  const lengths = rate === 0 ? 0 : Math.floor(total / intervals);
  // Rounding must not lead to a pass before the first.
  const since = Math.max(rate < 0 ? -lengths : lengths, hasBit(actions, at, FIRST) ? 0 : -Infinity);
  if (rate !== 0) target.pass = basePass(actions, at) + since;
  const left = passesLeft(actions, at);
  if (since >= left && left < REPEAT_FOREVER) {
    target.finished = true;
    target.pass = basePass(actions, at) + left - 1;
    target.within = rate < 0 ? 0 : intervals;
  } else {
    const start = (rate < 0 ? -since : since) * intervals;
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
  const counts = pass >= 0 || !hasBit(actions, at, FIRST) || (!finished && actions[at + ACTION_RATE] < 0);
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
  const rate = actions[at + ACTION_RATE];
  const passes = (pass - basePass(actions, at)) * intervalsOf(actions, at);
  const total = within + (rate < 0 ? -passes : passes);
  const since = actions[at + ACTION_SINCE];
  const seconds = (total - actions[at + ACTION_PLACE]) / rate;
  const warp = actions[at + ACTION_WARP];
  if (warp === 0) return since + seconds;

  // While the warp lasts, seconds = time - since + warp * left², where left is the share of it that is not done.
  const warpRate = -actions[at + ACTION_WARP_RATE];
  const end = actions[at + ACTION_WARP_START] + 1 / warpRate;
  const early = end - since - seconds;
  if (early <= 0) return since + seconds;
  // With time = end - left / warpRate, that is warp * left² - left / warpRate + early = 0.
  const b = 1 / warpRate;
  const left = (2 * early) / (b + Math.sqrt(Math.max(b * b - 4 * warp * early, 0)));
  return end - left / warpRate;
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
    actions[at + ACTION_PLACE] = within - actions[at + ACTION_RATE] * aheadAt(actions, at, time);
    actions[at + ACTION_SINCE] = time;
  }
  actions[at + ACTION_PASS] = pass;
}

/** Lets an action that is settled at `time` go on from there at another speed; a warp under way goes on, in proportion. */
export function changeRate(actions: Actions, at: number, time: number, rate: number): void {
  const turned = rate !== 0 && rate < 0 !== isReversed(actions, at);
  // In the new direction, nothing was played yet.
  if (turned) actions[at + ACTION_LOOP] = (actions[at + ACTION_LOOP] ^ REVERSED) | FIRST;
  if (!hasBit(actions, at, FINISHED)) {
    actions[at + ACTION_PLACE] += (actions[at + ACTION_RATE] - rate) * aheadAt(actions, at, time);
    actions[at + ACTION_SINCE] = time;
  }
  actions[at + ACTION_RATE] = rate;
}

/** Lets an action count as one that fades out under one that was started later. */
export function startFadingOut(actions: Actions, at: number, time: number): void {
  if (actions[at + ACTION_WARP] !== 0) endWarp(actions, at, time);
  actions[at + ACTION_LOOP] |= FADING_OUT;
}

/** Ends the warp of an action, whose clip goes on at the speed that warping has brought it to. */
export function endWarp(actions: Actions, at: number, time: number): void {
  const warp = actions[at + ACTION_WARP];
  if (warp === 0) return;
  settle(actions, at, time);
  const rate = actions[at + ACTION_RATE];
  if (!hasBit(actions, at, FINISHED)) {
    actions[at + ACTION_PLACE] += rate * aheadAt(actions, at, time);
    actions[at + ACTION_SINCE] = time;
  }
  actions[at + ACTION_WARP] = 0;
  const warpRate = actions[at + ACTION_WARP_RATE];
  const done = (time - actions[at + ACTION_WARP_START]) * Math.abs(warpRate);
  // Beyond its ends, a warp does not change the speed.
  if (done < 0 || done > 1) return;
  const faster = 2 * warp * warpRate * (warpRate > 0 ? done : 1 - done);
  changeRate(actions, at, time, rate * (1 + faster));
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
  if (hasBit(actions, at, FINISHED)) return;
  actions[at + ACTION_PLACE] -= actions[at + ACTION_RATE] * aheadAt(actions, at, time);
}

/** Counts whole lengths of the clip in `frames`, where an action is that will move, as passes. */
function countLengths(actions: Actions, at: number, frames: number): void {
  const intervals = intervalsOf(actions, at);
  const rate = actions[at + ACTION_RATE];
  if (intervals < 1 || rate === 0 || frames === 0) return;
  // In reverse both ends lie within the clip: zero, and the duration, which was multiplied and is rounded.
  const inLengths = frames / intervals;
  const lengths = rate < 0 ? Math.ceil(inLengths - LENGTH_EPSILON) - 1 : Math.floor(inLengths);
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
  if (!hasBit(actions, at, ONCE)) actions[at + ACTION_PLACE] = rate < 0 ? 0 : intervals;
}

/**
 * Warps both clips of a fade that begins, so that at its start both have the speed of the first one's length and at its
 * end of the second one's: as `AnimationAction.crossFadeTo` does with `warp`.
 *
 * @param fadingOut Actions in which the first clip is; null if it shows no more.
 * @param ratio Length of the clip that fades out to that of the other.
 * @param fade Seconds.
 */
export function startWarp(
  fadingIn: Actions,
  fadingOut: Actions | null,
  at: number,
  time: number,
  ratio: number,
  fade: number,
): void {
  fadingIn[at + ACTION_WARP] = ((1 - 1 / ratio) * fade) / 2;
  fadingIn[at + ACTION_WARP_START] = time;
  fadingIn[at + ACTION_WARP_RATE] = -1 / fade;
  if (fadingOut === null) return;
  fadingOut[at + ACTION_WARP] = ((ratio - 1) * fade) / 2;
  fadingOut[at + ACTION_WARP_START] = time;
  fadingOut[at + ACTION_WARP_RATE] = 1 / fade;
}
