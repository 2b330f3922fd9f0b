import { LOOP_PING_PONG, REPEAT_FOREVER } from '../constants.js';
import { passesSince } from './frameAt.js';
import {
  FINISHED,
  FIRST,
  hasBit,
  intervalsOf,
  isReversed,
  ONCE,
  SLOT_PASS,
  SLOT_PLACE,
  SLOT_RATE,
  SLOT_REPETITIONS,
  SLOT_SINCE,
  SLOT_WARP,
  SLOT_WARP_RATE,
  SLOT_WARP_START,
  type Slots,
  standsStill,
} from './slots.js';

/**
 * How time becomes passes of a clip and places in it, and how these become times again. What shaders need of it is in
 * `frameAt.ts` and its twins; everything else about loops is here.
 *
 * A slot's `total` is the number of frames it has come to since the start of pass `basePass`: it runs on through the
 * passes that follow, and below zero in reverse.
 */

/** Where a clip is. */
export interface Place {
  /** Number of the pass, as in `SLOT_PASS`. */
  pass: number;
  /** Frames into the clip, as `AnimationAction.time` counts: from its start, also on the way back of a ping-pong. */
  within: number;
  /** Whether it has run all its repetitions. */
  finished: boolean;
}

/** Seconds of its own time that warping puts a slot's clip ahead. */
export function aheadAt(slots: Slots, at: number, clock: number): number {
  const warp = slots[at + SLOT_WARP];
  if (warp === 0) return 0;
  const rate = slots[at + SLOT_WARP_RATE];
  const done = Math.min(Math.max((clock - slots[at + SLOT_WARP_START]) * Math.abs(rate), 0), 1);
  return warp * (rate > 0 ? done : 1 - done) ** 2;
}

/** The total that a slot has come to. */
export function totalAt(slots: Slots, at: number, clock: number): number {
  const seconds = clock - slots[at + SLOT_SINCE] + aheadAt(slots, at, clock);
  return slots[at + SLOT_PLACE] + slots[at + SLOT_RATE] * seconds;
}

/** The pass from whose start totals count: forward there is none before 0, unless the clock was turned back to before it. */
export function basePass(slots: Slots, at: number): number {
  const pass = slots[at + SLOT_PASS];
  return slots[at + SLOT_RATE] > 0 && hasBit(slots, at, FIRST) ? Math.max(pass, 0) : pass;
}

/** After how many passes, that one included, the clip has finished: at least 1, and `REPEAT_FOREVER` if it never does. */
export function passesLeft(slots: Slots, at: number): number {
  if (hasBit(slots, at, ONCE)) return 1;
  const repetitions = slots[at + SLOT_REPETITIONS];
  if (repetitions >= REPEAT_FOREVER) return REPEAT_FOREVER;
  return Math.max(Math.ceil(repetitions - basePass(slots, at)), 1);
}

/** Number of the pass in which the clip finishes; infinite if it never does. */
export function lastPass(slots: Slots, at: number): number {
  const left = passesLeft(slots, at);
  return left >= REPEAT_FOREVER ? Infinity : basePass(slots, at) + left - 1;
}

/**
 * Where a slot is that has come to a total.
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

/** Whether a pass shows the clip from its other end: every second one of a ping-pong. */
export function isMirrored(slots: Slots, at: number, pass: number): boolean {
  return pass % 2 !== 0 && hasBit(slots, at, LOOP_PING_PONG);
}

/** Frame of the clip at which a pass is that has come so far into it; and the other way round. */
export function mirrored(within: number, intervals: number, isMirrored: boolean): number {
  return isMirrored ? intervals - within : within;
}

/** Frame of the clip that a slot shows at a place. */
export function frameOf(slots: Slots, at: number, { pass, within, finished }: Place): number {
  // In reverse three.js does not count the first pass: it numbers it -1, and mirrors it, until it has ended.
  const counts = pass >= 0 || !hasBit(slots, at, FIRST) || (!finished && isReversed(slots, at));
  return mirrored(within, intervalsOf(slots, at), counts && isMirrored(slots, at, pass));
}

/** Frames into the clip at which a pass ends. */
export function endOfPass(slots: Slots, at: number): number {
  return isReversed(slots, at) ? 0 : intervalsOf(slots, at);
}

/**
 * When a slot that does not fade out comes to a place: seconds of the clock; infinite when it stands still.
 */
export function clockAt(slots: Slots, at: number, pass: number, within: number): number {
  if (standsStill(slots, at)) return Infinity;
  const rate = slots[at + SLOT_RATE];
  const passes = (pass - basePass(slots, at)) * intervalsOf(slots, at);
  const total = within + (rate < 0 ? -passes : passes);
  const since = slots[at + SLOT_SINCE];
  const seconds = (total - slots[at + SLOT_PLACE]) / rate;
  const warp = slots[at + SLOT_WARP];
  if (warp === 0) return since + seconds;

  // While the warp lasts, seconds = clock - since + warp * left², where left is the share of it that is not done.
  const warpRate = -slots[at + SLOT_WARP_RATE];
  const end = slots[at + SLOT_WARP_START] + 1 / warpRate;
  const early = end - since - seconds;
  if (early <= 0) return since + seconds;
  // With clock = end - left / warpRate, that is warp * left² - left / warpRate + early = 0.
  const b = 1 / warpRate;
  const left = (2 * early) / (b + Math.sqrt(Math.max(b * b - 4 * warp * early, 0)));
  return end - left / warpRate;
}

/** The way of a slot through its clip, pass by pass. */
export interface Way {
  /** Frames into the first pass at which it begins, and into the last at which it ends. */
  from: number;
  to: number;
  /** Frames into a pass at which each pass between begins, and ends. */
  start: number;
  end: number;
  /** Whole passes between the first and the last; -1 if these are the same pass. */
  between: number;
  /** Whether the first pass is mirrored; in a ping-pong the next is not, and so on. */
  firstMirrored: boolean;
}

/**
 * The way of a slot from one total to another, as far as the clip has not finished before.
 *
 * @returns Whether it moves at all.
 */
export function wayBetween(slots: Slots, at: number, from: number, to: number, target: Way): boolean {
  const intervals = intervalsOf(slots, at);
  if (intervals < 1 || from === to || hasBit(slots, at, FINISHED)) return false;
  const reverse = slots[at + SLOT_RATE] < 0;
  const left = passesLeft(slots, at);
  const end = reverse ? Math.max(to, (1 - left) * intervals) : Math.min(to, left * intervals);
  if (reverse ? from <= end : from >= end) return false;

  // Lengths of the clip from where totals count to the first and the last pass.
  const first = reverse ? Math.ceil(from / intervals) - 1 : Math.floor(from / intervals);
  const last = reverse ? Math.floor(end / intervals) : Math.ceil(end / intervals) - 1;
  target.from = from - first * intervals;
  target.to = end - last * intervals;
  target.start = reverse ? intervals : 0;
  target.end = intervals - target.start;
  target.between = Math.abs(last - first) - 1;
  target.firstMirrored = isMirrored(slots, at, basePass(slots, at) + first);
  return true;
}
