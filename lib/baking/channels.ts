import { InterpolateDiscrete, InterpolateLinear, type KeyframeTrack } from 'three';
import type { Rig } from '../poses/Rig.js';
import { ROTATION, SCALE, TRANSLATION } from '../tracks/PoseTracks.js';
import { hasTangents } from './bindTracks.js';
import { KEY_TOLERANCE } from './keyGrid.js';
import { morphsOf, type TrackTargets } from './trackTargets.js';

/** A property of a node that a clip has tracks for, and its value in every frame. */
export interface Channel {
  /** Index among the rig's nodes; after them come groups of four morph targets. */
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
  /** The one track that the property has, if each of its keys is a value of the property; else null. */
  track: KeyframeTrack | null;
}

/** The channels of a clip, before they have values. */
export interface ClipChannels {
  channels: Channel[];
  /** Tracks that are no channel's `track`, in the clip's order. */
  others: KeyframeTrack[];
  /** Tracks whose keys differ. */
  moving: KeyframeTrack[];
  /** Whether a track is neither straight between its keys nor jumps from key to key. */
  curved: boolean;
}

const NONE: readonly number[] = [];

/** What tracks of a property are called, and how many numbers it has. */
const PROPERTIES: Readonly<Record<string, { property: number; size: number }>> = {
  quaternion: { property: ROTATION, size: 4 },
  rotation: { property: ROTATION, size: 4 },
  position: { property: TRANSLATION, size: 3 },
  scale: { property: SCALE, size: 3 },
};

/**
 * Sorts the tracks of a clip by the properties that they move.
 *
 * @param needed 1 for nodes whose motion counts.
 * @param morphs Whether morph targets count.
 */
export function channelsOf(
  tracks: readonly KeyframeTrack[],
  rig: Rig,
  targets: TrackTargets,
  needed: Uint8Array,
  morphs: boolean,
): ClipChannels {
  const channels: Channel[] = [];
  // By node and property.
  const found: (Channel | undefined)[] = [];
  const others = new Set<KeyframeTrack>();
  const moving: KeyframeTrack[] = [];
  let curved = false;

  const addTrack = (track: KeyframeTrack, node: number, property: number, isKeyed: boolean): Channel => {
    const key = node * 4 + property;
    let channel = found[key];
    if (channel === undefined) {
      const size = property === ROTATION || node >= rig.parents.length ? 4 : 3;
      const keyed = isKeyed ? track : null;
      channel = { node, property, stepped: false, values: NONE, size, isConstant: false, track: keyed };
      found[key] = channel;
      channels.push(channel);
      if (!isKeyed) others.add(track);
    } else {
      // Several tracks for one property are played one after another, as three.js does.
      if (channel.track !== null) others.add(channel.track);
      // Those of one name are mixed.
      for (const other of others) if (other.name === track.name) curved = true;
      others.add(track);
      if (channel.stepped) curved = true;
      channel.stepped = false;
      channel.track = null;
    }
    return channel;
  };

  for (const track of tracks) {
    const target = targets.find(track.name);
    const { node, property, component } = target;
    const interpolation = interpolationOf(track);
    const isStill = isConstant(track, interpolation);
    const moved = morphs ? morphsOf(rig, target) : null;
    const jumps = isStill || interpolation !== InterpolateLinear ? NO_JUMPS : jumpsOf(track);
    if (moved !== null) {
      // Groups of four among the rig's morph targets.
      for (let group = moved.first >> 2; group <= (moved.first + moved.size - 1) >> 2; group++)
        addTrack(track, rig.parents.length + group, TRANSLATION, false);
      if (isStill) continue;
      moving.push(track);
      // A group may hold targets of several tracks, of which not all need to jump.
      if (interpolation !== InterpolateLinear || jumps !== NO_JUMPS) curved = true;
      continue;
    }

    const place = PROPERTIES[property];
    const isWhole =
      component === undefined && property !== 'rotation' && track.getValueSize() === place?.size;
    if (place === undefined || node === -1 || needed[node] === 0) {
      // A track that changes nothing is bound all the same if there may be something wrong with it.
      if (!isWhole || node === -1) others.add(track);
      continue;
    }
    const isStepped = (interpolation === InterpolateDiscrete || jumps === STEPS) && isWhole;
    const isKeyed = isStepped || (interpolation === InterpolateLinear && isWhole);
    const channel = addTrack(track, node, place.property, isKeyed);
    channel.isConstant = isStill;
    if (isStill) continue;
    moving.push(track);
    if (isStepped && channel.track === track) channel.stepped = true;
    // One component of a vector is as straight as the whole; an angle is not.
    else if (interpolation !== InterpolateLinear || jumps !== NO_JUMPS || property === 'rotation')
      curved = true;
  }
  return {
    channels,
    others: others.size === 0 ? [] : tracks.filter((track) => others.has(track)),
    moving,
    curved,
  };
}

