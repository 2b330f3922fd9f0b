import { Quaternion } from 'three';
import { AFFINE_SIZE } from '../constants.js';
import { composeAffine, multiplyAffine } from '../utils/affine.js';
import {
  type PoseTracks,
  PROPERTY_OFFSETS,
  RANGES,
  ROTATION,
  readKey,
  SCALE,
  STEP_SLACK,
  storedFrame,
  TRACK_ABSENT,
  TRACK_CONSTANT,
  TRACK_STEP,
  TRACK_TEXEL,
  TRANSLATION,
  trackRow,
} from './PoseTracks.js';
import { TRS_SIZE } from './Rig.js';

/** What an instance shows: one clip, or several that are mixed, the topmost layer first, and of each the one started last. */
export interface PoseMix {
  /** As many as there may be; see `count`. */
  readonly clips: {
    /** First frame of the clip; 0 for the rest pose. */
    start: number;
    /** The frames between which the pose is. */
    frame0: number;
    frame1: number;
    /** How far from `frame0` to `frame1` the pose is, 0 to 1. */
    alpha: number;
    /** The layer that it plays on, 0 for the base. */
    layer: number;
    /** Its share of its layer. If the shares of a layer add up to less than 1, the layer below shows through; under the base, the rest pose. */
    weight: number;
  }[];
  /** How many of the clips are in use. */
  count: number;
  /** The layers that clips may be on, the base first. */
  readonly layers: {
    /** 0 to 1. */
    weight: number;
    /** The same on each node, and behind the nodes on each group of morph targets; null for all of it everywhere. */
    mask: Float32Array | null;
  }[];
}

/** A mix of one clip, which shows the rest pose. */
export function createPoseMix(): PoseMix {
  return { clips: [createPoseClip()], count: 1, layers: [{ weight: 1, mask: null }] };
}

/** The rest pose. */
export function createPoseClip(): PoseMix['clips'][number] {
  return { start: 0, frame0: 0, frame1: 0, alpha: 0, layer: 0, weight: 1 };
}

/** Actions that are mixed with each other; the result is laid over that of the layers before. */
export interface MixedLayer {
  actions: {
    /** Index of the clip. */
    clip: number;
    /** Where it is among the clip's frames that are stored. */
    place: number;
    /** As `AnimationAction.getEffectiveWeight()`. */
    weight: number;
  }[];
  /** How much of it shows, 0 to 1. */
  weight: number;
  /** The same on each node, and behind the nodes on each group of morph targets; null for all of it everywhere. */
  mask: Float32Array | null;
}

/**
 * What an instance shows, as layers of the actions of a mixer: the base first, and on each layer the clip that was started
 * first. With tracks, a clip's `start` is its number counted from 1; 0 is the rest pose.
 *
 * @param target Layers and their actions are reused, and are as many afterwards as there are.
 */
export function playedActions(
  { clips, count, layers }: PoseMix,
  tracks: PoseTracks,
  target: MixedLayer[],
): MixedLayer[] {
  for (let layer = 0; layer < layers.length; layer++) {
    target[layer] ??= { actions: [], weight: 1, mask: null };
    const { actions } = target[layer];
    target[layer].weight = layers[layer].weight;
    target[layer].mask = layers[layer].mask;
    let used = 0;
    for (let i = count - 1; i >= 0; i--) {
      const clip = clips[i];
      if (clip.layer !== layer || clip.start === 0 || clip.weight <= 0) continue;
      actions[used] ??= { clip: 0, place: 0, weight: 0 };
      const action = actions[used++];
      action.clip = clip.start - 1;
      action.place = storedFrame(tracks.clips[action.clip], clip.frame0 - clip.start + clip.alpha);
      action.weight = clip.weight;
    }
    // Setting it costs something even where it is that already.
    if (actions.length !== used) actions.length = used;
  }
  if (target.length !== layers.length) target.length = layers.length;
  return target;
}

const _value = /*@__PURE__*/ new Float64Array(4);
const _next = /*@__PURE__*/ new Float64Array(4);
const _layer = /*@__PURE__*/ new Float64Array(4);
const _added = /*@__PURE__*/ new Float64Array(4);
const _work = /*@__PURE__*/ new Float64Array(4);

/**
 * Mixes what plays into the local transform of a node, in the order and with the arithmetic of three.js's `PropertyMixer`. The first
 * action that has a track for a property counts whole; each further one is mixed in by its share of the weights so far. If
 * the weights add up to less than 1, what was there before makes up the rest. Additive clips are added last.
 *
 * @param out `TRS_SIZE` numbers a node.
 */
export function mixNode(
  tracks: PoseTracks,
  layers: readonly MixedLayer[],
  node: number,
  out: Float64Array,
): void {
  const { rest } = tracks;
  const first = node * TRS_SIZE;
  for (let i = first; i < first + TRS_SIZE; i++) out[i] = rest[i];
  for (const layer of layers) {
    const share = shareOn(layer, node);
    if (share <= 0) continue;
    for (let property = ROTATION; property <= SCALE; property++) {
      mixProperty(tracks, layer.actions, node, property, share, out, first + PROPERTY_OFFSETS[property]);
    }
  }
  tracks.fit?.(node, out);
}

/**
 * Mixes what plays into influences of morph targets.
 *
 * @param out As many numbers as `morphRest` has.
 */
export function mixMorphs(tracks: PoseTracks, layers: readonly MixedLayer[], out: Float64Array): void {
  const { parents, morphRest } = tracks;
  for (let group = 0; group < morphRest.length / 4; group++) {
    _four.set(morphRest.subarray(group * 4, group * 4 + 4));
    const entry = parents.length + group;
    for (const layer of layers) {
      const share = shareOn(layer, entry);
      if (share > 0) mixProperty(tracks, layer.actions, entry, TRANSLATION, share, _four, 0);
    }
    out.set(_four, group * 4);
  }
}

