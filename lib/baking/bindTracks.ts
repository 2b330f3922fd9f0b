import type { AnimationClip, Interpolant, KeyframeTrack } from 'three';
import { AdditiveAnimationBlendMode, Euler, Quaternion, WrapAroundEnding } from 'three';
import { type Rig, TRS_SIZE } from '../poses/Rig.js';
import { slerp } from '../tracks/slerp.js';
import { morphsOf, type TrackTarget, type TrackTargets } from './trackTargets.js';

/** A track whose interpolant writes its result where it is wanted, so that nothing has to be copied. */
export interface BoundTrack {
  track: KeyframeTrack;
  node: number;
  interpolant: Interpolant;
  /** Runs after the interpolant if its result is not a position, quaternion or scale as it is; else null. */
  apply: (() => void) | null;
}

/** The tracks of a clip, bound to a rig. */
export interface BoundTracks {
  tracks: BoundTrack[];
  /** Tracks of morph targets' influences. */
  morphs: BoundTrack[];
  /** Nodes that have already been set by tracks whose value never changes. */
  still: number[];
  /** Names of tracks whose node is not under the root. */
  missing: string[];
  /** Names of tracks that move anything but a node or the morph targets of a part. */
  unsupported: string[];
}

/** Where a property lies among the `TRS_SIZE` numbers of a node. */
export const OFFSETS: Readonly<Record<string, { offset: number; size: number }>> = {
  position: { offset: 0, size: 3 },
  quaternion: { offset: 3, size: 4 },
  scale: { offset: 7, size: 3 },
};

const AXES = ['x', 'y', 'z', 'w'];

const _quaternion = /*@__PURE__*/ new Quaternion();
const _delta = /*@__PURE__*/ new Quaternion();

// What an AnimationAction sets for LoopRepeat, its default; only tracks of InterpolateSmooth depend on it.
const INTERPOLANT_SETTINGS = { endingStart: WrapAroundEnding, endingEnd: WrapAroundEnding };

/** The state that the tracks of one clip write to. */
interface Binding {
  rig: Rig;
  clip: AnimationClip;
  /** Local transforms, `TRS_SIZE` numbers a node. */
  trs: Float64Array;
  influences: Float64Array;
  additive: boolean;
  /** `rotation` of the nodes that have tracks of single angles. */
  rotations: Map<number, Euler>;
  repeated: RepeatedNames;
  /** Nodes whose quaternion an earlier track of the clip sets: to one value, or to another at each time. */
  turned: Map<number, 'still' | 'moving'>;
}

/**
 * Makes the tracks' own interpolants (linear, step, cubic spline, slerp, or what a loader has replaced them with) write into
 * `trs` and `influences`. Tracks whose value never changes are written right away, and not bound.
 *
 * @param trs Local transforms, `TRS_SIZE` numbers a node, at rest.
 * @param influences Those of the rig's morph targets, at rest.
 * @throws If a track has more or fewer values per key than the property it moves.
 */
export function bindTracks(
  rig: Rig,
  clip: AnimationClip,
  trs: Float64Array,
  influences: Float64Array,
  targets: TrackTargets,
): BoundTracks {
  const bound: BoundTracks = { tracks: [], morphs: [], still: [], missing: [], unsupported: [] };
  const additive = clip.blendMode === AdditiveAnimationBlendMode;
  const binding: Binding = {
    rig,
    clip,
    trs,
    influences,
    additive,
    rotations: new Map(),
    repeated: new RepeatedNames(clip.tracks),
    turned: new Map(),
  };

  for (const track of clip.tracks) {
    const target = targets.find(track.name);
    if (target.node === -1) {
      bound.missing.push(track.name);
    } else if (target.property === 'morphTargetInfluences') {
      const one = bindMorphs(binding, track, target);
      if (one) bound.morphs.push(one);
      else if (rig.morphing) bound.unsupported.push(track.name);
    } else if (isPlain(track, target) && isConstant(track) && !additive && !binding.repeated.has(track)) {
      const { offset, size } = OFFSETS[target.property];
      trs.set(track.values.slice(0, size), target.node * TRS_SIZE + offset);
      bound.still.push(target.node);
      if (target.property === 'quaternion') binding.turned.set(target.node, 'still');
    } else {
      const one = bindTrack(binding, track, target);
      if (one) bound.tracks.push(one);
      else bound.unsupported.push(track.name);
      if (target.property === 'quaternion') binding.turned.set(target.node, 'moving');
    }
  }

  return bound;
}

