import type { BufferAttribute, BufferGeometry, Intersection, Material, Object3D, Raycaster } from 'three';
import { BackSide, Box3, DoubleSide, Matrix4, Ray, Triangle, Vector2, Vector3 } from 'three';
import type { DrawnCrowd } from '../backends/DrawnCrowd.js';
import { expandByJoint } from '../poses/jointBoxes.js';
import { PosedInstance } from './PosedInstance.js';
import type { Clusters, TriangleCluster, TrianglePatch } from './triangleClusters.js';

/** What a ray hit: an `Intersection` that says which part of the character. */
export interface CrowdIntersection extends Intersection {
  /** Name of the part, or its number where that has none. */
  part?: string;
  /** If `object` is an instance as an object: the crowd, or what is attached to it, whose triangle was hit. */
  mesh?: Object3D;
}

/** A crowd that rays can hit. */
export interface RaycastCrowd extends DrawnCrowd {
  /** Names of the parts of the character. */
  readonly characterParts: readonly { readonly names: readonly string[] }[];
}

const _ray = /*@__PURE__*/ new Ray();
const _matrix = /*@__PURE__*/ new Matrix4();
const _inverse = /*@__PURE__*/ new Matrix4();
const _box = /*@__PURE__*/ new Box3();
const _vector = /*@__PURE__*/ new Vector3();
const _instance = /*@__PURE__*/ new PosedInstance();

/** Vertices of the instance at hand, as far as they were asked for. */
let _posed = /*@__PURE__*/ new Float64Array(0);
/** For each vertex the number of the instance that it was posed for. */
let _posedFor = /*@__PURE__*/ new Float64Array(0);
let _number = 0;

/**
 * Adds where a ray meets an instance.
 *
 * @param local The ray in the crowd's space.
 * @param clusters Of the crowd's geometry.
 * @param poseBounds Of every pose.
 */
export function raycastInstance(
  crowd: RaycastCrowd,
  raycaster: Raycaster,
  local: Ray,
  index: number,
  clusters: Clusters,
  poseBounds: Box3,
  intersects: CrowdIntersection[],
): void {
  const { instanceMatrix, parts } = crowd;
  _matrix.fromArray(instanceMatrix.array, index * 16);
  _ray.copy(local).applyMatrix4(_inverse.copy(_matrix).invert());
  if (!_ray.intersectsBox(poseBounds)) return;

  _instance.pose(crowd, index);
  _number++;
  const { length } = clusters.positions;
  if (_posed.length < length) {
    _posed = new Float64Array(length);
    _posedFor = new Float64Array(length / 3);
  }
  for (const cluster of clusters.clusters) {
    if (parts !== null && !parts.isShown(index, cluster.part)) continue;
    intersectPatch(crowd, raycaster, index, clusters, cluster, cluster, intersects);
  }
}

function intersectPatch(
  crowd: RaycastCrowd,
  raycaster: Raycaster,
  instance: number,
  clusters: Clusters,
  cluster: TriangleCluster,
  patch: TrianglePatch,
  intersects: CrowdIntersection[],
): void {
  if (!meetsBox(patch)) return;
  for (const piece of patch.patches) {
    intersectPatch(crowd, raycaster, instance, clusters, cluster, piece, intersects);
  }
  if (patch.triangles.length === 0) return;
  poseVertices(crowd, clusters, patch.vertices);
  intersectTriangles(crowd, raycaster, instance, clusters, cluster, patch.triangles, intersects);
}

/** Whether the ray meets the box of a patch as it is posed, so far as that can be known. */
function meetsBox({ joints, boxes }: TrianglePatch): boolean {
  if (!_instance.hasJoints) return true;
  _box.makeEmpty();
  for (let i = 0; i < joints.length; i++) {
    const at = _instance.jointMatrix(joints[i]);
    expandByJoint(_box, boxes, i, _instance.palette, at);
  }
  _instance.growByMotion(_box, joints);
  return _ray.intersectsBox(_box);
}

