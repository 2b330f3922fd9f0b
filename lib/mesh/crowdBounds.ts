import type { InstancedBufferAttribute, Sphere } from 'three';
import { Box3, Matrix4, Vector3 } from 'three';

const _matrix = /*@__PURE__*/ new Matrix4();
const _box = /*@__PURE__*/ new Box3();
const _crowd = /*@__PURE__*/ new Box3();
const _center = /*@__PURE__*/ new Vector3();
const _local = /*@__PURE__*/ new Vector3();

/** Box around `poseBounds` placed by the first `count` matrices. */
export function crowdBox(
  matrices: InstancedBufferAttribute,
  count: number,
  poseBounds: Box3,
  target: Box3,
): Box3 {
  target.makeEmpty();
  for (let i = 0; i < count; i++) {
    target.union(_box.copy(poseBounds).applyMatrix4(_matrix.fromArray(matrices.array, i * 16)));
  }
  return target;
}

/** Sphere around `poseBounds` placed by the first `count` matrices, about the middle of their box. */
export function crowdSphere(
  matrices: InstancedBufferAttribute,
  count: number,
  poseBounds: Box3,
  target: Sphere,
): Sphere {
  if (count === 0 || poseBounds.isEmpty()) return target.makeEmpty();
  crowdBox(matrices, count, poseBounds, _crowd).getCenter(target.center);
  poseBounds.getCenter(_local);
  const radius = poseBounds.getSize(_center).length() / 2;

  target.radius = 0;
  for (let i = 0; i < count; i++) {
    _matrix.fromArray(matrices.array, i * 16);
    const distance = _center.copy(_local).applyMatrix4(_matrix).distanceTo(target.center);
    target.radius = Math.max(target.radius, distance + radius * _matrix.getMaxScaleOnAxis());
  }
  return target;
}