// Takes a buffer for the result, which three.js's type declarations leave out.
interface InterpolantFactory {
  createInterpolant(result: Float64Array): Interpolant & { settings: object };
}

/** The track's own interpolant, which writes into `result`. */
export function interpolantOf(track: KeyframeTrack, result: Float64Array): Interpolant {
  const interpolant = (track as unknown as InterpolantFactory).createInterpolant(result);
  interpolant.resultBuffer = result;
  interpolant.settings = INTERPOLANT_SETTINGS;
  return interpolant;
}

/** Binds a track of one morph influence or of all that a mesh has; null if the mesh is not drawn. */
function bindMorphs(binding: Binding, track: KeyframeTrack, target: TrackTarget): BoundTrack | null {
  const { rig, influences } = binding;
  const morphs = morphsOf(rig, target);
  if (morphs === null) return null;
  const { first: at, size } = morphs;
  const value = new Float64Array(size);
  const interpolant = checkedInterpolant(binding, track, target, size, value);
  const mix = mixerOf(binding, track);
  const apply = () => {
    for (let i = 0; i < size; i++)
      influences[at + i] = mix(influences[at + i], value[i], rig.morphRest[at + i]);
  };
  return { track, node: target.node, interpolant, apply };
}

function bindTrack(binding: Binding, track: KeyframeTrack, target: TrackTarget): BoundTrack | null {
  const { rig, trs, additive, repeated } = binding;
  const { node, property, component } = target;
  const place = OFFSETS[property];
  const at = node * TRS_SIZE;

  if (component !== undefined) {
    const axis = AXES.indexOf(component);
    const value = new Float64Array(1);
    if (axis === -1 || axis >= (place?.size ?? 3)) return null;
    if (place) {
      const index = at + place.offset + axis;
      const interpolant = checkedInterpolant(binding, track, target, 1, value);
      const mix = mixerOf(binding, track);
      const apply = () => {
        trs[index] = mix(trs[index], value[0], rig.rest[index]);
      };
      return { track, node, interpolant, apply };
    }
    if (property !== 'rotation') return null;
    const apply = angleSetter(binding, node, axis, value, mixerOf(binding, track));
    return { track, node, interpolant: checkedInterpolant(binding, track, target, 1, value), apply };
  }

  // three.js cannot play the three angles of `rotation` as one track.
  if (!place) return null;
  const start = at + place.offset;
  if (!additive && !repeated.has(track)) {
    const view = trs.subarray(start, start + place.size);
    const interpolant = checkedInterpolant(binding, track, target, place.size, view);
    return { track, node, interpolant, apply: null };
  }

  const value = new Float64Array(place.size);
  const interpolant = checkedInterpolant(binding, track, target, place.size, value);
  if (track.ValueTypeName === 'quaternion') {
    const share = repeated.shareOf(track);
    const before = share === 1 ? rig.rest : trs;
    const apply = () => {
      if (additive) {
        _quaternion.fromArray(before, start).multiply(_delta.fromArray(value)).toArray(trs, start);
      } else if (share === 1) trs.set(value, start);
      else slerp(trs, start, value, 0, share);
    };
    return { track, node, interpolant, apply };
  }
  const mix = mixerOf(binding, track);
  const apply = () => {
    for (let i = 0; i < place.size; i++) trs[start + i] = mix(trs[start + i], value[i], rig.rest[start + i]);
  };
  return { track, node, interpolant, apply };
}

/** A number of a property after a track, of the number before it, that of the track, and that of the rest pose. */
type Mixer = (before: number, value: number, rest: number) => number;

/** How three.js brings in a track that has its name for itself, or is the first of those that share one, or a further one. */
function mixerOf({ additive, repeated }: Binding, track: KeyframeTrack): Mixer {
  const share = repeated.shareOf(track);
  if (additive) return (before, value, rest) => (share === 1 ? rest : before) + value;
  return (before, value) => (share === 1 ? value : before + (value - before) * share);
}