/** The value of a linear track never jumps: no two keys that differ are at one time. */
const NO_JUMPS = 0;
/** It jumps where two keys are at one time, and stays as it is between such times: these are steps. */
const STEPS = 1;
/** It jumps, and glides at other times. */
const JUMPS = 2;

/** Linear tracks with two keys at one time jump. Some exporters write steps that way. */
function jumpsOf(track: KeyframeTrack): number {
  const { times, values } = track;
  const size = track.getValueSize();
  let found = NO_JUMPS;
  for (let key = 1; key < times.length; key++) {
    const gap = times[key] - times[key - 1];
    if (gap > KEY_TOLERANCE || isSameKey(values, size, key)) continue;
    if (gap > 0) return JUMPS;
    found = STEPS;
  }
  if (found === NO_JUMPS) return NO_JUMPS;
  for (let key = 1; key < times.length; key++)
    if (times[key] !== times[key - 1] && !isSameKey(values, size, key)) return JUMPS;
  return STEPS;
}

/** Whether a key has the value of the one before. */
function isSameKey(values: ArrayLike<number>, size: number, key: number): boolean {
  for (let i = key * size; i < (key + 1) * size; i++) if (values[i] !== values[i - size]) return false;
  return true;
}

/** Whether a track has one value at all times. */
function isConstant(track: KeyframeTrack, interpolation: number | undefined): boolean {
  const { values } = track;
  const size = track.getValueSize();
  if (!repeats(values, size, 0) || hasTangents(track)) return false;
  if (interpolation !== undefined) return true;
  // Keys of a glTF cubic spline are a tangent, the value, and another tangent. Unless they are zero, the curve moves.
  const third = size / 3;
  return values.subarray(0, third).every(isZero) && values.subarray(2 * third, size).every(isZero);
}

const isZero = (value: number) => value === 0;

/** Whether an array is one item of `size` numbers over and over. */
export function repeats(values: ArrayLike<number>, size: number, tolerance: number): boolean {
  for (let i = 0; i < size; i++) {
    const first = values[i];
    for (let at = i + size; at < values.length; at += size) {
      if (Math.abs(values[at] - first) > tolerance) return false;
    }
  }
  return true;
}

/**
 * Whether `AnimationMixer` finds another value in each frame of a channel that does not change, by some bits: its keys differ
 * by rounding, or what it mixes of two equal ones does. For powers of two, and rotations, that is exact.
 */
export function trembles({ track, values, size, property, stepped }: Channel): boolean {
  const keys = track?.values ?? values;
  if (keys.length <= size) return false;
  if (!repeats(keys, size, 0)) return true;
  if (stepped || property === ROTATION) return false;
  for (let i = 0; i < size; i++)
    if (keys[i] !== 0 && !Number.isInteger(Math.log2(Math.abs(keys[i])))) return true;
  return false;
}

/** Undefined for tracks whose interpolation a loader has replaced with its own. */
function interpolationOf(track: KeyframeTrack): number | undefined {
  return (track as unknown as { getInterpolation(): number | undefined }).getInterpolation();
}
