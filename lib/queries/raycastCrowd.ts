import { type Box3, Matrix4, Ray, type Raycaster, Sphere, Vector3 } from 'three';
import { type CrowdIntersection, type RaycastCrowd, raycastInstance } from './raycastInstance.js';
import { clustersOf } from './triangleClusters.js';

const _sphere = /*@__PURE__*/ new Sphere();
const _local = /*@__PURE__*/ new Ray();
const _matrix = /*@__PURE__*/ new Matrix4();
const _inverse = /*@__PURE__*/ new Matrix4();
const _center = /*@__PURE__*/ new Vector3();
const _vector = /*@__PURE__*/ new Vector3();

/** Instances that the ray may meet, and from where on; and what it meets of one of them. */
const _met: { index: number; distance: number }[] = [];
const _hits: CrowdIntersection[] = [];

/**
 * Intersects a crowd as it is posed on screen: spheres around all poses first, then boxes of patches of triangles in the
 * pose that is shown, large ones and then the small ones they consist of, then the triangles of those the ray meets, skinned on
 * the CPU.
 *
 * If the raycaster has `firstHitOnly`, as three-mesh-bvh knows it, only the nearest hit is found, from the nearest instance on.
 *
 * @param poseBounds Of every pose.
 */
export function raycastCrowd(
  crowd: RaycastCrowd,
  raycaster: Raycaster,
  intersects: CrowdIntersection[],
  poseBounds: Box3,
): void {
  const { geometry, material, matrixWorld, count, instanceMatrix, visibility } = crowd;
  if (material === undefined || poseBounds.isEmpty()) return;
  if (crowd.boundingSphere === null) crowd.computeBoundingSphere();
  _sphere.copy(crowd.boundingSphere as Sphere).applyMatrix4(matrixWorld);
  if (!raycaster.ray.intersectsSphere(_sphere)) return;

  const clusters = clustersOf(geometry);
  _local.copy(raycaster.ray).applyMatrix4(_inverse.copy(matrixWorld).invert());
  poseBounds.getCenter(_center);
  const radius = poseBounds.getSize(_vector).length() / 2;

  const nearestOnly = (raycaster as { firstHitOnly?: boolean }).firstHitOnly === true;
  _met.length = 0;
  for (let index = 0; index < count; index++) {
    if (!visibility.isDrawn(index)) continue;
    _matrix.fromArray(instanceMatrix.array, index * 16);
    _sphere.center.copy(_center).applyMatrix4(_matrix);
    _sphere.radius = radius * _matrix.getMaxScaleOnAxis();
    const distance = distanceToSphere(_local, _sphere);
    if (distance === Infinity) continue;
    if (nearestOnly) _met.push({ index, distance });
    else raycastInstance(crowd, raycaster, _local, index, clusters, poseBounds, intersects);
  }
  if (!nearestOnly) return;

  _met.sort((a, b) => a.distance - b.distance);
  let nearest: CrowdIntersection | null = null;
  let reach = Infinity;
  for (const { index, distance } of _met) {
    if (distance > reach) break;
    _hits.length = 0;
    raycastInstance(crowd, raycaster, _local, index, clusters, poseBounds, _hits);
    for (const hit of _hits) {
      if (nearest !== null && hit.distance >= nearest.distance) continue;
      nearest = hit;
      reach = _vector
        .copy(hit.point)
        .applyMatrix4(_inverse.copy(matrixWorld).invert())
        .distanceTo(_local.origin);
    }
  }
  _hits.length = 0;
  if (nearest !== null) intersects.push(nearest);
}

/** How far along a ray a sphere begins, 0 from within it; infinite if the ray misses it. */
function distanceToSphere({ origin, direction }: Ray, { center, radius }: Sphere): number {
  const way = _vector.subVectors(center, origin);
  const middle = way.dot(direction);
  const half = radius * radius - (way.lengthSq() - middle * middle);
  if (half < 0) return Infinity;
  const root = Math.sqrt(half);
  return middle + root < 0 ? Infinity : Math.max(middle - root, 0);
}
