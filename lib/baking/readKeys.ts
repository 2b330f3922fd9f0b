import { AdditiveAnimationBlendMode, type AnimationClip, Quaternion } from 'three';
import { ROTATION, SLOT_PARTS, slotsOf, TRANSLATION } from '../animation/PoseTracks.js';
import { MAX_TRACK_TEXELS } from '../animation/trackTexels.js';
import type { Steps } from '../utils/steps.js';
import { type BoundClip, type Channel, CURVE, MORPHS, repeats, STEPS, STILL, valueAt } from './channels.js';
import { KEY_TOLERANCE } from './planClips.js';
import type { Skeleton } from './skeleton.js';

/** Seconds by which keys may be off their frames where only the frame rate is asked for: files that are text have four or five decimals. */
const LOOSE_TOLERANCE = 2e-4;

/** Into how many parts the way between two frames is divided at once, for keys that lie there. */
const MAX_DIVIDED = 8;

/** Frames that are found by `slotsOf`: their numbers are exact up to 2^24. */
const MAX_DIVIDED_FRAMES = 2 ** 24 / SLOT_PARTS;

/** Frames per second above which a clip counts as having no frame rate. */
const MAX_RATE = 240;

/** Frames per second at which clips that have to be sampled are sampled first where keys do not say it, and fewer that they may not say. */
const FIRST_FPS = 30;
const MIN_RATE = 12;

/**
 * Values that differ by less count as the same: a few steps of float32 at 1. Exporters write joints that stand still with the
 * rounding errors of their arithmetic. For positions, multiplied by the character's size.
 */
const STILL_EPSILON = 3e-7;

/** Seconds by which tracks are read late, so that a key whose time was rounded up is not missed by a track that jumps. */
const KEY_SLACK = 1e-7;

/** Numbers of keys that are read between two steps. */
const NUMBERS = 4096;

const _value = /*@__PURE__*/ new Quaternion();
const _rest = /*@__PURE__*/ new Quaternion();

/** A property of a node, and its keys on the frames of a clip. */
export interface KeyedChannel {
  /** Index among the skeleton's nodes; after them come groups of four morph targets. */
  node: number;
  /** ROTATION, TRANSLATION or SCALE; TRANSLATION for a group of morph targets. */
  property: number;
  /** Whether values jump from key to key. */
  stepped: boolean;
  /** Its value in every frame, `size` numbers each; only the first counts if it never changes. */
  values: ArrayLike<number>;
  /** 4 for rotations and groups of morph targets, else 3. */
  size: number;
  isConstant: boolean;
  /** See `TRACK_TREMBLES`. */
  trembles: boolean;
}

/** A clip as it will be stored. */
export interface KeyedClip {
  fps: number;
  frames: number;
  /** See `TrackClip`. */
  slots: Float32Array | null;
  /** See `TrackClip`. */
  error: number;
  additive: boolean;
  channels: KeyedChannel[];
  /** The way that was taken out of its poses, see `BakedClip.rootMotion`; null if none was. */
  rootMotion: Float32Array | null;
}

/** At what frame rate a clip's keys are read. */
export interface KeyRate {
  /** 0 for a clip that is one pose. */
  fps: number;
  /** Whether keys are on frames, and straight or steps between them, so that they are the clip at any time. */
  isExact: boolean;
  /** Into how many parts the way from each frame to the next is divided, so that further keys are on frames; null for one each. */
  parts: Uint16Array | null;
}

/** The channels of a clip that move a skeleton. */
export function channelsOn(skeleton: Skeleton, { channels }: BoundClip): Channel[] {
  const { place, morphRest } = skeleton;
  return channels.filter(({ node, property }) =>
    property === MORPHS ? morphRest.length > 0 : place[node] !== -1,
  );
}

/** Finds the frame rate for the keys of a clip. */
export function keyRate(channels: readonly Channel[], duration: number): KeyRate {
  const arrays = new Set<ArrayLike<number>>();
  let isExact = true;
  for (const channel of channels) {
    for (const one of channel.tracks) {
      // Of tracks of one name, each changes what the others make.
      if (one.share !== 1) isExact = false;
      const { curve } = one;
      if (curve === STILL) continue;
      // Tracks often share one array of times.
      arrays.add(one.track.times);
      // One component of a vector is as straight as the whole; an angle is not.
      if (curve === STEPS ? channel.track === null : curve === CURVE || one.target.isAngle) isExact = false;
    }
  }
  const times = arrays.size === 0 ? [] : [duration];
  for (const array of arrays) for (let i = 0; i < array.length; i++) times.push(array[i]);
  const fps = isExact ? findKeyGrid(times) : null;
  if (fps !== null) return { fps, isExact, parts: null };
  const grid = findKeyGrid(times, LOOSE_TOLERANCE) || usualRate(arrays);
  // From few frames a second, the way to the next would have to be divided into more parts than there may be.
  const rate = grid * Math.ceil(MIN_RATE / grid);
  return { fps: rate, isExact: false, parts: duration > 0 ? divide(arrays, duration, rate) : null };
}

