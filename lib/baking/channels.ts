import {
  AdditiveAnimationBlendMode,
  type AnimationClip,
  Euler,
  type Interpolant,
  InterpolateDiscrete,
  InterpolateLinear,
  type KeyframeTrack,
  PropertyBinding,
  Quaternion,
  WrapAroundEnding,
} from 'three';
import { slerp } from '../animation/mixPose.js';
import { PROPERTY_OFFSETS, ROTATION } from '../animation/PoseTracks.js';
import { type Rig, TRS_SIZE } from '../animation/Rig.js';
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
  /** The whole property at rest. */
  rest: Float64Array;
}

export const MORPHS = 3;

const AXES = ['x', 'y', 'z', 'w'];
const PROPERTIES = ['quaternion', 'position', 'scale'];

/** Names of tracks, which the clips of a character use again and again. */
const known = /*@__PURE__*/ new WeakMap<Rig, Map<string, TrackTarget>>();

/**
 * Finds the node and property of a track as `PropertyBinding` does.
 *
 * @throws If three.js cannot read the name.
 */
export function targetOf(rig: Rig, name: string): TrackTarget {
  let targets = known.get(rig);
  if (targets === undefined) {
    targets = new Map();
    known.set(rig, targets);
  }
  let target = targets.get(name);
  if (target === undefined) {
    target = findTarget(rig, PropertyBinding.parseTrackName(name));
    targets.set(name, target);
  }
  return target;
}

type ParsedName = ReturnType<typeof PropertyBinding.parseTrackName>;

function findTarget(rig: Rig, parsed: ParsedName): TrackTarget {
  const node = findNode(rig, parsed);
  const { propertyName, propertyIndex: component } = parsed;
  const found = (property: number, first: number, size: number, isAngle = false): TrackTarget => {
    const at = node * TRS_SIZE + PROPERTY_OFFSETS[property];
    const rest =
      property === MORPHS ? rig.morphRest : rig.rest.subarray(at, at + (property === ROTATION ? 4 : 3));
    return { node, property, first, size, isAngle, rest };
  };
  if (propertyName === 'morphTargetInfluences') {
    const { morphOffset, morphCount, morphIndices } = rig.parts.find((part) => part.node === node) ?? NO_PART;
    const index = component === undefined ? 0 : (morphIndices[component] ?? Number(component));
    const size = component === undefined ? morphCount : 1;
    const first = morphOffset + index;
    const isThere = index >= 0 && index + size <= morphCount && first + size <= rig.morphRest.length;
    return found(isThere && morphOffset >= 0 ? MORPHS : -1, first, size);
  }
  // three.js cannot play the three angles of `rotation` as one track.
  const isAngle = propertyName === 'rotation' && component !== undefined;
  const property = isAngle ? ROTATION : PROPERTIES.indexOf(propertyName);
  const size = property === ROTATION && !isAngle ? 4 : 3;
  if (component === undefined || property === -1) return found(property, 0, size);
  const axis = AXES.indexOf(component);
  return found(axis === -1 || axis >= size ? -1 : property, axis, 1, isAngle);
}

const NO_PART = { morphOffset: -1, morphCount: 0, morphIndices: {} as Record<string, number> };

/** The node that a track name means; -1 if there is none. */
function findNode(rig: Rig, { nodeName, objectName, objectIndex }: ParsedName): number {
  if (objectName === undefined) return findByName(rig, nodeName);
  if (objectName !== 'bones') return -1;
  // `.bones[Hips].position`: of a mesh that is the root, or where the root holds one, as SkeletonUtils.retargetClip makes it, of the first.
  const bones =
    rig.bones.get(findByName(rig, nodeName)) ?? (nodeName ? undefined : [...rig.bones.values()][0]);
  return bones?.find((bone) => rig.names[bone] === objectIndex) ?? bones?.[Number(objectIndex)] ?? -1;
}

/** As `PropertyBinding.findNode` does: the root if there is no name, then a skeleton's bones, then all nodes in order. */
function findByName({ names, uuids, bones }: Rig, name: string | undefined): number {
  if (!name || name === '.' || name === names[0] || name === uuids[0]) return 0;
  const bone = bones.get(0)?.find((node) => names[node] === name);
  return bone ?? names.findIndex((other, node) => other === name || uuids[node] === name);
}

