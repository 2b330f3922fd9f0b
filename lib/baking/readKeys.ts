import { AdditiveAnimationBlendMode, type AnimationClip, type KeyframeTrack, Quaternion } from 'three';
import { ROTATION, SLOT_PARTS, slotsOf, TRANSLATION } from '../animation/PoseTracks.js';
import { MAX_TRACK_TEXELS } from '../animation/trackTexels.js';
import type { Steps } from '../utils/steps.js';
import { type BoundClip, type Channel, CURVE, MORPHS, repeats, STEPS, STILL } from './channels.js';
import { KEY_TOLERANCE } from './planClips.js';
import type { RigPoser } from './RigPoser.js';
import type { Skeleton } from './skeleton.js';

/** Seconds by which keys may be off their frames where only the frame rate is asked for: files that are text have four or five decimals. */
const LOOSE_TOLERANCE = 2e-4;

/** Into how many parts the way between two frames is divided at once, for keys that lie there. */
const MAX_DIVIDED = 8;

/** How many ways from frame to frame a clip may have that are stored as fewer, and at how many frames per second. */
const MAX_WAYS = 2 ** 18;
const MAX_JOINED_RATE = 1000;

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

/** Bits of a float32 after its first. */
const FLOAT_BITS = 23;

/** The part of a frame by which rounding may take a key off it, so that it is clear which frame it is on. */
const CLEAR = 0.25;

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
  /**
   * Into how many parts the way from each frame to the next is divided, so that further keys are on frames, or which part of the way from
   * key to key it is, where there are no keys between; null for one each.
   */
  parts: Float64Array | null;
  /** Bits to which the times of keys are rounded, see `roundingAt`. */
  bits: number;
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
    const { tracks } = channel;
    // Of tracks of one name, each changes what the others make.
    const [first, ...others] = tracks;
    if (others.some(({ track }) => track.name === first.track.name)) isExact = false;
    for (const { track, target, curve } of tracks) {
      if (curve === STILL) continue;
      // Tracks often share one array of times.
      arrays.add(track.times);
      // One component of a vector is as straight as the whole; an angle is not.
      if (curve === STEPS ? wholeTrack(channel) === null : curve === CURVE || target.isAngle) isExact = false;
    }
  }
  const sorted = sortedTimes(arrays, duration);
  const fits = (rate: number) => rate > 0 && duration > 0 && duration * rate <= MAX_WAYS;
  // Some tools keep fewer bits of a time. Of a time that is on such a step by itself, as 0.5 is, that says nothing.
  const least = bitsOf(arrays);
  const most = Math.max(MAX_RATE, Math.min(MAX_JOINED_RATE, MAX_WAYS / duration));
  for (const bits of isExact ? new Set([FLOAT_BITS, least]) : []) {
    const fps = findKeyGrid(sorted, (time) => KEY_TOLERANCE + roundingAt(time, bits), most);
    if (fps !== null)
      return { fps, isExact, parts: fits(fps) ? joinWays(sorted, duration, fps) : null, bits };
  }
  const loose = (time: number) => LOOSE_TOLERANCE + roundingAt(time, least);
  const grid =
    findKeyGrid(sorted, () => LOOSE_TOLERANCE, MAX_RATE) ||
    findKeyGrid(sorted, loose, MAX_RATE) ||
    usualRate(arrays);
  // From few frames a second, the way to the next would have to be divided into more parts than there may be.
  const rate = grid * Math.ceil(MIN_RATE / grid);
  const parts = fits(rate) ? divide(sorted, duration, rate) : null;
  return { fps: rate, isExact: false, parts, bits: FLOAT_BITS };
}

/** All times of keys once, and the duration. */
function sortedTimes(arrays: Iterable<ArrayLike<number>>, duration: number): Float64Array {
  const all = new Set<number>();
  for (const times of arrays) {
    all.add(duration);
    for (let i = 0; i < times.length; i++) all.add(times[i]);
  }
  return new Float64Array(all).sort();
}

/** The bits after their first that float32 times have at most. */
function bitsOf(arrays: Iterable<ArrayLike<number>>): number {
  let used = 0;
  for (const times of arrays)
    for (const bits of new Uint32Array(Float32Array.from(times).buffer)) used |= bits;
  const zeros = 31 - Math.clz32(used & -used);
  return Math.max(0, FLOAT_BITS - zeros);
}