/** The rate at which most keys follow each other. */
function usualRate(arrays: Iterable<ArrayLike<number>>): number {
  const counts = new Map([[FIRST_FPS, 0]]);
  for (const times of arrays) {
    for (let i = 1; i < times.length; i++) {
      const rate = Math.round(1 / (times[i] - times[i - 1]));
      if (rate >= MIN_RATE && rate <= MAX_RATE) counts.set(rate, (counts.get(rate) ?? 0) + 1);
    }
  }
  const most = Math.max(...counts.values());
  return [...counts.keys()].find((rate) => counts.get(rate) === most) as number;
}

/** Divides the ways between frames so that keys are on frames, as far as few parts do it. */
function divide(arrays: Iterable<ArrayLike<number>>, duration: number, rate: number): Uint16Array {
  const parts = new Uint16Array(intervalsOf(duration, rate)).fill(1);
  const perSecond = parts.length / duration;
  for (const times of arrays) {
    for (let i = 0; i < times.length; i++) {
      const place = times[i] * perSecond;
      const slot = Math.floor(place);
      let count = 1;
      while (count <= MAX_DIVIDED && offGrid(place * count) > LOOSE_TOLERANCE * perSecond * count) count++;
      if (count <= MAX_DIVIDED && parts[slot] % count > 0 && parts[slot] <= MAX_DIVIDED) parts[slot] *= count;
    }
  }
  return parts;
}

const offGrid = (place: number): number => Math.abs(place - Math.round(place));

/** How many times the way between two frames of a clip fits into it. */
const intervalsOf = (duration: number, rate: number): number => Math.max(1, Math.round(duration * rate));

/**
 * Finds the frame rate at which a clip was made: the slowest one at which every key is on a frame, counted from 0. Clips are
 * exported at 24, 30 or 60 frames per second, and keys that are on frames can be stored without a time each.
 *
 * Result for keys at 0, 0.1 and 0.25 s: 20.
 *
 * @param times Key times in seconds, of all tracks, in any order.
 * @param tolerance Seconds by which a key may be off its frame. @default 4e-6
 * @returns 0 if all keys are at 0; null if there is no such rate up to 240 frames per second.
 */
function findKeyGrid(times: readonly number[], tolerance = KEY_TOLERANCE): number | null {
  const sorted = new Float64Array(times).sort().filter((time, i, all) => i === 0 || time !== all[i - 1]);
  let gap = Infinity;
  for (let i = 0; i < sorted.length; i++) {
    const step = sorted[i] - (i === 0 ? 0 : sorted[i - 1]);
    if (step > tolerance) gap = Math.min(gap, step);
  }
  if (gap === Infinity) return 0;

  // The smallest gap between keys may be several frames.
  for (let frames = 1; frames / gap <= MAX_RATE * (1 + KEY_TOLERANCE); frames++) {
    const rate = refined(sorted, frames / gap);
    if (worstOf(sorted, rate) <= tolerance) return rate;
  }
  return null;
}

/** The rate near a guess that fits the keys best. The guess comes from one gap, whose rounding adds up over many frames. */
function refined(sorted: Float64Array, guess: number): number {
  let rate = guess;
  for (const time of sorted) {
    const frame = Math.round(time * rate);
    // Each key makes the rate more precise, as long as it is clear which frame the key is on.
    if (frame > 0 && Math.abs(time * rate - frame) < 0.1) rate = frame / time;
  }
  // Exporters write whole rates, or halves.
  const whole = Math.round(rate * 2) / 2;
  if (!(Math.abs(whole - rate) < 1e-3 * rate && whole > 0)) return rate;
  return worstOf(sorted, whole) <= Math.max(worstOf(sorted, rate), KEY_TOLERANCE / 4) ? whole : rate;
}

/** How far a key is off its frame at most, in seconds. */
function worstOf(sorted: Float64Array, rate: number): number {
  let worst = 0;
  for (const time of sorted) worst = Math.max(worst, Math.abs(Math.round(time * rate) / rate - time));
  return worst;
}

/**
 * Reads the keys of channels at a frame rate: as they are where they are on its frames, sampled where they are not.
 *
 * @param size Of the character, in scene units.
 * @returns null if they are more than any texture holds.
 */