/** A track of a channel. */
export interface ChannelTrack {
  track: KeyframeTrack;
  /** Which numbers of the channel's value it writes. */
  target: TrackTarget;
  /**
   * By how much of it the track is mixed into those of its name that come before it: 1, a half, a third, and so on. AnimationMixer
   * keeps one value for all tracks of one name, as files with several nodes of one name give them; those of additive clips it adds up.
   */
  share: number;
  /** STILL, STRAIGHT, STEPS or CURVE. */
  curve: number;
  interpolant: Interpolant | null;
}

const _quaternion = /*@__PURE__*/ new Quaternion();
const _delta = /*@__PURE__*/ new Quaternion();

/**
 * A property of a node that a clip has tracks for, or the influences of all morph targets. Its value at a time is what three.js's
 * mixer makes of these tracks, one after another.
 */
export class Channel {
  readonly tracks: ChannelTrack[] = [];
  /** Its angles, if tracks move one of them. As in three.js, the others are kept as angles: read back from a quaternion, they would flip. */
  private euler: Euler | null = null;

  /**
   * @param node Index among the rig's nodes; the number of nodes for morph targets.
   * @param property ROTATION, TRANSLATION or SCALE; MORPHS for the influences of all morph targets.
   * @param rest Its value at rest.
   */
  constructor(
    private readonly rig: Rig,
    readonly node: number,
    readonly property: number,
    readonly rest: Float64Array,
    readonly additive: boolean,
  ) {}

  /** The one track of the channel, if it moves all of the property; null else, and for morph targets. */
  get track(): ChannelTrack | null {
    const { tracks, rest, property } = this;
    return tracks.length === 1 && tracks[0].target.size === rest.length && property !== MORPHS
      ? tracks[0]
      : null;
  }

  /** Writes its value at a time, in seconds. */
  evaluate(time: number, out: Float64Array, at: number): void {
    const { additive, rest, tracks } = this;
    for (let i = 0; i < rest.length; i++) out[at + i] = rest[i];
    for (const one of tracks) {
      const value = valueAt(one, time);
      const { share, target } = one;
      if (target.isAngle) this.turn(one, value[0], out, at);
      else if (target.size === 4 && one.track.ValueTypeName === 'quaternion') {
        if (additive) {
          if (share === 1) _quaternion.fromArray(rest);
          else _quaternion.fromArray(out, at);
          _quaternion.multiply(_delta.fromArray(value)).toArray(out, at);
        } else if (share === 1) out.set(value, at);
        else slerp(out, at, value, 0, share);
      } else {
        for (let i = 0; i < target.size; i++) {
          const to = target.first + i;
          out[at + to] = this.mix(one, out[at + to], value[i], rest[to]);
        }
      }
    }
  }

  /** A number after a track, of the number before it, that of the track, and that of the rest pose. */
  private mix({ share }: ChannelTrack, before: number, value: number, rest: number): number {
    if (this.additive) return (share === 1 ? rest : before) + value;
    return share === 1 ? value : before + (value - before) * share;
  }

  /** Sets one of the angles. */
  private turn(one: ChannelTrack, value: number, out: Float64Array, at: number): void {
    const { rig, node, tracks } = this;
    const [x, y, z] = rig.restRotations.subarray(node * 3);
    this.euler ??= new Euler(x, y, z, rig.rotationOrders[node]);
    // If an earlier track sets the quaternion, it decides the other angles.
    const first = tracks.findIndex(({ target }) => target.isAngle);
    if (first > 0 && one === tracks[first]) this.euler.setFromQuaternion(_quaternion.fromArray(out, at));
    const axis = AXES[one.target.first] as 'x' | 'y' | 'z';
    this.euler[axis] = this.mix(one, this.euler[axis], value, { x, y, z }[axis]);
    _quaternion.setFromEuler(this.euler).toArray(out, at);
  }
}

// Takes a buffer for the result, which three.js's type declarations leave out.
interface InterpolantFactory {
  createInterpolant(result: Float64Array): Interpolant & { settings: object; valueSize: number };
}

// What an AnimationAction sets for LoopRepeat, its default; only tracks of InterpolateSmooth depend on it.
const INTERPOLANT_SETTINGS = { endingStart: WrapAroundEnding, endingEnd: WrapAroundEnding };

