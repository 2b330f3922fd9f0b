import {
  EDIT_KIND,
  EDIT_NODE,
  EDIT_VALUE,
  EDIT_WEIGHT,
  KIND_ADD,
  KIND_POSITION,
  KIND_ROTATION,
  LIVE_HAS,
  LIVE_TEXELS,
} from '../../../shaders/editLayout.js';
import { multiplyQuaternions, slerp } from '../../animation/mixPose.js';
import { PROPERTY_OFFSETS, ROTATION, SCALE, TRANSLATION } from '../../animation/PoseTracks.js';
import { TRS_SIZE } from '../../animation/Rig.js';

const _value = /*@__PURE__*/ new Float64Array(4);
const _turned = /*@__PURE__*/ new Float64Array(4);

/**
 * Lays a live pose over the local transform of a node: twin of `mixLive` in the shaders.
 *
 * @param live The pose's numbers begin at `at`.
 * @param trs `TRS_SIZE` numbers a node.
 */
export function mixLiveNode(
  live: Float32Array,
  at: number,
  node: number,
  weight: number,
  trs: Float64Array,
): void {
  const from = at + node * LIVE_TEXELS * 4;
  if (live[from + LIVE_HAS] === 0) return;
  const to = node * TRS_SIZE;
  turnTo(trs, to + PROPERTY_OFFSETS[ROTATION], live, from, weight);
  moveTo(trs, to + PROPERTY_OFFSETS[TRANSLATION], live, from + 4, weight);
  moveTo(trs, to + PROPERTY_OFFSETS[SCALE], live, from + 8, weight);
}

/** Applies an edit to the local transform of its node: twin of `editLocal` in the shaders. */
export function editLocal(edits: Float32Array, at: number, trs: Float64Array): void {
  const kind = edits[at + EDIT_KIND];
  const weight = edits[at + EDIT_WEIGHT];
  const node = edits[at + EDIT_NODE] * TRS_SIZE;
  const value = at + EDIT_VALUE;
  const adds = (kind & KIND_ADD) !== 0;
  if ((kind & ~KIND_ADD) === KIND_ROTATION) {
    const to = node + PROPERTY_OFFSETS[ROTATION];
    if (adds) {
      for (let i = 0; i < 4; i++) _value[i] = edits[value + i];
      multiplyQuaternions(trs, to, _value, _turned);
      turnTo(trs, to, _turned, 0, weight);
    } else {
      turnTo(trs, to, edits, value, weight);
    }
  } else if ((kind & ~KIND_ADD) === KIND_POSITION) {
    const to = node + PROPERTY_OFFSETS[TRANSLATION];
    if (adds) for (let i = 0; i < 3; i++) trs[to + i] += edits[value + i] * weight;
    else moveTo(trs, to, edits, value, weight);
  } else {
    const to = node + PROPERTY_OFFSETS[SCALE];
    if (adds) for (let i = 0; i < 3; i++) trs[to + i] *= 1 + (edits[value + i] - 1) * weight;
    else moveTo(trs, to, edits, value, weight);
  }
}

function turnTo(trs: Float64Array, to: number, value: ArrayLike<number>, at: number, weight: number): void {
  if (weight < 1) slerp(trs, to, value, at, weight);
  else for (let i = 0; i < 4; i++) trs[to + i] = value[at + i];
}

function moveTo(trs: Float64Array, to: number, value: ArrayLike<number>, at: number, weight: number): void {
  for (let i = 0; i < 3; i++) trs[to + i] = trs[to + i] * (1 - weight) + value[at + i] * weight;
}
