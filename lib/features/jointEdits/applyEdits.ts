import { Matrix4, Quaternion, Vector3 } from 'three';
import {
  EDIT_AXIS,
  EDIT_COSINE,
  EDIT_KIND,
  EDIT_NODE,
  EDIT_SINE,
  EDIT_VALUE,
  EDIT_WEIGHT,
  KIND_ADD,
  KIND_LOOK_AT,
  KIND_MODEL,
  KIND_POSITION,
  KIND_ROTATION,
  LIVE_HAS,
  LIVE_TEXELS,
} from '../../../shaders/editLayout.js';
import { multiplyQuaternions, slerp } from '../../animation/mixPose.js';
import { PROPERTY_OFFSETS, ROTATION, SCALE, TRANSLATION } from '../../animation/PoseTracks.js';
import { TRS_SIZE } from '../../animation/Rig.js';
import { affineFromMatrix4, affineToMatrix4, linearDeterminant } from '../../utils/affine.js';

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

const _model = /*@__PURE__*/ new Matrix4();
const _rotation = /*@__PURE__*/ new Matrix4();
const _turn = /*@__PURE__*/ new Quaternion();
const _current = /*@__PURE__*/ new Quaternion();
const _direction = /*@__PURE__*/ new Vector3();
const _target = /*@__PURE__*/ new Vector3();
const _origin = /*@__PURE__*/ new Vector3();

/**
 * Applies an edit to a node's matrix relative to the root, in place: twin of `editModel` in the shaders. The node is turned
 * about its own origin, so that only the upper left of its matrix changes, or moved, so that only the last column does.
 *
 * @param m 12 numbers, row by row.
 */
export function editModel(edits: Float32Array, at: number, m: Float64Array, to: number): void {
  const kind = edits[at + EDIT_KIND];
  const weight = edits[at + EDIT_WEIGHT];
  if ((kind & KIND_LOOK_AT) === KIND_POSITION) {
    const keep = kind & KIND_ADD ? 1 : 1 - weight;
    for (let i = 0; i < 3; i++) {
      m[to + 3 + i * 4] = m[to + 3 + i * 4] * keep + edits[at + EDIT_VALUE + i] * weight;
    }
    return;
  }
  affineToMatrix4(m, to, _model);
  if (kind === KIND_LOOK_AT + KIND_MODEL) turnToTarget(edits, at);
  else {
    _turn.fromArray(edits, at + EDIT_VALUE);
    if (!(kind & KIND_ADD)) {
      // What is flattened has no rotation.
      if (linearDeterminant(m, to) === 0) return;
      _model.decompose(_origin, _current, _direction);
      _turn.multiply(_current.conjugate());
    }
  }
  _current.identity().slerp(_turn, weight);
  _rotation.makeRotationFromQuaternion(_current).multiply(_model);
  affineFromMatrix4(_rotation.setPosition(m[to + 3], m[to + 7], m[to + 11]), m, to);
}

/** Finds how a node has to turn so that its axis points at the target; the identity if there is no such turn. */
function turnToTarget(edits: Float32Array, at: number): void {
  _direction.fromArray(edits, at + EDIT_AXIS).transformDirection(_model);
  _turn.identity();
  _target
    .fromArray(edits, at + EDIT_VALUE)
    .sub(_origin.setFromMatrixPosition(_model))
    .normalize();
  if (_direction.lengthSq() === 0 || _target.lengthSq() === 0) return;
  const { x, y, z, w } = _turn.setFromUnitVectors(_direction, _target);
  const cosine = edits[at + EDIT_COSINE];
  if (w >= cosine) return;
  const sine = edits[at + EDIT_SINE] / Math.hypot(x, y, z);
  _turn.set(x * sine, y * sine, z * sine, cosine);
}