/** The value of a track at a time, by its own interpolant: linear, step, cubic spline, slerp, or what a loader has replaced them with. */
export function valueAt(one: ChannelTrack, time: number): Float64Array {
  one.interpolant ??= interpolantOf(one.track, one.target.size);
  return one.interpolant.evaluate(time) as Float64Array;
}

function interpolantOf(track: KeyframeTrack, size: number) {
  const result = new Float64Array(size);
  const interpolant = (track as unknown as InterpolantFactory).createInterpolant(result);
  interpolant.resultBuffer = result;
  interpolant.settings = INTERPOLANT_SETTINGS;
  return interpolant;
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
 * @param tracks Those of the clip, or some of them.
 * @throws If a track has more or fewer values per key than what it moves: some interpolants run forever on quaternions of another size.
 */
export function bindClip(
  rig: Rig,
  clip: AnimationClip,
  tracks: readonly KeyframeTrack[] = clip.tracks,
): BoundClip {
  const bound: BoundClip = { channels: [], missing: [], unsupported: [] };
  const found: Channel[] = [];
  const additive = clip.blendMode === AdditiveAnimationBlendMode;
  for (const track of tracks) {
    const target = targetOf(rig, track.name);
    const { property, rest } = target;
    if (target.node === -1) bound.missing.push(track.name);
    else if (property === -1) {
      if (rig.morphing || !/\.morphTargetInfluences\b/.test(track.name)) bound.unsupported.push(track.name);
    } else if (property === MORPHS && valueSizeOf(track, target.size) !== target.size) {
      bound.unsupported.push(track.name);
    } else {
      checkSize(track, target.size, clip);
      const node = property === MORPHS ? rig.parents.length : target.node;
      let channel = found[node * 4 + property];
      if (channel === undefined) {
        channel = found[node * 4 + property] = new Channel(rig, node, property, rest, additive);
        bound.channels.push(channel);
      }
      const share = 1 / (1 + channel.tracks.filter((other) => other.track.name === track.name).length);
      channel.tracks.push({ track, target, share, curve: curveOf(track), interpolant: null });
    }
  }
  return bound;
}

/** Checks the numbers of a value of the interpolant, which of glTF's cubic splines are not those of a key: it has two tangents as well. */
function checkSize(track: KeyframeTrack, size: number, clip: AnimationClip): void {
  const found = valueSizeOf(track, size);
  if (found === size) return;
  const { propertyName, propertyIndex } = PropertyBinding.parseTrackName(track.name);
  const moved = propertyIndex === undefined ? propertyName : `one number of ${propertyName}`;
  throw new Error(
    `Track "${track.name}" of clip "${clip.name}" has ${found} values per key, but ${moved} takes ${size}; mend or remove the track.`,
  );
}

const valueSizeOf = (track: KeyframeTrack, size: number): number =>
  track.getValueSize() === size ? size : interpolantOf(track, size).valueSize;

/** Whether a track has tangents beside its values, as the Bézier tracks of newer three.js versions have. */
export function hasTangents(track: KeyframeTrack): boolean {
  return (track as { settings?: { inTangents?: unknown } }).settings?.inTangents !== undefined;
}

/** What the value of a track does: nothing, straight lines, steps, or anything else. */
export const STILL = 0;
export const STRAIGHT = 1;
export const STEPS = 2;
export const CURVE = 3;

function curveOf(track: KeyframeTrack): number {
  if (isConstant(track)) return STILL;
  const interpolation = interpolationOf(track);
  if (interpolation === InterpolateDiscrete) return STEPS;
  return interpolation === InterpolateLinear ? jumpsOf(track) : CURVE;
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
  for (let key = 1; key < times.length; key++) {
    const gap = times[key] - times[key - 1];
    if ((gap > KEY_TOLERANCE && glides) || !changes(key)) continue;
    if (gap !== 0) glides = true;
    if (gap <= KEY_TOLERANCE) jumps = true;
    if (jumps && glides) return CURVE;
  }
  return jumps ? STEPS : STRAIGHT;
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
  return values.subarray(0, third).every(isZero) && values.subarray(2 * third, size).every(isZero);
}

const isZero = (value: number) => value === 0;

/** Undefined for tracks whose interpolation a loader has replaced with its own. */
const interpolationOf = (track: KeyframeTrack): number | undefined =>
  (track as unknown as { getInterpolation(): number | undefined }).getInterpolation();

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
