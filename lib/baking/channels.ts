import {
  type AnimationClip,
  type Interpolant,
  InterpolateDiscrete,
  InterpolateLinear,
  type KeyframeTrack,
  PropertyBinding,
  WrapAroundEnding,
} from 'three';
import type { Rig } from '../animation/Rig.js';
import { KEY_TOLERANCE } from './planClips.js';

/** What a track's name means for a rig. */
export interface TrackTarget {
  /** Index among the rig's nodes, -1 if there is none. */
  node: number;
  /** ROTATION, TRANSLATION or SCALE; MORPHS for influences of morph targets; -1 for what is not baked. */
  property: number;
  /** The first number of the property that it moves, for MORPHS among those of all parts, and how many it moves. */
  first: number;
  size: number;
  /** Whether that is an Euler angle. */
  isAngle: boolean;
}

export const MORPHS = 3;

/** By ROTATION, TRANSLATION and SCALE. */
export const PROPERTIES = ['quaternion', 'position', 'scale'] as const;

/** What an AnimationAction sets for LoopRepeat, its default; only tracks of InterpolateSmooth depend on it. */
const INTERPOLANT_SETTINGS = { endingStart: WrapAroundEnding, endingEnd: WrapAroundEnding };

/** What the value of a track does: nothing, straight lines, steps, or anything else. */
export const STILL = 0;
export const STRAIGHT = 1;
export const STEPS = 2;
export const CURVE = 3;

/** A property of a node that a clip has tracks for, or the influences of all morph targets. */
export interface Channel {
  /** Index among the rig's nodes; the number of nodes for morph targets. */
  node: number;
  /** ROTATION, TRANSLATION or SCALE; MORPHS for the influences of all morph targets. */
  property: number;
  /** Its value at rest. */
  rest: ArrayLike<number>;
  tracks: {
    track: KeyframeTrack;
    /** Which numbers of the value it writes. */
    target: TrackTarget;
    /** STILL, STRAIGHT, STEPS or CURVE. */
    curve: number;
  }[];
}

/** The tracks of a clip, as channels of a rig. */
export interface BoundClip {
  channels: Channel[];
  /** Names of tracks whose node is not under the root. */
  missing: string[];
  /** Names of tracks that move anything but a node or the morph targets of a part. */
  unsupported: string[];
}

/**
 * Sorts the tracks of a clip by the properties that they move.
 *
 * @throws If a track has more or fewer values per key than what it moves: some interpolants run forever on quaternions of another size.
 */
export function bindClip(
  poser: { readonly rig: Rig; targetOf(name: string): TrackTarget },
  { name, tracks }: AnimationClip,
): BoundClip {
  const { nodes, morphing, morphRest } = poser.rig;
  const bound: BoundClip = { channels: [], missing: [], unsupported: [] };
  const found: Channel[] = [];
  for (const track of tracks) {
    const target = poser.targetOf(track.name);
    const { property, size } = target;
    if (target.node === -1) bound.missing.push(track.name);
    else if (property === -1) {
      if (morphing || !/\.morphTargetInfluences\b/.test(track.name)) bound.unsupported.push(track.name);
    } else if (property === MORPHS && valueSizeOf(track, size) !== size) {
      bound.unsupported.push(track.name);
    } else {
      checkSize(track, size, name);
      const node = property === MORPHS ? nodes.length : target.node;
      let channel = found[node * 4 + property];
      if (channel === undefined) {
        const rest = property === MORPHS ? morphRest : nodes[node][PROPERTIES[property]].toArray();
        channel = found[node * 4 + property] = { node, property, rest, tracks: [] };
        bound.channels.push(channel);
      }
      channel.tracks.push({ track, target, curve: curveOf(track) });
    }
  }
  return bound;
}

function checkSize(track: KeyframeTrack, size: number, clip: string): void {
  const found = valueSizeOf(track, size);
  if (found === size) return;
  throw new Error(
    `Track "${track.name}" of clip "${clip}" has ${found} values per key, but ${movedBy(track)} takes ${size}; mend or remove the track.`,
  );
}

/** What a track moves, for messages. */
function movedBy({ name }: KeyframeTrack): string {
  const { propertyName, propertyIndex } = PropertyBinding.parseTrackName(name);
  return propertyIndex === undefined ? propertyName : `one number of ${propertyName}`;
}

/** Numbers of a value; a key of glTF's cubic splines has two tangents as well. */
const valueSizeOf = (track: KeyframeTrack, size: number): number =>
  track.getValueSize() === size ? size : interpolantOf(track, new Float64Array(size)).valueSize;

/** Whether a track has tangents beside its values, as Bézier tracks have. */
export const hasTangents = (track: KeyframeTrack): boolean =>
  (track as { settings?: { inTangents?: unknown } }).settings?.inTangents !== undefined;

/** Undefined for tracks whose interpolation a loader has replaced with its own. */
const interpolationOf = (track: KeyframeTrack): number | undefined =>
  (track as unknown as { getInterpolation(): number | undefined }).getInterpolation();

function curveOf(track: KeyframeTrack): number {
  if (isConstant(track)) return STILL;
  const interpolation = interpolationOf(track);
  if (interpolation === InterpolateDiscrete) return STEPS;
  return interpolation === InterpolateLinear ? jumpsOf(track) : CURVE;
}

/** Whether the value of a track is the same at all times. */
function isConstant(track: KeyframeTrack): boolean {
  const { values } = track;
  const size = track.getValueSize();
  // Between equal values, tangents bend a curve.
  if (!repeats(values, size, 0) || hasTangents(track)) return false;
  if (interpolationOf(track) !== undefined) return true;
  // Keys of a glTF cubic spline are a tangent, the value, and another tangent. Unless they are zero, the curve moves.
  const third = size / 3;
  return values.slice(0, size).every((value, i) => value === 0 || Math.floor(i / third) === 1);
}

/** Linear tracks with two keys at one time jump. Some exporters write steps that way: it then stays as it is between such times. */
function jumpsOf({ times, values }: KeyframeTrack): number {
  const size = values.length / times.length;
  const changes = (key: number) => {
    for (let i = key * size; i < (key + 1) * size; i++) if (values[i] !== values[i - size]) return true;
    return false;
  };
  let jumps = false;
  let glides = false;
  for (let key = 1; key < times.length && !(jumps && glides); key++) {
    const gap = times[key] - times[key - 1];
    if ((gap > KEY_TOLERANCE && glides) || !changes(key)) continue;
    if (gap !== 0) glides = true;
    if (gap <= KEY_TOLERANCE) jumps = true;
  }
  if (!jumps) return STRAIGHT;
  return glides ? CURVE : STEPS;
}

/** Whether an array is one item of `size` numbers over and over. */
export function repeats(values: ArrayLike<number>, size: number, tolerance: number): boolean {
  for (let i = 0; i < size; i++) {
    const first = values[i];
    for (let at = i + size; at < values.length; at += size)
      if (Math.abs(values[at] - first) > tolerance) return false;
  }
  return true;
}

/** What plays a track: linear, steps, cubic spline, slerp, or what a loader has replaced them with. */
export function interpolantOf(
  track: KeyframeTrack,
  result: Float64Array,
): Interpolant & { valueSize: number } {
  // The method takes a buffer, which three.js's type declarations leave out.
  const interpolant = (
    track as unknown as { createInterpolant(result: Float64Array): ReturnType<typeof interpolantOf> }
  ).createInterpolant(result);
  return Object.assign(interpolant, { resultBuffer: result, settings: INTERPOLANT_SETTINGS });
}
