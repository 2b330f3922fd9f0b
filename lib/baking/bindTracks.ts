import type { AnimationClip, Interpolant, KeyframeTrack } from 'three';
import { AdditiveAnimationBlendMode, Euler, PropertyBinding, Quaternion, WrapAroundEnding } from 'three';
import { type Rig, TRS_SIZE } from '../poses/Rig.js';

const NAME = 'BoneTexture.bake';

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

/** What a track name means for one rig. */
export interface TrackTarget {
  /** Index among the rig's nodes, -1 if there is none. */
  node: number;
  property: string;
  /** What the track's name has in brackets after the property. */
  component: string | undefined;
}

/** Remembers what track names mean for one rig: the clips of a character use the same few names again and again. */
export class TrackTargets {
  private readonly rig: Rig;
  private readonly known = new Map<string, TrackTarget>();

  constructor(rig: Rig) {
    this.rig = rig;
  }

  /** Finds the node and property of a track as `PropertyBinding` does. */
  find(name: string): TrackTarget {
    let target = this.known.get(name);
    if (target === undefined) {
      const parsed = PropertyBinding.parseTrackName(name);
      const { propertyName: property, propertyIndex: component } = parsed;
      target = { node: findNode(this.rig, parsed), property, component };
      this.known.set(name, target);
    }
    return target;
  }
}

const known = /*@__PURE__*/ new WeakMap<Rig, TrackTargets>();

/** What track names mean for a rig, which those who read its clips one after another find out but once. */
export function trackTargetsOf(rig: Rig): TrackTargets {
  let targets = known.get(rig);
  if (targets === undefined) {
    targets = new TrackTargets(rig);
    known.set(rig, targets);
  }
  return targets;
}

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
    } else if (isPlain(track, target) && isConstant(track) && !additive) {
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

type ParsedName = ReturnType<typeof PropertyBinding.parseTrackName>;

/** The node that a track name means; -1 if there is none. */
function findNode(rig: Rig, { nodeName, objectName, objectIndex }: ParsedName): number {
  if (objectName === undefined) return findByName(rig, nodeName);
  if (objectName !== 'bones') return -1;
  // `.bones[Hips].position`, as exporters of the old JSON format wrote it
  const bones = rig.bones.get(findByName(rig, nodeName));
  return bones?.find((bone) => rig.names[bone] === objectIndex) ?? bones?.[Number(objectIndex)] ?? -1;
}

/** As `PropertyBinding.findNode` does: the root if there is no name, then a skeleton's bones, then all nodes in order. */
function findByName({ names, uuids, bones }: Rig, name: string | undefined): number {
  if (!name || name === '.' || name === names[0] || name === uuids[0]) return 0;
  const bone = bones.get(0)?.find((node) => names[node] === name);
  return bone ?? names.findIndex((other, node) => other === name || uuids[node] === name);
}

/** Binds a track of one morph influence or of all that a mesh has; null if the mesh is not drawn. */
function bindMorphs(binding: Binding, track: KeyframeTrack, target: TrackTarget): BoundTrack | null {
  const { rig, influences, additive } = binding;
  const { node, component } = target;
  const part = rig.parts.find((candidate) => candidate.node === node);
  if (part === undefined || part.morphOffset < 0) return null;
  const { morphCount, morphIndices } = part;
  const size = component === undefined ? morphCount : 1;
  const index = component === undefined ? 0 : (morphIndices[component] ?? Number(component));
  const at = part.morphOffset + index;
  if (!(index >= 0 && index + size <= morphCount && at + size <= influences.length)) return null;

  const value = new Float64Array(size);
  const interpolant = checkedInterpolant(binding, track, target, size, value);
  const apply = () => {
    for (let i = 0; i < size; i++) influences[at + i] = value[i] + (additive ? rig.morphRest[at + i] : 0);
  };
  return { track, node, interpolant, apply };
}

function bindTrack(binding: Binding, track: KeyframeTrack, target: TrackTarget): BoundTrack | null {
  const { rig, trs, additive } = binding;
  const { node, property, component } = target;
  const place = OFFSETS[property];
  const at = node * TRS_SIZE;

  if (component !== undefined) {
    const axis = AXES.indexOf(component);
    const value = new Float64Array(1);
    if (axis === -1 || axis >= (place?.size ?? 3)) return null;
    if (place) {
      const index = at + place.offset + axis;
      const base = additive ? rig.rest[index] : 0;
      const interpolant = checkedInterpolant(binding, track, target, 1, value);
      const apply = () => {
        trs[index] = base + value[0];
      };
      return { track, node, interpolant, apply };
    }
    if (property !== 'rotation') return null;
    const apply = angleSetter(binding, node, axis, value);
    return { track, node, interpolant: checkedInterpolant(binding, track, target, 1, value), apply };
  }

  // three.js cannot play the three angles of `rotation` as one track.
  if (!place) return null;
  const start = at + place.offset;
  if (!additive) {
    const view = trs.subarray(start, start + place.size);
    return {
      track,
      node,
      interpolant: checkedInterpolant(binding, track, target, place.size, view),
      apply: null,
    };
  }

  const value = new Float64Array(place.size);
  const base = rig.rest.slice(start, start + place.size);
  const turn = () => {
    _quaternion.fromArray(base).multiply(_delta.fromArray(value)).toArray(trs, start);
  };
  const add = () => {
    for (let i = 0; i < place.size; i++) trs[start + i] = base[i] + value[i];
  };
  const interpolant = checkedInterpolant(binding, track, target, place.size, value);
  return { track, node, interpolant, apply: track.ValueTypeName === 'quaternion' ? turn : add };
}

/**
 * Makes a function that sets one of a node's Euler angles. As in three.js, the node's other angles are kept as angles: read
 * back from the quaternion, they would flip when a turn passes 90°.
 */
function angleSetter(
  { rig, trs, additive, rotations, turned }: Binding,
  node: number,
  axis: number,
  value: Float64Array,
): () => void {
  const angle = AXES[axis] as 'x' | 'y' | 'z';
  const at = node * TRS_SIZE + 3;
  const rest = Array.from(rig.restRotations.subarray(node * 3, node * 3 + 3));
  const base = additive ? rest[axis] : 0;

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
    rotation[angle] = base + value[0];
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
    `${NAME}: track "${track.name}" of clip "${clip.name}" has ${valueSize} values per key, but ` +
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