export function* readKeys(
  { place, parents }: Skeleton,
  channels: readonly Channel[],
  { duration, blendMode }: AnimationClip,
  { fps: rate, parts }: Pick<KeyRate, 'fps' | 'parts'>,
  size: number,
): Steps<KeyedClip | null> {
  const intervals = rate === 0 ? 0 : intervalsOf(duration, rate);
  const step = intervals === 0 ? 0 : duration / intervals;
  const slots = parts?.some((count) => count > 1) ? slotsOf(parts) : null;
  const times =
    slots &&
    [...(parts ?? []), 1].flatMap((count, slot) =>
      Array.from({ length: count }, (_, part) => (slot + part / count) * step),
    );
  const frames = times?.length ?? intervals + 1;
  if (slots !== null && frames > MAX_DIVIDED_FRAMES) return null;
  const keyed: KeyedChannel[] = [];
  let moving = 0;
  let numbers = 0;
  const add = (
    node: number,
    property: number,
    values: ArrayLike<number>,
    width: number,
    steps: boolean,
    isConstant = frames === 1 || staysStill(values, width, property, size),
  ) => {
    if (!isConstant) moving++;
    const trembles = isConstant && tremblesIn(values, width, steps || property === ROTATION);
    const stepped = steps && !isConstant;
    keyed.push({ node, property, stepped, values, size: width, isConstant, trembles });
  };
  for (const channel of channels) {
    const { node, property, rest, track } = channel;
    const width = rest.length;
    const steps = track?.curve === STEPS;
    const keys =
      track !== null && track.curve !== CURVE && track.track.getValueSize() === width ? track.track : null;
    // What lies between keys that are the same is the same too.
    if (keys !== null && (frames === 1 || staysStill(keys.values, width, property, size)))
      add(place[node], property, keys.values, width, steps, true);
    else if ((moving + Math.ceil(width / 4)) * frames > MAX_TRACK_TEXELS) return null;
    else if (keys !== null && times === null && isEveryFrame(keys.times, frames, step))
      add(place[node], property, keys.values, width, steps, false);
    else {
      const values = yield* sampled(channel, frames, (frame) => times?.[frame] ?? frame * step);
      if (property !== MORPHS) add(place[node], property, values, width, steps);
      else {
        for (const group of groupsOf(channel)) {
          const four = new Float32Array(frames * 4);
          for (let i = 0; i < four.length; i++) {
            const target = group * 4 + (i & 3);
            if (target < width) four[i] = values[(i >> 2) * width + target];
          }
          add(parents.length + group, TRANSLATION, four, 4, false);
          yield 0;
        }
      }
    }
    numbers += keys?.values.length ?? 0;
    if (numbers < NUMBERS) continue;
    numbers = 0;
    yield 0;
  }
  const additive = blendMode === AdditiveAnimationBlendMode;
  const fps = duration === 0 ? 0 : intervals / duration;
  return { fps, frames, slots, error: 0, additive, channels: keyed, rootMotion: null };
}

/** Whether values are the same, up to rounding. @param size Of the character, in scene units. */
export function staysStill(
  values: ArrayLike<number>,
  width: number,
  property: number,
  size: number,
): boolean {
  return repeats(values, width, STILL_EPSILON * (property === TRANSLATION ? size : 1));
}

/** Groups of four morph targets that tracks move. */
function groupsOf({ tracks }: Channel): Set<number> {
  const groups = new Set<number>();
  for (const {
    target: { first, size },
  } of tracks)
    for (let i = first; i < first + size; i++) groups.add(i >> 2);
  return groups;
}

/** The value of a channel in every frame; of additive clips, by how much it differs from the rest pose. */
function* sampled(channel: Channel, frames: number, timeOf: (frame: number) => number): Steps<Float32Array> {
  const { track, property, rest, additive } = channel;
  const size = rest.length;
  const values = new Float32Array(frames * size);
  const value = new Float64Array(size);
  const pause = Math.ceil(NUMBERS / size);
  for (let frame = 0; frame < frames; frame++) {
    if (frame % pause === pause - 1) yield 0;
    const time = timeOf(frame) + KEY_SLACK;
    if (track !== null) values.set(valueAt(track, time), frame * size);
    else {
      channel.evaluate(time, value, 0);
      if (additive && property === ROTATION) {
        _value.fromArray(value).premultiply(_rest.fromArray(rest).invert()).toArray(value);
      } else if (additive) for (let i = 0; i < size; i++) value[i] -= rest[i];
      values.set(value, frame * size);
    }
  }
  return values;
}

/**
 * Whether `AnimationMixer` finds another value in each frame of what does not change, by some bits: its keys differ by rounding, or
 * what it mixes of two equal ones does. For powers of two that is exact, and where nothing is mixed.
 */
function tremblesIn(values: ArrayLike<number>, size: number, isExact: boolean): boolean {
  if (values.length <= size) return false;
  if (!repeats(values, size, 0)) return true;
  if (isExact) return false;
  for (let i = 0; i < size; i++)
    if (values[i] !== 0 && !Number.isInteger(Math.log2(Math.abs(values[i])))) return true;
  return false;
}

/** Whether there is one key on each frame of a clip. */
function isEveryFrame(times: ArrayLike<number>, frames: number, step: number): boolean {
  if (times.length !== frames) return false;
  for (let frame = 0; frame < frames; frame++) {
    if (!(Math.abs(times[frame] - frame * step) < step / 2)) return false;
  }
  return true;
}
