import type { Face, Intersection, Object3D, Raycaster } from 'three';
import { Box3, BufferAttribute, BufferGeometry, Matrix4, Mesh, Ray, Sphere, Vector3 } from 'three';
import { expandByJoint } from '../animation/jointBoxes.js';
import type { DrawnCrowd } from '../backends/DrawnCrowd.js';
import { SKIN_PART, type Skin, skinOf } from '../character/crowdGeometry.js';
import { plainArray } from '../utils/geometries.js';
import { PosedInstance } from './PosedInstance.js';

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
/** The instance at hand, as three.js finds it. */
const _mesh = /*@__PURE__*/ new Mesh();
const _hits: CrowdIntersection[] = [];

/** For each vertex the number of the instance that it was posed for. */
let _posedFor = /*@__PURE__*/ new Float64Array(0);
let _number = 0;

/**
 * Adds where a ray meets an instance: boxes of patches of triangles first, as they are posed, then by three.js the triangles of
 * those patches that it meets.
 *
 * @param local The ray in the crowd's space.
 * @param rayGeometry Of the crowd's geometry.
 * @param poseBounds Of every pose.
 */
export function raycastInstance(
  crowd: RaycastCrowd,
  raycaster: Raycaster,
  local: Ray,
  index: number,
  rayGeometry: RayGeometry,
  poseBounds: Box3,
  intersects: CrowdIntersection[],
): void {
  const { instanceMatrix, parts, material, matrixWorld } = crowd;
  _matrix.fromArray(instanceMatrix.array, index * 16);
  _ray.copy(local).applyMatrix4(_inverse.copy(_matrix).invert());
  if (!_ray.intersectsBox(poseBounds)) return;

  _instance.pose(crowd, index);
  _number++;
  if (_posedFor.length < rayGeometry.posed.length / 3)
    _posedFor = new Float64Array(rayGeometry.posed.length / 3);
  _mesh.geometry = rayGeometry.geometry;
  _mesh.matrixWorld.multiplyMatrices(matrixWorld, _matrix);
  for (const patch of rayGeometry.patches) {
    const { start, end, part, materialIndex } = patch;
    const own = Array.isArray(material) ? material[materialIndex] : material;
    if (own === undefined || parts?.isShown(index, part) === false || !meetsBox(patch)) continue;
    poseVertices(crowd, rayGeometry, start * 3, end * 3);
    rayGeometry.geometry.setDrawRange(start * 3, (end - start) * 3);
    _mesh.material = own;
    _mesh.raycast(raycaster, _hits);
    for (const hit of _hits) {
      if (!finish(hit, crowd, rayGeometry.faces)) continue;
      hit.instanceId = index;
      hit.part = crowd.characterParts[part]?.names[0] ?? String(part);
      if (hit.face) hit.face.materialIndex = materialIndex;
      intersects.push(hit);
    }
    _hits.length = 0;
  }
}

/** A box is larger by this share, so that no ray slips between two patches by the rounding of their boxes. */
const HAIR = 1e-6;

/** Whether the ray meets the box of a patch as it is posed, so far as that can be known. */
function meetsBox({ joints, boxes }: Patch): boolean {
  if (!_instance.hasJoints) return true;
  _box.makeEmpty();
  for (let i = 0; i < joints.length; i++) {
    const at = _instance.jointMatrix(joints[i]);
    expandByJoint(_box, boxes, i, _instance.palette, at);
  }
  _box.getSize(_vector);
  _box.expandByScalar(HAIR * Math.max(_vector.x, _vector.y, _vector.z));
  _instance.growByMotion(_box, joints);
  return _ray.intersectsBox(_box);
}

/** Poses those vertices of triangles that were not yet, relative to the instance. */
function poseVertices(
  { geometry: own }: RaycastCrowd,
  { geometry, posed, positions }: RayGeometry,
  start: number,
  end: number,
): void {
  const corners = (geometry.index as BufferAttribute).array;
  const morphs = own.morphAttributes.position !== undefined;
  for (let i = start; i < end; i++) {
    const vertex = corners[i];
    if (_posedFor[vertex] === _number) continue;
    _posedFor[vertex] = _number;
    const at = vertex * 3;
    if (morphs) _instance.morphedVertex(vertex, _vector);
    else _vector.set(positions[at], positions[at + 1], positions[at + 2]);
    _instance.applyPose(vertex, _vector).toArray(posed, at);
  }
}

/** Lets a hit be one of the crowd; false where the crowd does not draw the triangle. */
function finish(hit: CrowdIntersection, crowd: RaycastCrowd, faces: Uint32Array): boolean {
  const { geometry } = crowd;
  const { start, count } = geometry.drawRange;
  const first = faces[hit.faceIndex as number];
  if (first < start || first >= start + count) return false;
  hit.object = crowd;
  hit.faceIndex = Math.floor(first / 3);
  if (hit.normal) hit.normal = normalAt(geometry, hit);
  return true;
}

/** The normal of a point of a triangle as it is posed, towards the ray. */
function normalAt({ attributes }: BufferGeometry, { face, barycoord }: CrowdIntersection): Vector3 {
  const normal = new Vector3();
  const { a, b, c } = face as Face;
  const add = (vertex: number, share: number) => {
    _vector.fromBufferAttribute(attributes.normal as BufferAttribute, vertex);
    normal.addScaledVector(_instance.applyPoseToNormal(vertex, _vector), share);
  };
  const { x, y, z } = barycoord as Vector3;
  add(a, x);
  add(b, y);
  add(c, z);
  normal.normalize();
  return normal.dot(_ray.direction) > 0 ? normal.negate() : normal;
}