/**
 * Makes a function that sets one of a node's Euler angles. As in three.js, the node's other angles are kept as angles: read
 * back from the quaternion, they would flip when a turn passes 90°.
 */
function angleSetter(
  { rig, trs, rotations, turned }: Binding,
  node: number,
  axis: number,
  value: Float64Array,
  mix: Mixer,
): () => void {
  const angle = AXES[axis] as 'x' | 'y' | 'z';
  const at = node * TRS_SIZE + 3;
  const rest = Array.from(rig.restRotations.subarray(node * 3, node * 3 + 3));

  let euler = rotations.get(node);
  let moving = false;
  if (euler === undefined) {
    euler = new Euler(rest[0], rest[1], rest[2], rig.rotationOrders[node]);
    rotations.set(node, euler);
    // If an earlier track sets the quaternion, it decides the other angles.
    moving = turned.get(node) === 'moving';
    if (turned.has(node)) euler.setFromQuaternion(_quaternion.fromArray(trs, at));
  }

  const rotation = euler;
  return () => {
    if (moving) rotation.setFromQuaternion(_quaternion.fromArray(trs, at));
    rotation[angle] = mix(rotation[angle], value[0], rest[axis]);
    _quaternion.setFromEuler(rotation).toArray(trs, at);
  };
}

/**
 * The track's interpolant, after a check that it gives as many numbers as are to be set: some interpolants run forever on
 * quaternions that do not have four.
 *
 * @param size Numbers that are set.
 */
function checkedInterpolant(
  { clip }: Binding,
  track: KeyframeTrack,
  { property, component }: TrackTarget,
  size: number,
  result: Float64Array,
): Interpolant {
  const interpolant = interpolantOf(track, result);
  // Not the track's own value size, which for glTF cubic splines counts two tangents as well.
  const { valueSize } = interpolant as unknown as { valueSize: number };
  if (valueSize === size) return interpolant;
  const wayOut = property === 'morphTargetInfluences' ? ', or bake with morphTargets: false' : '';
  throw new Error(
    `Track "${track.name}" of clip "${clip.name}" has ${valueSize} values per key, but ` +
      `${component === undefined ? property : `one number of ${property}`} takes ${size}; mend or remove the track${wayOut}.`,
  );
}

/** Whether each key of a track is the value of a whole property, and nothing else. */
function isPlain(track: KeyframeTrack, { property, component }: TrackTarget): boolean {
  return component === undefined && OFFSETS[property]?.size === track.getValueSize();
}

function isConstant(track: KeyframeTrack): boolean {
  const { values } = track;
  const size = track.getValueSize();
  for (let i = size; i < values.length; i++) {
    if (values[i] !== values[i % size]) return false;
  }
  // Between equal values, tangents bend a curve.
  return !hasTangents(track);
}

/** Whether a track has tangents beside its values, as the Bézier tracks of newer three.js versions have. */
export function hasTangents(track: KeyframeTrack): boolean {
  return (track as { settings?: { inTangents?: unknown } }).settings?.inTangents !== undefined;
}

/**
 * The tracks of a clip that have a name in common, as files with several nodes of one name give them. AnimationMixer keeps one
 * value for all tracks of one name, and mixes each further one into it; those of additive clips it adds up.
 */
class RepeatedNames {
  private readonly repeated = new Set<string>();
  private readonly counts = new Map<string, number>();

  constructor(tracks: readonly KeyframeTrack[]) {
    const found = new Set<string>();
    for (const { name } of tracks) (found.has(name) ? this.repeated : found).add(name);
  }

  has({ name }: KeyframeTrack): boolean {
    return this.repeated.has(name);
  }

  /** By how much of it a track is mixed into those of its name that were asked for before: 1, a half, a third, and so on. */
  shareOf({ name }: KeyframeTrack): number {
    if (!this.repeated.has(name)) return 1;
    const count = (this.counts.get(name) ?? 0) + 1;
    this.counts.set(name, count);
    return 1 / count;
  }
}
