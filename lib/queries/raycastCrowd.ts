import type { BufferAttribute, Intersection, Material, Raycaster } from 'three';
import { BackSide, Box3, DoubleSide, Matrix4, Ray, Sphere, Triangle, Vector2, Vector3 } from 'three';
import type { DrawnCrowd } from '../backends/DrawnCrowd.js';
import { expandByJoint } from '../poses/jointBoxes.js';
import { PosedInstance } from './PosedInstance.js';
import { type Clusters, clustersOf, type TriangleCluster } from './triangleClusters.js';

/** What a ray hit: an `Intersection` that says which part of the character. */
export interface CrowdIntersection extends Intersection {
  /** Name of the part, see `SkinnedInstancedMesh.partNames`. */
  part?: string;
}

/** A crowd that rays can hit. */
interface RaycastCrowd extends DrawnCrowd {
  /** Names of the parts of the character. */
  readonly partNames: readonly string[];
}

const _sphere = /*@__PURE__*/ new Sphere();
const _local = /*@__PURE__*/ new Ray();
const _ray = /*@__PURE__*/ new Ray();
const _matrix = /*@__PURE__*/ new Matrix4();
const _inverse = /*@__PURE__*/ new Matrix4();
const _box = /*@__PURE__*/ new Box3();
const _center = /*@__PURE__*/ new Vector3();
const _vector = /*@__PURE__*/ new Vector3();
const _corner = /*@__PURE__*/ [0, 1, 2].map(() => new Vector3());
const _instance = /*@__PURE__*/ new PosedInstance();

/** Instances that the ray may meet, and from where on; and what it meets of one of them. */
const _met: { index: number; distance: number }[] = [];
const _hits: CrowdIntersection[] = [];

/** Vertices of the instance at hand, as far as they were asked for. */
let _posed = /*@__PURE__*/ new Float64Array(0);

/**
 * Intersects a crowd as it is posed on screen: spheres around all poses first, then boxes of the clusters of triangles in
 * the pose that is shown, then the triangles of those the ray meets, skinned on the CPU.
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
  if (_posed.length < clusters.positions.length) _posed = new Float64Array(clusters.positions.length);
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
    else intersectInstance(crowd, raycaster, index, clusters, poseBounds, intersects);
  }
  if (!nearestOnly) return;

  _met.sort((a, b) => a.distance - b.distance);
  let nearest: CrowdIntersection | null = null;
  let reach = Infinity;
  for (const { index, distance } of _met) {
    if (distance > reach) break;
    _hits.length = 0;
    intersectInstance(crowd, raycaster, index, clusters, poseBounds, _hits);
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

/** Adds where the ray, which is `_local` in the crowd's space, meets an instance. */
function intersectInstance(
  crowd: RaycastCrowd,
  raycaster: Raycaster,
  index: number,
  clusters: Clusters,
  poseBounds: Box3,
  intersects: CrowdIntersection[],
): void {
  const { instanceMatrix, parts } = crowd;
  _matrix.fromArray(instanceMatrix.array, index * 16);
  _ray.copy(_local).applyMatrix4(_inverse.copy(_matrix).invert());
  if (!_ray.intersectsBox(poseBounds)) return;

  _instance.pose(crowd, index);
  for (const cluster of clusters.clusters) {
    if (parts !== null && !parts.isDrawn(index, cluster.part)) continue;
    if (!meetsBox(cluster)) continue;
    poseVertices(crowd, clusters, cluster.vertices);
    intersectTriangles(crowd, raycaster, index, clusters, cluster, intersects);
  }
}

/** Whether the ray meets the box of a cluster as it is posed, so far as that can be known. */
function meetsBox({ joints, boxes }: TriangleCluster): boolean {
  if (!_instance.hasJoints) return true;
  _box.makeEmpty();
  for (let i = 0; i < joints.length; i++) {
    const at = _instance.jointMatrix(joints[i]);
    expandByJoint(_box, boxes, i, _instance.palette, at);
  }
  return _ray.intersectsBox(_box);
}

/** Poses vertices, relative to the instance. */
function poseVertices({ geometry }: RaycastCrowd, { positions }: Clusters, vertices: Uint32Array): void {
  const morphs = geometry.morphAttributes.position !== undefined;
  for (const vertex of vertices) {
    const at = vertex * 3;
    if (morphs) _instance.morphedVertex(vertex, _vector);
    else _vector.set(positions[at], positions[at + 1], positions[at + 2]);
    _instance.applyPose(vertex, _vector);
    _posed[at] = _vector.x;
    _posed[at + 1] = _vector.y;
    _posed[at + 2] = _vector.z;
  }
}

