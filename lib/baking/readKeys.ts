import { AdditiveAnimationBlendMode, type AnimationClip, type KeyframeTrack, Quaternion } from 'three';
import { ROTATION, TRANSLATION } from '../animation/PoseTracks.js';
import { MAX_TRACK_TEXELS } from '../animation/trackTexels.js';
import type { Steps } from '../utils/slices.js';
import { type BoundClip, type Channel, CURVE, MORPHS, repeats, STEPS, STILL } from './channels.js';
import { KEY_TOLERANCE } from './planClips.js';
import type { RigPoser } from './RigPoser.js';
import type { Skeleton } from './skeleton.js';

/** Seconds by which keys may be off their frames where only the frame rate is asked for: files that are text have four or five decimals. */
const LOOSE_TOLERANCE = 2e-4;

/** Into how many parts the way between two frames is divided at once, for keys that lie there. */
const MAX_DIVIDED = 8;

/** How many frames may say where a clip is among its keys, however few or many these are. */
const MIN_WAYS = 2 ** 12;
const MAX_WAYS = 2 ** 18;

/** How many times as many a second as keys. */
const MAX_FINER = 16;

/** By what part of the way to the next key keys may be off: poses are a thousandth of what moves from key to key. */
const ON_FRAMES = 1e-3;

/** Frames per second above which a clip counts as having no frame rate. */
const MAX_RATE = 240;

/** Frames per second below which clips that have to be sampled are not sampled at first, though keys say it. */
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
  parts: Float64Array | null;
  /** Seconds of all keys, where these alone are stored; how many even places say where they are, and by what part of the way to the next each is off. */
  times: Float64Array | null;
  places: number;
  off: Float64Array;
}

/** The channels of a clip that move a skeleton. */
export function channelsOn(skeleton: Skeleton, { channels }: BoundClip): Channel[] {
  const { place, morphRest } = skeleton;
  return channels.filter(({ node, property }) =>
    property === MORPHS ? morphRest.length > 0 : place[node] !== -1,
  );
}

/**
 * Finds the frame rate for the keys of a clip.
 *
 * @param samples Whether the clip is sampled in any case.
 */
export function keyRate(channels: readonly Channel[], duration: number, samples = false): KeyRate {
  const arrays = new Set<ArrayLike<number>>();
  let isExact = !samples;
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
  const times = timesOf(arrays, duration);
  if (times.length < 2 || !duration)
    return { fps: 0, isExact, parts: null, times: null, places: 0, off: times };
  const span = times[times.length - 1] - times[0];
  const most = isExact ? Math.max(MIN_WAYS, times.length * (channels.length + 1)) : span * MAX_RATE;
  const { places, off, worst, usual } = findPlaces(times, Math.min(most, MAX_WAYS));
  const rate = places / span;
  const isOn = worst <= ON_FRAMES + roundingAt(duration, bitsOf(arrays)) * rate;
  if (isExact && worst < Infinity) return { fps: rate, isExact: isOn, parts: null, times, places, off };
  // From few frames a second, the way to the next would have to be divided into more parts than there may be.
  const grid = isOn ? rate : Math.min(1 / usual, MAX_RATE);
  const fps = grid * Math.ceil(MIN_RATE / grid);
  const parts = duration * fps <= MAX_WAYS ? divide(times, duration, fps) : null;
  return { fps, isExact: false, parts, times: null, places: 0, off };
}

/** All times of keys once, as far as the duration goes, and this; of times that are one but for rounding, the last. */
function timesOf(arrays: Iterable<ArrayLike<number>>, duration: number): Float64Array {
  const all = new Set<number>();
  for (const times of arrays) {
    all.add(duration);
    for (let i = 0; i < times.length; i++) all.add(times[i]);
  }
  const sorted = new Float64Array(all).sort();
  const near = (time: number) => KEY_TOLERANCE + roundingAt(time, FLOAT_BITS);
  return sorted.filter(
    (time, i) => !(sorted[i + 1] - time <= near(time)) && !(sorted[i - 1] > duration + near(time)),
  );
}

/** The bits after their first that float32 times have at most. */
function bitsOf(arrays: Iterable<ArrayLike<number>>): number {
  let used = 0;
  for (const times of arrays)
    for (const bits of new Uint32Array(Float32Array.from(times).buffer)) used |= bits;
  const zeros = 31 - Math.clz32(used & -used);
  return Math.max(0, FLOAT_BITS - zeros);
}