const _four = /*@__PURE__*/ new Float64Array(4);

/** How much of a layer shows on a node, or on a group of morph targets behind the nodes. */
const shareOn = ({ weight, mask }: MixedLayer, entry: number): number =>
  weight * (mask === null ? 1 : mask[entry]);

function mixProperty(
  tracks: PoseTracks,
  actions: readonly MixedLayer['actions'][number][],
  node: number,
  property: number,
  share: number,
  out: Float64Array,
  at: number,
): void {
  let weights = 0;
  let added = 0;
  for (let k = 0; k < actions.length; k++) {
    const action = actions[k];
    if (!(action.weight > 0) || !readTrack(tracks, action, node, property, _value)) continue;
    if (tracks.clips[action.clip].additive) {
      if (added === 0) _added.set(property === ROTATION ? IDENTITY : ZERO);
      added += action.weight;
      addValue(property, _added, 0, _value, action.weight);
    } else if (weights === 0) {
      for (let i = 0; i < 4; i++) _layer[i] = _value[i];
      weights = action.weight;
    } else {
      weights += action.weight;
      mixValue(property, _layer, 0, _value, action.weight / weights);
    }
  }
  if (weights > 0) mixValue(property, out, at, _layer, Math.min(weights, 1) * share);
  if (added > 0) addValue(property, out, at, _added, share);
}

const IDENTITY = [0, 0, 0, 1];
const ZERO = [0, 0, 0, 0];

function mixValue(property: number, out: Float64Array, at: number, value: Float64Array, t: number): void {
  if (property === ROTATION) {
    if (t >= 1) for (let i = 0; i < 4; i++) out[at + i] = value[i];
    else slerp(out, at, value, 0, t);
    return;
  }
  // Arrays of four numbers hold a group of influences, or one value. In others, a fourth number would be of the next property.
  const size = out.length === 4 ? 4 : 3;
  for (let i = 0; i < size; i++) out[at + i] = out[at + i] * (1 - t) + value[i] * t;
}

function addValue(property: number, out: Float64Array, at: number, value: Float64Array, t: number): void {
  if (property === ROTATION) {
    multiplyQuaternions(out, at, value, _work);
    slerp(out, at, _work, 0, t);
    return;
  }
  const size = out.length === 4 ? 4 : 3;
  for (let i = 0; i < size; i++) out[at + i] += value[i] * t;
}

/** Reads a property of a node in a clip; false if the clip has no track for it. */
function readTrack(
  tracks: PoseTracks,
  { clip, place }: MixedLayer['actions'][number],
  node: number,
  property: number,
  out: Float64Array,
): boolean {
  if (property === TRANSLATION && tracks.readOwn?.(node, clip, place, out)) return true;
  const { clips, table } = tracks;
  const row = trackRow(tracks, clip, node);
  const entry = table[row + property];
  if (entry === TRACK_ABSENT) return false;
  const { stride, frames } = clips[clip];
  let first = 0;
  let alpha = 0;
  if (!(entry & TRACK_CONSTANT)) {
    first = Math.min(Math.floor(entry & TRACK_STEP ? place + STEP_SLACK : place), frames - 1);
    alpha = entry & TRACK_STEP ? 0 : place - first;
  }
  const ranges = table[row + RANGES];
  const texel = (entry & TRACK_TEXEL) + first * stride;
  readKey(tracks, entry, ranges, property, texel, out);
  if (alpha > 0) {
    readKey(tracks, entry, ranges, property, texel + stride, _next);
    mixValue(property, out, 0, _next, alpha);
  }
  return true;
}

/** Changes the matrix of a node, whose 12 numbers begin at `at`, before the nodes below are composed with it. */
export type EditModel = (node: number, model: Float64Array, at: number) => void;

/** The matrix of a node, relative to the character's root: its local transform composed with the matrix of its parent. */
export function composeModel(
  { parents, fixed, before }: Pick<PoseTracks, 'parents' | 'fixed' | 'before'>,
  trs: Float64Array,
  node: number,
  out: Float64Array,
): void {
  const at = node * AFFINE_SIZE;
  if (Number.isNaN(fixed[at])) composeAffine(trs, node * TRS_SIZE, _local, 0);
  else for (let i = 0; i < AFFINE_SIZE; i++) _local[i] = fixed[at + i];
  if (parents[node] === -1) multiplyAffine(before, 0, _local, 0, out, at);
  else multiplyAffine(out, parents[node] * AFFINE_SIZE, _local, 0, out, at);
}

const _local = /*@__PURE__*/ new Float64Array(AFFINE_SIZE);

// three.js's own functions, whose type declarations leave out typed arrays.
const flat = Quaternion as unknown as Record<
  'slerpFlat' | 'multiplyQuaternionsFlat',
  (out: Float64Array, at: number, ...more: (number | ArrayLike<number>)[]) => void
>;

/** Turns the quaternion at `a` towards the one at `b` by the share `t` of the way; the shaders have the same function. */
export function slerp(a: Float64Array, at: number, b: ArrayLike<number>, bAt: number, t: number): void {
  flat.slerpFlat(a, at, a, at, b, bAt, t);
}

/** Writes the product of two quaternions, the first of which begins at `at`. */
export function multiplyQuaternions(a: Float64Array, at: number, b: Float64Array, out: Float64Array): void {
  flat.multiplyQuaternionsFlat(out, 0, a, at, b, 0);
}