/** Poses vertices, relative to the instance, that were not yet. */
function poseVertices({ geometry }: RaycastCrowd, { positions }: Clusters, vertices: Uint32Array): void {
  const morphs = geometry.morphAttributes.position !== undefined;
  for (const vertex of vertices) {
    if (_posedFor[vertex] === _number) continue;
    _posedFor[vertex] = _number;
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
  instanceId: number,
  { index }: Clusters,
  { materialIndex, part }: TriangleCluster,
  triangles: Uint32Array,
  intersects: CrowdIntersection[],
): void {
  const { material, geometry } = crowd;
  const side = (Array.isArray(material) ? (material[materialIndex] as Material | undefined) : material)?.side;
  if (side === undefined) return;
  const { start: first, count: drawn } = geometry.drawRange;
  const { x: ox, y: oy, z: oz } = _ray.origin;
  const { x: dx, y: dy, z: dz } = _ray.direction;
  for (const i of triangles) {
    if (i < first || i >= first + drawn) continue;
    const a = index === null ? i : index[i];
    const b = index === null ? i + 1 : index[i + 1];
    const c = index === null ? i + 2 : index[i + 2];
    const ax = _posed[a * 3];
    const ay = _posed[a * 3 + 1];
    const az = _posed[a * 3 + 2];
    const e1x = _posed[b * 3] - ax;
    const e1y = _posed[b * 3 + 1] - ay;
    const e1z = _posed[b * 3 + 2] - az;
    const e2x = _posed[c * 3] - ax;
    const e2y = _posed[c * 3 + 1] - ay;
    const e2z = _posed[c * 3 + 2] - az;
    const px = dy * e2z - dz * e2y;
    const py = dz * e2x - dx * e2z;
    const pz = dx * e2y - dy * e2x;
    const determinant = e1x * px + e1y * py + e1z * pz;
    if (determinant === 0 || (side !== DoubleSide && determinant < 0 !== (side === BackSide))) continue;
    const tx = ox - ax;
    const ty = oy - ay;
    const tz = oz - az;
    const u = (tx * px + ty * py + tz * pz) / determinant;
    if (!(u >= 0 && u <= 1)) continue;
    const qx = ty * e1z - tz * e1y;
    const qy = tz * e1x - tx * e1z;
    const qz = tx * e1y - ty * e1x;
    const v = (dx * qx + dy * qy + dz * qz) / determinant;
    const t = (e2x * qx + e2y * qy + e2z * qz) / determinant;
    if (!(v >= 0 && u + v <= 1 && t >= 0)) continue;
    const barycoord = new Vector3(1 - u - v, u, v);
    const point = _ray.at(t, new Vector3()).applyMatrix4(_matrix).applyMatrix4(crowd.matrixWorld);
    const distance = raycaster.ray.origin.distanceTo(point);
    if (distance < raycaster.near || distance > raycaster.far) continue;
    const hit: CrowdIntersection = {
      distance,
      point,
      object: crowd,
      instanceId,
      part: crowd.characterParts[part]?.names[0] ?? String(part),
      faceIndex: Math.floor(i / 3),
      face: {
        a,
        b,
        c,
        normal: new Vector3(e1x, e1y, e1z).cross(_vector.set(e2x, e2y, e2z)).normalize(),
        materialIndex,
      },
      barycoord,
    };
    for (const name of ['uv', 'uv1'] as const) {
      const uv = geometry.getAttribute(name) as BufferAttribute | undefined;
      if (uv) hit[name] = Triangle.getInterpolatedAttribute(uv, a, b, c, barycoord, new Vector2());
    }
    if (geometry.hasAttribute('normal')) hit.normal = normalAt(geometry, a, b, c, barycoord);
    intersects.push(hit);
  }
}

/** The normal of a point of a triangle as it is posed, towards the ray. */
function normalAt({ attributes }: BufferGeometry, a: number, b: number, c: number, at: Vector3): Vector3 {
  const normal = new Vector3();
  const add = (vertex: number, share: number) => {
    _vector.fromBufferAttribute(attributes.normal as BufferAttribute, vertex);
    normal.addScaledVector(_instance.applyPoseToNormal(vertex, _vector), share);
  };
  add(a, at.x);
  add(b, at.y);
  add(c, at.z);
  normal.normalize();
  return normal.dot(_ray.direction) > 0 ? normal.negate() : normal;
}
