import { type Box3, Matrix4, type Object3D, Ray, type Raycaster, Sphere, Vector3 } from 'three';
import { goesByInstanceLayers } from '../backends/DrawnCrowd.js';
import { GROUP_SIZE } from '../culling/InstanceGroups.js';
import {
  type CrowdIntersection,
  type RaycastCrowd,
  raycastInstance,
  rayGeometryOf,
} from './raycastInstance.js';

const _sphere = /*@__PURE__*/ new Sphere();
const _local = /*@__PURE__*/ new Ray();
const _inverse = /*@__PURE__*/ new Matrix4();
const _vector = /*@__PURE__*/ new Vector3();
/** The ray and the place of a crowd for which `_inverse` and `_local` were last made. */
const _lastRay = /*@__PURE__*/ new Ray();
const _lastWorld = /*@__PURE__*/ new Matrix4();

/** Objects that stand for instances, and are what rays hit in their place. */
export interface RayObjects {
  /** Whether a ray may hit an instance: not if its hits in a mesh are in the list already. */
  mayHit(index: number, mesh: Object3D, intersects: readonly CrowdIntersection[]): boolean;
  /** The object that stands for an instance; null if none does. */
  objectOf(index: number): Object3D | null;
}

/** Instances that the ray may meet, and from where on; and what it meets of one of them. */
const _met: { index: number; distance: number }[] = [];
const _hits: CrowdIntersection[] = [];

/**
 * Intersects a crowd as it is posed on screen: spheres around groups of instances first, around all poses of an instance, then
 * boxes of patches of triangles in the pose that is shown, large ones and then the small ones they consist of, then the triangles
 * of those the ray meets, skinned on the CPU.
 *
 * If the raycaster has `firstHitOnly`, as three-mesh-bvh knows it, only the nearest hit is found, from the nearest instance on.
 *
 * @param poseBounds Of every pose.
 * @param objects Those that stand for instances; null if none do.
 */
export function raycastCrowd(
  crowd: RaycastCrowd,
  raycaster: Raycaster,
  intersects: CrowdIntersection[],
  poseBounds: Box3,
  objects: RayObjects | null = null,
): void {
  const { geometry, material, matrixWorld } = crowd;
  if (material === undefined || poseBounds.isEmpty()) return;
  if (crowd.crowd.written !== null) {
    crowd.crowd.written.warn('a ray');
    return;
  }
  if (crowd.boundingSphere === null) crowd.computeBoundingSphere();
  _sphere.copy(crowd.boundingSphere as Sphere).applyMatrix4(matrixWorld);
  if (!raycaster.ray.intersectsSphere(_sphere)) return;

  const rayGeometry = rayGeometryOf(geometry);
  setLocalRay(crowd, raycaster);
  const nearestOnly = (raycaster as { firstHitOnly?: boolean }).firstHitOnly === true;
  _met.length = 0;
  findMet(crowd, raycaster.layers.mask, objects, intersects);
  const first = intersects.length;
  if (!nearestOnly) {
    for (const { index } of _met)
      raycastInstance(crowd, raycaster, _local, index, rayGeometry, poseBounds, intersects);
    nameObjects(crowd, intersects, first, objects);
    return;
  }

  _met.sort((a, b) => a.distance - b.distance);
  let nearest: CrowdIntersection | null = null;
  let farthest = Infinity;
  for (const { index, distance } of _met) {
    if (distance > farthest) break;
    _hits.length = 0;
    raycastInstance(crowd, raycaster, _local, index, rayGeometry, poseBounds, _hits);
    for (const hit of _hits) {
      if (nearest !== null && hit.distance >= nearest.distance) continue;
      nearest = hit;
      farthest = _vector.copy(hit.point).applyMatrix4(_inverse).distanceTo(_local.origin);
    }
  }
  _hits.length = 0;
  if (nearest !== null) intersects.push(nearest);
  nameObjects(crowd, intersects, first, objects);
}

/**
 * Whether a ray may hit an instance: it is drawn, and the ray meets the sphere around all its poses and all that is attached to it.
 * It is asked of every object in the scene, of which a ray meets few.
 */
