import { Matrix4, Quaternion, Vector3 } from 'three';
import type { SkinnedInstancedMesh } from '../objects/SkinnedInstancedMesh.js';
import type { InstancePlacement, PlacedObject } from './InstancePlacement.js';

/** Scales that differ by less than this share are the same: instances are kept in float32. */
const SAME_SCALE = 1e-5;

const _matrix = /*@__PURE__*/ new Matrix4();
const _parent = /*@__PURE__*/ new Matrix4();
const _position = /*@__PURE__*/ new Vector3();
const _quaternion = /*@__PURE__*/ new Quaternion();
const _scale = /*@__PURE__*/ new Vector3();

/**
 * Lets an object go where its instance is, if that was moved by other means: by root motion, or because the crowd became a copy of
 * another. Nothing of the object has changed since its instance was placed last.
 *
 * @param always Whether its place is taken over although the instance seems to be where it was.
 */
export function adoptPlace(
  object: PlacedObject,
  mesh: SkinnedInstancedMesh,
  placement: InstancePlacement,
  always: boolean,
): void {
  const { array } = mesh.instanceMatrix;
  const at = object.instanceId * 16;
  if (!always && isSame(array, at, placement.inCrowd(object).elements)) return;
  _matrix.fromArray(array, at);
  if (!object.isAtHome) {
    _matrix.premultiply(mesh.matrixWorld);
    if (object.parent !== null) _matrix.premultiply(_parent.copy(object.parent.matrixWorld).invert());
  }
  object.matrix.copy(_matrix);
  _matrix.decompose(_position, _quaternion, _scale);
  object.position.copy(_position);
  object.quaternion.copy(_quaternion);
  // It would drift away by roundings, frame by frame.
  if (_scale.sub(object.scale).length() > SAME_SCALE * object.scale.length()) {
    object.scale.add(_scale);
  }
}

function isSame(array: ArrayLike<number>, at: number, elements: readonly number[]): boolean {
  for (let i = 0; i < 16; i++) if (array[at + i] !== Math.fround(elements[i])) return false;
  return true;
}