/** Seconds by which a time is off that was rounded to so many bits, as float32 to 23. */
const roundingAt = (time: number, bits: number): number =>
  time > 0 ? 2 ** (Math.floor(Math.log2(time)) - bits) : 0;

/** Divides the ways between frames so that keys are on frames, as far as few parts do it. */
function divide(times: Float64Array, duration: number, rate: number): Float64Array {
  const parts = new Float64Array(intervalsOf(duration, rate)).fill(1);
  const perSecond = parts.length / duration;
  for (const time of times) {
    const place = time * perSecond;
    const slot = Math.floor(place);
    let count = 1;
    const off = () => Math.abs(place - Math.round(place * count) / count);
    while (count <= MAX_DIVIDED && off() > LOOSE_TOLERANCE * perSecond) count++;
    if (count <= MAX_DIVIDED && parts[slot] % count > 0 && parts[slot] <= MAX_DIVIDED) parts[slot] *= count;
  }
  return parts;
}

/** How many times the way between two frames of a clip fits into it. */
const intervalsOf = (duration: number, rate: number): number => Math.max(1, Math.round(duration * rate));

/**
 * Finds the fewest even places from the first key to the last that say where among the keys a clip is at any time. Each key is on one, or
 * so near that it errs to second order only, as files have times that are rounded or added up.
 *
 * Result for keys at 0, 0.1 and 0.25 s: 5.
 *
 * @returns The places, by what part of the way to the next key each is off and the worst is, and seconds from key to key, as most are.
 */
function findPlaces(times: Float64Array, most: number) {
  const last = times.length - 1;
  const span = times[last] - times[0];
  const gaps = times.map((time, i) => time - times[Math.max(0, i - 1)]).sort();
  const usual = gaps[(last + 2) >> 1];
  // How many of these fit in if all gaps are whole ones. Rounding adds up over long gaps: they come last.
  let wholes = 0;
  gaps.reduce((seconds, gap) => {
    wholes += Math.round((gap * (wholes + 1)) / (seconds + usual));
    return seconds + gap;
  });
  const found = { places: last, off: times, worst: Infinity, usual };
  for (let by = 1; by <= MAX_FINER; by++) {
    for (const places of [by * Math.max(1, wholes), Math.max(1, Math.round((by * span) / usual))]) {
      if (found.worst <= ON_FRAMES || places > (by > 1 ? most : MAX_TRACK_TEXELS)) continue;
      const table = tableOf(times, places);
      const off = times.map((time, key) => {
        const place = ((time - times[0]) / span) * places;
        const slot = Math.min(Math.floor(place), places - 1);
        return Math.abs(table[slot] + (place - slot) * (table[slot + 1] - table[slot]) - key);
      });
      const worst = off.reduce((most, one) => Math.max(most, one), 0);
      if (worst < found.worst) Object.assign(found, { places, off, worst });
    }
  }
  return found;
}

/** Where each place is among the times. */
function tableOf(times: Float64Array, places: number): number[] {
  const last = times.length - 1;
  const step = (times[last] - times[0]) / places;
  let key = 0;
  return Array.from({ length: places + 1 }, (_, i) => {
    const time = times[0] + i * step;
    while (key < last - 1 && times[key + 1] <= time) key++;
    const stored = key + (time - times[key]) / (times[key + 1] - times[key]);
    const whole = Math.round(stored);
    return Math.abs(times[whole] - time) < ON_FRAMES * step ? whole : stored;
  });
}