export function mayMeet(crowd: RaycastCrowd, raycaster: Raycaster, index: number): boolean {
  const { visibility, views } = crowd;
  if (!visibility.isDrawn(index)) return false;
  views.updateGroups();
  setLocalRay(crowd, raycaster);
  return distanceToSphere(_local, views.groups.spheres, index) < Infinity;
}

/** Intersects a single instance, that `mayMeet` lets the ray meet, by the object that stands for it. */
export function raycastOne(
  crowd: RaycastCrowd,
  raycaster: Raycaster,
  index: number,
  intersects: CrowdIntersection[],
  poseBounds: Box3,
  objects: RayObjects,
): void {
  if (crowd.material === undefined || poseBounds.isEmpty() || index >= crowd.count) return;
  if (!isOnLayers(crowd, index, raycaster.layers.mask)) return;
  if (!objects.mayHit(index, crowd, intersects)) return;
  setLocalRay(crowd, raycaster);
  const first = intersects.length;
  raycastInstance(crowd, raycaster, _local, index, rayGeometryOf(crowd.geometry), poseBounds, intersects);
  if ((raycaster as { firstHitOnly?: boolean }).firstHitOnly === true && intersects.length > first + 1) {
    const hits = intersects.splice(first);
    intersects.push(hits.reduce((nearest, hit) => (hit.distance < nearest.distance ? hit : nearest)));
  }
  nameObjects(crowd, intersects, first, objects);
}

/** Lets `_local` be the ray in the space of a crowd. */
function setLocalRay({ matrixWorld }: RaycastCrowd, { ray }: Raycaster): void {
  if (_lastWorld.equals(matrixWorld) && _lastRay.equals(ray)) return;
  _lastWorld.copy(matrixWorld);
  _lastRay.copy(ray);
  _local.copy(ray).applyMatrix4(_inverse.copy(matrixWorld).invert());
}

/** Puts the objects that stand for instances into their hits. */
function nameObjects(
  crowd: RaycastCrowd,
  intersects: readonly CrowdIntersection[],
  first: number,
  objects: RayObjects | null,
): void {
  if (objects === null) return;
  for (let i = first; i < intersects.length; i++) {
    const hit = intersects[i];
    const object = objects.objectOf(hit.instanceId as number);
    if (object === null) continue;
    hit.object = object;
    hit.mesh = crowd;
  }
}

/** Finds the drawn instances whose spheres the ray `_local` meets. */
function findMet(
  crowd: RaycastCrowd,
  mask: number,
  objects: RayObjects | null,
  intersects: readonly CrowdIntersection[],
): void {
  const { views, visibility, count } = crowd;
  views.updateGroups();
  const { spheres, order, groupSpheres, groupCount } = views.groups;
  for (let group = 0; group < groupCount; group++) {
    if (distanceToSphere(_local, groupSpheres, group) === Infinity) continue;
    const start = group * GROUP_SIZE;
    const end = Math.min(start + GROUP_SIZE, visibility.count);
    for (let i = start; i < end; i++) {
      const index = order[i];
      if (index >= count || !visibility.isDrawn(index)) continue;
      const distance = distanceToSphere(_local, spheres, index);
      if (distance === Infinity) continue;
      if (views.kinds?.shows(crowd, index) === false) continue;
      if (views.layers?.isUsed && !isOnLayers(crowd, index, mask)) continue;
      if (objects?.mayHit(index, crowd, intersects) === false) continue;
      _met.push({ index, distance });
    }
  }
}

/** Whether what a mesh shows of an instance is on one of some layers. */
function isOnLayers(mesh: RaycastCrowd, index: number, mask: number): boolean {
  const own = mesh.layers.mask;
  if (!goesByInstanceLayers(mesh)) return (own & mask) !== 0;
  return mesh.views.layers?.test(index, mask, own) ?? true;
}

/** How far along a ray a sphere begins, 0 from within it; infinite if the ray misses it. */
function distanceToSphere({ origin, direction }: Ray, spheres: Float32Array, index: number): number {
  const radius = spheres[index * 4 + 3];
  const way = _vector.fromArray(spheres, index * 4).sub(origin);
  const middle = way.dot(direction);
  const half = radius * radius - (way.lengthSq() - middle * middle);
  if (half < 0) return Infinity;
  const root = Math.sqrt(half);
  return middle + root < 0 ? Infinity : Math.max(middle - root, 0);
}