/** Triangles of a patch at most. */
const MAX_TRIANGLES = 256;

/**
 * Triangles whose first vertex follows the same joint, of one part and one material: from `start` to `end` of
 * `RayGeometry.faces`.
 */
interface Patch {
  start: number;
  end: number;
  part: number;
  materialIndex: number;
  /** Joints that any vertex follows. */
  joints: number[];
  /** For each of them a box around the vertices that follow it: min x y z, max x y z. */
  boxes: number[];
}

/** What rays read of a crowd geometry. */
export interface RayGeometry {
  patches: readonly Patch[];
  /** The same triangles in the order of the patches, for three.js's own rays. Its vertices are those that were posed last. */
  geometry: BufferGeometry;
  posed: Float64Array;
  /** By triangle of `geometry` where it begins in the index of the crowd geometry, or among its vertices. */
  faces: Uint32Array;
  positions: ArrayLike<number>;
  /** To notice when the crowd geometry was changed. */
  stamp: string;
}

/** Least and greatest place of a vertex. */
const _ends = [0, 0, 0, 0, 0, 0];

const known = /*@__PURE__*/ new WeakMap<BufferGeometry, RayGeometry>();

/** What rays read of a crowd geometry, made anew when its positions, index or groups changed. */
export function rayGeometryOf(geometry: BufferGeometry): RayGeometry {
  const stamp = stampOf(geometry);
  const before = known.get(geometry);
  if (before?.stamp === stamp) return before;

  const positions = plainArray(geometry.getAttribute('position'), 3);
  const index = geometry.index?.array ?? null;
  const corner = (at: number): number => (index === null ? at : index[at]);
  const skin = skinOf(geometry);
  const length = index === null ? positions.length / 3 : index.length;
  const groups =
    geometry.groups.length > 0 ? geometry.groups : [{ start: 0, count: length, materialIndex: 0 }];

  const lists = new Map<number, number[]>();
  for (const { start, count, materialIndex = 0 } of groups) {
    for (let i = start; i + 2 < Math.min(start + count, length); i += 3) {
      const at = corner(i) * skin.stride;
      const key = (materialIndex * 4096 + skin.joints[at + SKIN_PART]) * 65536 + skin.joints[at];
      const list = lists.get(key);
      if (list === undefined) lists.set(key, [i]);
      else list.push(i);
    }
  }

  const faces = Uint32Array.from([...lists.values()].flat());
  const cornerOf = (i: number): number => corner(faces[Math.floor(i / 3)] + (i % 3));
  const morphs = (geometry.morphAttributes.position ?? []).map((morph) => plainArray(morph, 3));
  const patches: Patch[] = [];
  let end = 0;
  for (const [key, { length: count }] of lists) {
    const part = Math.floor(key / 65536) % 4096;
    const materialIndex = Math.floor(key / 65536 / 4096);
    for (let left = count; left > 0; left -= MAX_TRIANGLES) {
      const start = end;
      end += Math.min(left, MAX_TRIANGLES);
      const patch: Patch = { start, end, part, materialIndex, joints: [], boxes: [] };
      for (let i = start * 3; i < end * 3; i++) growByVertex(patch, cornerOf(i), positions, skin, morphs);
      patches.push(patch);
    }
  }
  const posed = new Float64Array(positions.length);
  const made = { patches, posed, faces, positions, stamp, geometry: new BufferGeometry() };
  made.geometry.setIndex(Array.from({ length: end * 3 }, (_, i) => cornerOf(i)));
  for (const name of ['uv', 'uv1', 'normal']) {
    const attribute = geometry.attributes[name];
    if (attribute) made.geometry.setAttribute(name, attribute);
  }
  made.geometry.setAttribute('position', new BufferAttribute(posed, 3));
  made.geometry.boundingSphere = new Sphere(undefined, Infinity);
  known.set(geometry, made);
  return made;
}

/** Grows the boxes of a patch by a vertex. */
function growByVertex(
  { joints, boxes }: Patch,
  vertex: number,
  positions: ArrayLike<number>,
  skin: Skin,
  morphs: readonly ArrayLike<number>[],
): void {
  const { stride, weights } = skin;
  // Targets at full influence bound every smaller one.
  for (let i = 0; i < 3; i++) {
    const at = vertex * 3 + i;
    _ends[i] = _ends[i + 3] = positions[at];
    for (const morph of morphs) _ends[morph[at] < 0 ? i : i + 3] += morph[at];
  }
  for (let i = 0; i < 4 && weights[vertex * 4 + i] > 0; i++) {
    const joint = skin.joints[vertex * stride + i];
    let found = joints.indexOf(joint);
    if (found < 0) {
      found = joints.push(joint) - 1;
      boxes.push(Infinity, Infinity, Infinity, -Infinity, -Infinity, -Infinity);
    }
    for (let k = 0; k < 3; k++) {
      const at = found * 6 + k;
      boxes[at] = Math.min(boxes[at], _ends[k]);
      boxes[at + 3] = Math.max(boxes[at + 3], _ends[k + 3]);
    }
  }
}

function stampOf({ index, groups, attributes }: BufferGeometry): string {
  const position = attributes.position as { version?: number; data?: { version: number } };
  const version = position.version ?? position.data?.version;
  const grouped = groups.map(({ start, count, materialIndex }) => `${start}+${count}:${materialIndex}`);
  return [version, index?.version, index?.count, ...grouped].join();
}