/** See `TrackClip`. @param fps Frames per second of the clip. */
function slotsOf(times: Float64Array, places: number, fps: number): Float32Array | null {
  const first = times[0] * fps;
  const perFrame = places / (times[times.length - 1] * fps - first);
  const table = tableOf(times, places);
  const isUneven = table.some((stored, i) => stored !== i);
  if (!isUneven && first === 0 && Math.abs(perFrame - 1) * places < ON_FRAMES) return null;
  return Float32Array.from([first, perFrame, places, +isUneven].concat(isUneven ? table : []));
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
  { fps: rate, parts, times: keyTimes, places }: KeyRate,
  size: number,
): Steps<KeyedClip | null> {
  const { duration } = clip;
  const additive = clip.blendMode === AdditiveAnimationBlendMode;
  const intervals = rate === 0 ? 0 : intervalsOf(duration, rate);
  if (intervals > MAX_TRACK_TEXELS) return null;
  const step = intervals && duration / intervals;
  const sampledTimes: number[] = [];
  for (let slot = 0; slot <= intervals && keyTimes === null; slot++) {
    const part = parts?.[slot] ?? 1;
    for (let i = 0; i < part; i++) sampledTimes.push((slot + i / part) * step);
  }
  const times = keyTimes ?? Float64Array.from(sampledTimes);
  const frames = times.length;
  const slots =
    intervals === 0 ? null : slotsOf(times, keyTimes === null ? intervals : places, intervals / duration);

  const keyed: KeyedChannel[] = [];
  const add = (one: Pick<KeyedChannel, 'node' | 'property' | 'stepped' | 'values' | 'size'>) => {
    const { property, stepped, values } = one;
    const isConstant = frames === 1 || staysStill(values, one.size, property, size);
    const trembles = isConstant && tremblesIn(values, one.size, stepped || property === ROTATION);
    keyed.push({ ...one, stepped: stepped && !isConstant, isConstant, trembles });
    return !isConstant;
  };
  const sampled: { channel: Channel; written: ReturnType<typeof writtenBy> }[] = [];
  let moving = 0;
  for (const channel of channels) {
    const { node, property, rest, tracks } = channel;
    const keys = wholeTrack(channel);
    const stepped = keys !== null && tracks[0].curve === STEPS;
    const isOnFrames = keys !== null && isEveryFrame(keys.times, times);
    // What lies between keys that are the same is the same too.
    if (keys !== null && (isOnFrames || frames === 1 || staysStill(keys.values, rest.length, property, size)))
      moving += +add({ node: place[node], property, stepped, values: keys.values, size: rest.length });
    else {
      const written = writtenBy(channel, place[node] ?? parents.length, stepped, frames);
      moving += written.length;
      if (moving * frames > MAX_TRACK_TEXELS) return null;
      sampled.push({ channel, written });
    }
    yield 0;
  }

  if (sampled.length > 0) {
    const played = sampled.map(({ channel }) => channel);
    poser.play(clip, played);
    for (let frame = 0; frame < frames; frame++) {
      const late = keyTimes === null ? roundingAt(times[frame], FLOAT_BITS) : 0;
      poser.sample(times[frame] + Math.max(KEY_SLACK, late));
      for (const { channel, written } of sampled) {
        const { property, rest } = channel;
        const value = poser.valueOf(channel);
        // An additive clip holds by how much it differs from the rest pose.
        if (additive && property === ROTATION)
          _value.fromArray(value).premultiply(_rest.fromArray(rest).invert()).toArray(value);
        else if (additive) for (let k = 0; k < value.length; k++) value[k] -= rest[k];
        for (const { first, values, size } of written)
          values.set(value.slice(first, first + size), frame * size);
      }
      if (frame % 8 === 7) yield 0;
    }
  }
  for (const one of sampled.flatMap(({ written }) => written)) {
    add(one);
    yield 0;
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

/**
 * What is stored of a channel that is sampled: the property, or the groups of four morph targets that tracks move.
 *
 * @param place Of its node among the skeleton's, or of the first group behind these.
 */
function writtenBy({ property, rest, tracks }: Channel, place: number, stepped: boolean, frames: number) {
  const one = (node: number, kind: number, first: number, size: number) => {
    return { node, property: kind, stepped, first, size, values: new Float32Array(frames * size) };
  };
  if (property !== MORPHS) return [one(place, property, 0, rest.length)];
  const groups = new Set<number>();
  for (const { target } of tracks)
    for (let i = target.first; i < target.first + target.size; i++) groups.add(i >> 2);
  return Array.from(groups, (group) => one(place + group, TRANSLATION, group * 4, 4));
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
const isEveryFrame = (keys: ArrayLike<number>, times: Float64Array): boolean =>
  keys.length === times.length && times.every((time, i) => Math.abs(keys[i] - time) < 2 * LOOSE_TOLERANCE);
