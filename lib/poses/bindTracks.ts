import type { AnimationClip, Interpolant, KeyframeTrack, Object3D, SkinnedMesh } from 'three';
import {
  AdditiveAnimationBlendMode,
  Euler,
  PropertyBinding,
  Quaternion,
  Vector3,
  WrapAroundEnding,
} from 'three';
import { type Rig, TRS_SIZE } from './Rig.js';

/** A track that writes straight into the local transforms: its interpolant's result buffer is a view of them. */
export interface BoundTrack {
  node: number;
  interpolant: Interpolant;
  /** Runs after the interpolant for tracks that do not hold plain position, quaternion or scale. */
  apply: (() => void) | null;
}

export interface BoundTracks {
  tracks: BoundTrack[];
  /** Tracks of morph targets' influences. */
  morphs: BoundTrack[];
  /** Nodes that tracks of one value have set. */
  still: number[];
  /** Names of tracks whose node is not under the root. */
  missing: string[];
  /** Names of tracks that move something else than a node or the morph targets of a part. */
  unsupported: string[];
}

const OFFSETS: Record<string, { offset: number; size: number }> = {
  position: { offset: 0, size: 3 },
  quaternion: { offset: 3, size: 4 },
  scale: { offset: 7, size: 3 },
};

const AXES: Record<string, number> = { x: 0, y: 1, z: 2, w: 3 };

const _quaternion = /*@__PURE__*/ new Quaternion();
const _delta = /*@__PURE__*/ new Quaternion();
const _euler = /*@__PURE__*/ new Euler();

// What an action of LoopRepeat, three.js's default, settles on; only InterpolateSmooth tracks look at it.
const INTERPOLANT_SETTINGS = { endingStart: WrapAroundEnding, endingEnd: WrapAroundEnding };

/**
 * Finds the node and property of each track as `PropertyBinding` does, and lets the tracks' own interpolants
 * (linear, step, cubic spline, slerp, or what a loader put in their place) write into `trs`.
 *
 * Tracks of one value throughout are written at once.
 *
 * @param trs Local transforms, `TRS_SIZE` numbers a node, at rest.
 * @param influences Those of the rig's morph targets, at rest.
 * @param targets What track names mean, kept from clip to clip.
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

  for (const track of clip.tracks) {
    let target = targets.get(track.name);
    if (target === undefined) {
      const parsed = PropertyBinding.parseTrackName(track.name);
      const { propertyName: property, propertyIndex: component } = parsed;
      const node = findNode(rig, parsed);
      const place = component === undefined ? OFFSETS[property] : undefined;
      const at = node * TRS_SIZE + (place?.offset ?? 0);
      target = { node, property, component, view: place ? trs.subarray(at, at + place.size) : null };
      targets.set(track.name, target);
    }

    if (target.node === -1) {
      bound.missing.push(track.name);
    } else if (target.property === 'morphTargetInfluences') {
      const one = bindMorphs(rig, track, target, influences, additive);
      if (one) bound.morphs.push(one);
      else if (rig.morphing) bound.unsupported.push(track.name);
    } else if (isConstant(track) && !additive && OFFSETS[target.property]?.size === track.getValueSize()) {
      const { offset } = OFFSETS[target.property];
      const at = target.node * TRS_SIZE + offset;
      for (let i = 0; i < track.getValueSize(); i++) trs[at + i] = track.values[i];
      bound.still.push(target.node);
    } else {
      const one = bindTrack(rig, track, target, trs, additive);
      if (one) bound.tracks.push(one);
      else bound.unsupported.push(track.name);
    }
  }

  return bound;
}

type ParsedName = ReturnType<typeof PropertyBinding.parseTrackName>;

/** What a track name means under one root; clips of a character use the same few names over and over. */
export type TrackTargets = Map<string, TrackTarget>;

interface TrackTarget {
  node: number;
  property: string;
  component: string | undefined;
  /** What a track of the whole property writes to. */
  view: Float64Array | null;
}

// The factory a track carries takes a buffer for its results, which the type declarations do not know.
interface InterpolantFactory {
  createInterpolant(result: Float64Array): Interpolant & { settings: object };
}