/** Seconds by which a time is off that was rounded to so many bits, as float32 to 23; twice as many where it was computed in float32. */
const roundingAt = (time: number, bits: number): number =>
  time > 0 ? 2 ** (Math.floor(Math.log2(time)) - bits) * (bits < FLOAT_BITS ? 0.5 : 1) : 0;

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

/** Makes one of the ways between keys. */
function joinWays(times: Float64Array, duration: number, rate: number): Float64Array {
  const parts = new Float64Array(intervalsOf(duration, rate));
  const keys = new Set(Array.from(times, (time) => Math.round(time * rate)));
  // A float holds all places on them.
  const most = Math.min(SLOT_PARTS - 1, 2 ** FLOAT_BITS / keys.size);
  for (let from = 0, to = 1; to <= parts.length; to++) {
    if (!keys.has(to) && to - from < most) continue;
    parts.fill(1 / (to - from), from, to);
    from = to;
  }
  return parts;
}

/** Divides the ways between frames so that keys are on frames, as far as few parts do it. */
function divide(times: Float64Array, duration: number, rate: number): Float64Array {
  const parts = new Float64Array(intervalsOf(duration, rate)).fill(1);
  const perSecond = parts.length / duration;
  for (const time of times) {
    const place = time * perSecond;
    const slot = Math.floor(place);
    let count = 1;
    while (count <= MAX_DIVIDED && offGrid(place * count) > LOOSE_TOLERANCE * perSecond * count) count++;
    if (count <= MAX_DIVIDED && parts[slot] % count > 0 && parts[slot] <= MAX_DIVIDED) parts[slot] *= count;
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
 * @param sorted Key times in seconds.
 * @param tolerance Seconds by which a key may be off its frame.
 * @param most Frames per second.
 * @returns 0 if all keys are at 0; null if there is no such rate.
 */
function findKeyGrid(sorted: Float64Array, tolerance: (time: number) => number, most: number): number | null {
  const tolerances = sorted.map(tolerance);
  const last = tolerances[tolerances.length - 1];
  let gap = Infinity;
  for (let i = 0; i < sorted.length; i++) {
    const step = sorted[i] - (sorted[i - 1] ?? 0);
    if (step > tolerances[i]) gap = Math.min(gap, step);
  }
  if (gap === Infinity) return 0;
  const fits = (rate: number) =>
    last * rate <= CLEAR &&
    sorted.every((time, i) => Math.abs(Math.round(time * rate) / rate - time) <= tolerances[i]);

  // The smallest gap between keys may be several frames.
  for (
    let frames = 1;
    frames / gap <= Math.min(most * (1 + last / gap + KEY_TOLERANCE), 1 / last);
    frames++
  ) {
    const rate = refined(sorted, tolerances, frames / gap);
    // Exporters write whole rates, or halves.
    const whole = Math.round(rate * 2) / 2;
    if (Math.abs(whole - rate) < 1e-3 * rate && fits(whole)) return whole;
    if (fits(rate)) return rate;
  }
  return null;
}

/** The rate near a guess that fits the keys best. The guess comes from one gap, whose rounding adds up over many frames. */
function refined(sorted: Float64Array, tolerances: Float64Array, guess: number): number {
  let rate = guess;
  // From the first key on, and then from 0, which may be many frames before.
  for (const start of [sorted[0], 0]) {
    let least = 0;
    let most = Infinity;
    sorted.forEach((time, i) => {
      const place = (time - start) * rate;
      const frame = Math.round(place);
      // Each key narrows what the rate may be, as long as it is clear which frame the key is on.
      if (frame === 0 || Math.abs(place - frame) > 0.1) return;
      const off = start === 0 ? tolerances[i] : tolerances[i] * 2;
      least = Math.max(least, frame / (time - start + off));
      most = Math.min(most, frame / (time - start - off));
      rate = Math.min(Math.max(rate, least), most);
    });
    if (least > 0 && most < Infinity) rate = (least + most) / 2;
  }
  return rate;
}

/** The keys of a channel, if it is one track that moves the whole property and stands still, jumps or goes straight from key to key. */
function wholeTrack({ property, rest, tracks }: Channel): KeyframeTrack | null {
  const [{ track, target, curve }] = tracks;
  const isWhole = tracks.length === 1 && target.size === rest.length && property !== MORPHS;
  return isWhole && curve !== CURVE && track.getValueSize() === target.size ? track : null;
}

/**
 * Reads the keys of channels at a frame rate: as they are where they are on its frames, sampled where they are not.
 *
 * @param size Of the character, in scene units.
 * @returns null if they are more than any texture holds.
 */
export function* readKeys(
  { place, parents }: Skeleton,
  poser: RigPoser,
  channels: readonly Channel[],
  clip: AnimationClip,
  { fps: rate, isExact, parts, bits }: KeyRate,
  size: number,
): Steps<KeyedClip | null> {
  const { duration } = clip;
  const additive = clip.blendMode === AdditiveAnimationBlendMode;
  const intervals = rate === 0 ? 0 : intervalsOf(duration, rate);
  if (intervals > MAX_TRACK_TEXELS) return null;
  const step = intervals && duration / intervals;
  const slots = parts?.some((count) => count !== 1) ? slotsOf(parts) : null;
  const times: number[] = [];
  for (let slot = 0, part = 1; slot <= intervals; slot += Math.round(1 / Math.min(1, part))) {
    part = parts?.[slot] ?? 1;
    for (let i = 0; i < part; i++) times.push((slot + i / part) * step);
  }
  const frames = times.length;
  // Where keys are on frames, each is on that next to it.
  const near = isExact ? step / 2 : 2 * LOOSE_TOLERANCE;

  const keyed: KeyedChannel[] = [];
  const sampled: { channel: Channel; values: Float32Array }[] = [];
  const add = (node: number, property: number, values: ArrayLike<number>, width: number, steps: boolean) => {
    const isConstant = frames === 1 || staysStill(values, width, property, size);
    const trembles = isConstant && tremblesIn(values, width, steps || property === ROTATION);
    keyed.push({ node, property, stepped: steps && !isConstant, values, size: width, isConstant, trembles });
    return isConstant;
  };
  let moving = 0;
  let numbers = 0;
  for (const channel of channels) {
    const { node, property, rest, tracks } = channel;
    const keys = wholeTrack(channel);
    const isOnFrames = keys !== null && isEveryFrame(keys.times, times, near);
    // What lies between keys that are the same is the same too.
    if (keys !== null && (isOnFrames || frames === 1 || staysStill(keys.values, rest.length, property, size)))
      moving += +!add(place[node], property, keys.values, rest.length, tracks[0].curve === STEPS);
    else {
      moving += Math.ceil(rest.length / 4);
      if (moving * frames > MAX_TRACK_TEXELS) return null;
      sampled.push({ channel, values: new Float32Array(frames * rest.length) });
    }
    numbers += keys?.values.length ?? 0;
    if (numbers < NUMBERS) continue;
    numbers = 0;
    yield 0;
  }

  if (sampled.length > 0) {
    const played = sampled.map(({ channel }) => channel);
    poser.play(clip, played);
    for (let frame = 0; frame < frames; frame++) {
      poser.sample(times[frame] + Math.max(KEY_SLACK, roundingAt(times[frame], bits)));
      for (const { channel, values } of sampled) {
        const { property, rest } = channel;
        const value = poser.valueOf(channel);
        // An additive clip holds by how much it differs from the rest pose.
        if (additive && property === ROTATION)
          _value.fromArray(value).premultiply(_rest.fromArray(rest).invert()).toArray(value);
        else if (additive) for (let k = 0; k < value.length; k++) value[k] -= rest[k];
        values.set(value, frame * rest.length);
      }
      if (frame % 8 === 7) yield 0;
    }
  }
  for (const { channel, values } of sampled) {
    const { node, property, rest, tracks } = channel;
    if (property !== MORPHS) {
      add(
        place[node],
        property,
        values,
        rest.length,
        tracks[0].curve === STEPS && wholeTrack(channel) !== null,
      );
      continue;
    }
    for (const group of groupsOf(channel)) {
      const four = new Float32Array(frames * 4);
      for (let k = 0; k < four.length; k++) {
        const target = group * 4 + (k & 3);
        if (target < rest.length) four[k] = values[(k >> 2) * rest.length + target];
      }
      add(parents.length + group, TRANSLATION, four, 4, false);
      yield 0;
    }
  }
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
  for (const { target } of tracks)
    for (let i = target.first; i < target.first + target.size; i++) groups.add(i >> 2);
  return groups;
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
const isEveryFrame = (keys: ArrayLike<number>, times: readonly number[], near: number): boolean =>
  keys.length === times.length && times.every((time, i) => Math.abs(keys[i] - time) < near);