/** Möller and Trumbore, "Fast, Minimum Storage Ray/Triangle Intersection", 1997; sides and ranges as `Mesh.raycast`. */
function intersectTriangles(
  crowd: RaycastCrowd,
  raycaster: Raycaster,
  instance: number,
  { index }: Clusters,
  { triangles, materialIndex, part }: TriangleCluster,
  intersects: CrowdIntersection[],
): void {
  const { material, geometry } = crowd;
  const one = Array.isArray(material) ? (material[materialIndex] as Material | undefined) : material;
  if (one === undefined) return;
  const { start: first, count: drawn } = geometry.drawRange;
  const { x: ox, y: oy, z: oz } = _ray.origin;
  const { x: dx, y: dy, z: dz } = _ray.direction;

  for (const i of triangles) {
    if (i < first || i >= first + drawn) continue;
    const va = index === null ? i : index[i];
    const vb = index === null ? i + 1 : index[i + 1];
    const vc = index === null ? i + 2 : index[i + 2];
    const a = va * 3;
    const b = vb * 3;
    const c = vc * 3;
    const e1x = _posed[b] - _posed[a];
    const e1y = _posed[b + 1] - _posed[a + 1];
    const e1z = _posed[b + 2] - _posed[a + 2];
    const e2x = _posed[c] - _posed[a];
    const e2y = _posed[c + 1] - _posed[a + 1];
    const e2z = _posed[c + 2] - _posed[a + 2];
    const px = dy * e2z - dz * e2y;
    const py = dz * e2x - dx * e2z;
    const pz = dx * e2y - dy * e2x;
    const determinant = e1x * px + e1y * py + e1z * pz;
    if (determinant === 0 || (one.side !== DoubleSide && determinant < 0 !== (one.side === BackSide)))
      continue;
    const tx = ox - _posed[a];
    const ty = oy - _posed[a + 1];
    const tz = oz - _posed[a + 2];
    const u = (tx * px + ty * py + tz * pz) / determinant;
    if (!(u >= 0 && u <= 1)) continue;
    const qx = ty * e1z - tz * e1y;
    const qy = tz * e1x - tx * e1z;
    const qz = tx * e1y - ty * e1x;
    const v = (dx * qx + dy * qy + dz * qz) / determinant;
    const t = (e2x * qx + e2y * qy + e2z * qz) / determinant;
    if (!(v >= 0 && u + v <= 1 && t >= 0)) continue;

    const point = _ray.at(t, new Vector3()).applyMatrix4(_matrix).applyMatrix4(crowd.matrixWorld);
    const distance = raycaster.ray.origin.distanceTo(point);
    if (distance < raycaster.near || distance > raycaster.far) continue;
    [a, b, c].forEach((at, corner) => _corner[corner].fromArray(_posed, at));
    const normal = Triangle.getNormal(_corner[0], _corner[1], _corner[2], new Vector3());
    const hit: CrowdIntersection = {
      distance,
      point,
      object: crowd,
      instanceId: instance,
      part: crowd.partNames[part],
      faceIndex: Math.floor(i / 3),
      face: { a: va, b: vb, c: vc, normal, materialIndex },
      barycoord: new Vector3(1 - u - v, u, v),
    };
    addAttributes(crowd, hit, [va, vb, vc]);
    intersects.push(hit);
  }
}

/** Adds what the triangle's vertices carry, and their normals as they are posed. */
function addAttributes(
  { geometry }: RaycastCrowd,
  hit: CrowdIntersection,
  vertices: readonly number[],
): void {
  const shares = (hit.barycoord as Vector3).toArray();
  for (const name of ['uv', 'uv1'] as const) {
    const attribute = geometry.getAttribute(name) as BufferAttribute | undefined;
    if (attribute === undefined) continue;
    hit[name] = new Vector2();
    vertices.forEach((vertex, i) => {
      hit[name]?.addScaledVector(
        { x: attribute.getX(vertex), y: attribute.getY(vertex) } as Vector2,
        shares[i],
      );
    });
  }

  const normals = geometry.getAttribute('normal') as BufferAttribute | undefined;
  if (normals === undefined) return;
  const normal = new Vector3();
  vertices.forEach((vertex, corner) => {
    _instance.applyPoseToNormal(vertex, _vector.fromBufferAttribute(normals, vertex));
    normal.addScaledVector(_vector, shares[corner]);
  });
  hit.normal = normal.normalize();
  if (normal.dot(_ray.direction) > 0) normal.negate();
}