function findNode(rig: Rig, parsed: ParsedName): number {
  const { root, nodes } = rig;
  let found: Object3D | undefined | null;

  // `.bones[Hips].position`, as exporters of the old JSON format wrote it
  if (parsed.objectName === 'bones') {
    const owner = PropertyBinding.findNode(root, parsed.nodeName) as SkinnedMesh | null;
    found = owner?.skeleton?.bones.find((bone) => bone.name === parsed.objectIndex);
  } else if (parsed.objectName === undefined) {
    found = PropertyBinding.findNode(root, parsed.nodeName) as Object3D | null;
  }

  return found ? nodes.indexOf(found) : -1;
}

/** A track of one influence or of all that a mesh has; null for meshes that are not drawn. */
function bindMorphs(
  rig: Rig,
  track: KeyframeTrack,
  { node, component }: TrackTarget,
  influences: Float64Array,
  additive: boolean,
): BoundTrack | null {
  const part = rig.parts.find(({ mesh }) => mesh === rig.nodes[node]);
  if (part === undefined || part.morphOffset < 0) return null;
  const size = component === undefined ? track.getValueSize() : 1;
  const index =
    component === undefined ? 0 : (part.mesh.morphTargetDictionary?.[component] ?? Number(component));
  const at = part.morphOffset + index;
  if (!(at >= 0 && at + size <= influences.length)) return null;

  const value = new Float64Array(size);
  const interpolant = (track as unknown as InterpolantFactory).createInterpolant(value);
  interpolant.resultBuffer = value;
  interpolant.settings = INTERPOLANT_SETTINGS;
  const apply = () => {
    for (let i = 0; i < size; i++) influences[at + i] = value[i] + (additive ? rig.morphRest[at + i] : 0);
  };
  return { node, interpolant, apply };
}

function bindTrack(
  rig: Rig,
  track: KeyframeTrack,
  { node, property, component, view }: TrackTarget,
  trs: Float64Array,
  additive: boolean,
): BoundTrack | null {
  const direct = view !== null && !additive;
  const value = direct ? view : new Float64Array(4);
  const interpolant = (track as unknown as InterpolantFactory).createInterpolant(value);
  interpolant.resultBuffer = value;
  interpolant.settings = INTERPOLANT_SETTINGS;

  const at = node * TRS_SIZE;
  const bound: BoundTrack = { node, interpolant, apply: null };
  if (direct) return bound;

  const place = OFFSETS[property];
  if (place && component !== undefined) {
    const axis = at + place.offset + (AXES[component] ?? Number(component));
    const base = additive ? rig.rest[axis] : 0;
    bound.apply = () => {
      trs[axis] = base + value[0];
    };
  } else if (property === 'quaternion') {
    bound.apply = () => {
      _quaternion
        .fromArray(rig.rest, at + 3)
        .multiply(_delta.fromArray(value))
        .toArray(trs, at + 3);
    };
  } else if (place) {
    const base = new Vector3().fromArray(rig.rest, at + place.offset);
    bound.apply = () => {
      trs[at + place.offset] = base.x + value[0];
      trs[at + place.offset + 1] = base.y + value[1];
      trs[at + place.offset + 2] = base.z + value[2];
    };
  } else if (property === 'rotation' && component !== undefined && !additive) {
    bound.apply = () => applyEulerAngle(rig, node, component, value[0], trs);
  } else {
    return null;
  }

  return bound;
}

/** Sets one Euler angle; the others are what the quaternion so far says. three.js cannot play all three as one track. */
function applyEulerAngle(rig: Rig, node: number, component: string, angle: number, trs: Float64Array): void {
  const at = node * TRS_SIZE + 3;
  _euler.setFromQuaternion(_quaternion.fromArray(trs, at), rig.nodes[node].rotation.order);
  const axis = AXES[component] ?? Number(component);
  if (axis === 0) _euler.x = angle;
  else if (axis === 1) _euler.y = angle;
  else _euler.z = angle;
  _quaternion.setFromEuler(_euler).toArray(trs, at);
}

function isConstant(track: KeyframeTrack): boolean {
  const { values } = track;
  const size = track.getValueSize();
  for (let i = size; i < values.length; i++) {
    if (values[i] !== values[i % size]) return false;
  }
  return true;
}
