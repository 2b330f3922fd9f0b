import type { BufferGeometry, Face, Intersection, Object3D, Raycaster } from 'three';
import { Box3, BufferAttribute, Matrix4, Ray, Sphere, Vector3 } from 'three';
import { expandByJoint } from '../animation/jointBoxes.js';
import { SKIN_PART, skinOf } from '../character/crowdGeometry.js';
import type { DrawnCrowd } from '../core/Crowd.js';
import { goesByInstanceLayers } from '../core/drawnCrowds.js';
import { GROUP_SIZE } from '../culling/InstanceGroups.js';
import { plainArray } from '../utils/geometries.js';
import { PosedInstance } from './PosedInstance.js';

/** What a ray hit: an `Intersection` that says which part of the character. */
export interface CrowdIntersection extends Intersection {
  /** Name of the part, or its number where that has none. */
  part?: string;
  /** If `object` is an instance as an object: the crowd, or what is attached to it, whose triangle was hit. */
  mesh?: Object3D;
}

const _instance = /*@__PURE__*/ new PosedInstance();
const _matrix = /*@__PURE__*/ new Matrix4();
const _box = /*@__PURE__*/ new Box3();
const _vector = /*@__PURE__*/ new Vector3();
/** Hits of the instance at hand. */
const _hits: CrowdIntersection[] = [];
/** Instances that the ray may meet, and how far along it. */
const _met: { id: number; distance: number }[] = [];
/** The ray in the space of a crowd, and of an instance. */
const _local = /*@__PURE__*/ new Ray();
const _ray = /*@__PURE__*/ new Ray();
const _inverse = /*@__PURE__*/ new Matrix4();
/** The ray and the place of the crowd for which `_local` was last made. */
const _lastRay = /*@__PURE__*/ new Ray();
const _lastWorld = /*@__PURE__*/ new Matrix4();

/**
 * Intersects a crowd as it is posed on screen: spheres around groups of instances first, then around all poses of an instance, then
 * boxes of runs of triangles in the pose that is shown, then by three.js the triangles of those that the ray meets.
 *
 * If the raycaster has `firstHitOnly`, as three-mesh-bvh knows it, only the nearest hit is found, from the nearest instance on.
 *
 * @param only The one instance to look at.
 */
export function raycastCrowd(
  crowd: DrawnCrowd,
  raycaster: Raycaster,
  intersects: CrowdIntersection[],
  only = -1,
): void {
  const { material, views, count } = crowd;
  const { written, objects } = crowd.crowd;
  if (material === undefined || crowd.bounds.ofPoses().isEmpty()) return;
  if (written !== null) {
    written.warn('a ray');
    return;
  }
  _met.length = 0;
  const meet = (id: number) => {
    if (id >= count) return;
    const distance = distanceTo(crowd, id);
    if (distance === Infinity || views.kinds?.shows(crowd, id) === false) return;
    if (!isOnLayers(crowd, id, raycaster.layers.mask)) return;
    if (objects?.mayHit(id, crowd, intersects) !== false) _met.push({ id, distance });
  };
  prepare(crowd, raycaster);
  const { order, groupSpheres, groupCount } = views.groups;
  if (only >= 0) meet(only);
  else
    for (let group = 0; group < groupCount; group++) {
      if (distanceToSphere(groupSpheres, group) === Infinity) continue;
      const end = Math.min((group + 1) * GROUP_SIZE, crowd.visibility.count);
      for (let i = group * GROUP_SIZE; i < end; i++) meet(order[i]);
    }

  const nearestOnly = (raycaster as { firstHitOnly?: boolean }).firstHitOnly === true;
  if (nearestOnly) _met.sort((a, b) => a.distance - b.distance);
  const rayGeometry = rayGeometryOf(crowd.geometry, Array.isArray(material));
  let nearest: CrowdIntersection | null = null;
  let farthest = Infinity;
  for (const { id, distance } of _met) {
    if (distance > farthest) break;
    raycastInstance(crowd, raycaster, id, rayGeometry);
    const object = objects?.objectOf(id) ?? null;
    for (const hit of _hits) {
      if (object !== null) Object.assign(hit, { object, mesh: crowd });
      if (!nearestOnly) intersects.push(hit);
      else if (nearest === null || hit.distance < nearest.distance) {
        nearest = hit;
        farthest = _vector.copy(hit.point).applyMatrix4(_inverse).distanceTo(_local.origin);
      }
    }
    _hits.length = 0;
  }
  if (nearest !== null) intersects.push(nearest);
}

/**
 * Whether a ray may hit an instance: it is drawn, and the ray meets the sphere around all its poses and all that is attached to it.
 * It is asked of every object in the scene, of which a ray meets few.
 */
export function mayMeet(crowd: DrawnCrowd, raycaster: Raycaster, id: number): boolean {
  prepare(crowd, raycaster);
  return distanceTo(crowd, id) < Infinity;
}

/** Brings the spheres up to date, and lets `_local` be the ray in the space of a crowd. */
function prepare({ matrixWorld, views }: DrawnCrowd, { ray }: Raycaster): void {
  views.updateGroups();
  if (_lastWorld.equals(matrixWorld) && _lastRay.equals(ray)) return;
  _lastWorld.copy(matrixWorld);
  _lastRay.copy(ray);
  _local.copy(ray).applyMatrix4(_inverse.copy(matrixWorld).invert());
}

/** Whether what a mesh shows of an instance is on one of some layers. */
function isOnLayers(mesh: DrawnCrowd, id: number, mask: number): boolean {
  const own = mesh.layers.mask;
  const { layers } = mesh.crowd;
  if (layers?.isUsed !== true || !goesByInstanceLayers(mesh)) return (own & mask) !== 0;
  return layers.test(id, mask, own);
}

/** How far along the ray the sphere around an instance begins; infinite if the ray misses it, or it is not drawn. */
const distanceTo = ({ visibility, views }: DrawnCrowd, id: number): number =>
  visibility.isDrawn(id) ? distanceToSphere(views.groups.spheres, id) : Infinity;

/** The same for any sphere; 0 from within it. */
function distanceToSphere(spheres: Float32Array, index: number): number {
  const { origin, direction } = _local;
  const radius = spheres[index * 4 + 3];
  const way = _vector.fromArray(spheres, index * 4).sub(origin);
  const middle = way.dot(direction);
  const half = radius * radius - (way.lengthSq() - middle * middle);
  if (half < 0) return Infinity;
  const root = Math.sqrt(half);
  return middle + root < 0 ? Infinity : Math.max(middle - root, 0);
}

/** Finds where the ray meets an instance. */
function raycastInstance(
  crowd: DrawnCrowd,
  raycaster: Raycaster,
  id: number,
  { mesh, runs, faces, materials }: ReturnType<typeof rayGeometryOf>,
): void {
  const { geometry, material, instanceMatrix, parts, matrixWorld, characterParts } = crowd;
  _matrix.fromArray(instanceMatrix.array, id * 16);
  _instance.matrixWorld.multiplyMatrices(matrixWorld, _matrix);
  _ray.copy(_local).applyMatrix4(_matrix.invert());
  if (!_ray.intersectsBox(crowd.bounds.ofPoses())) return;

  _instance.pose(crowd, id).geometry = mesh;
  // Boxes of runs hold influences of morph targets from 0 to 1.
  const isBeyond = _instance.morphTargetInfluences?.some((influence) => influence < 0 || influence > 1);
  const hasBoxes = crowd.motions === null && _instance.hasJoints && isBeyond !== true;
  for (const run of runs) {
    const drawn = Array.isArray(material) ? material[run.materialIndex] : material;
    if (drawn === undefined || (hasBoxes && !meetsRun(run))) continue;
    mesh.setDrawRange(run.start, run.count);
    _instance.material = drawn;
    _instance.raycast(raycaster, _hits);
  }
  const { joints, stride } = skinOf(geometry);
  const { start, count } = geometry.drawRange;
  let kept = 0;
  for (const hit of _hits) {
    const face = hit.face as Face;
    const posed = hit.faceIndex as number;
    const index = faces[posed];
    const part = joints[face.a * stride + SKIN_PART];
    if (parts?.isShown(id, part) === false || index * 3 < start || index * 3 >= start + count) continue;
    face.materialIndex = materials[posed];
    hit.faceIndex = index;
    hit.object = crowd;
    hit.instanceId = id;
    hit.part = characterParts[part]?.names[0] ?? String(part);
    if (hit.normal) turnNormal(hit, geometry);
    _hits[kept++] = hit;
  }
  _hits.length = kept;
}

/** A box is larger by this share, so that no ray slips between two runs by the rounding of their boxes. */
const HAIR = 1e-6;

/** Whether the ray meets the box of a run as it is posed. */
function meetsRun({ joints, boxes }: Run): boolean {
  _box.makeEmpty();
  for (let i = 0; i < joints.length; i++)
    expandByJoint(_box, boxes, i, _instance.palette, _instance.jointMatrix(joints[i]));
  _box.getSize(_vector);
  return _ray.intersectsBox(_box.expandByScalar(HAIR * Math.max(_vector.x, _vector.y, _vector.z)));
}

/** Lets the normal of a hit be as it is posed, towards the ray. */
function turnNormal({ face, barycoord, normal }: CrowdIntersection, { attributes }: BufferGeometry): void {
  const { a, b, c } = face as Face;
  const { x, y, z } = barycoord as Vector3;
  const sum = (normal as Vector3).set(0, 0, 0);
  const add = (vertex: number, share: number) => {
    _vector.fromBufferAttribute(attributes.normal as BufferAttribute, vertex);
    sum.addScaledVector(_instance.turnNormal(vertex, _vector), share);
  };
  add(a, x);
  add(b, y);
  add(c, z);
  if (sum.normalize().dot(_ray.direction) > 0) sum.negate();
}

/** Triangles of a run at most. */
const RUN = 256;

/** Triangles of one material whose first vertices follow the same joint. */
interface Run {
  /** Its corners in the index of `RayGeometry.mesh`. */
  start: number;
  count: number;
  materialIndex: number;
  /** Joints that any vertex follows. */
  joints: number[];
  /** For each of them a box around the vertices that follow it: min x y z, max x y z. */
  boxes: number[];
}

const JOINTS = 65536;
const materialOf = (key: number): number => Math.floor(key / JOINTS);

const known = /*@__PURE__*/ new WeakMap<
  BufferGeometry,
  {
    /** The crowd geometry without bounds, which are those of no pose, and with its triangles run by run. */
    mesh: BufferGeometry;
    runs: Run[];
    /** By triangle of `mesh` that of the crowd geometry, and its material. */
    faces: Uint32Array;
    materials: Uint16Array;
    /** To notice when the crowd geometry was changed. */
    stamp: string;
  }
>();

/**
 * What rays read of a crowd geometry, made anew when its positions, index or groups changed.
 *
 * @param grouped Whether its groups are drawn, each in a material of its own.
 */
function rayGeometryOf(geometry: BufferGeometry, grouped: boolean) {
  const { index, attributes, groups } = geometry;
  const position = attributes.position as { version?: number; data?: { version: number } };
  const version = position.version ?? position.data?.version;
  const stamp = [version, index?.version, index?.count, grouped && JSON.stringify(groups)].join();
  const before = known.get(geometry);
  if (before?.stamp === stamp) return before;

  const { joints, stride } = skinOf(geometry);
  const { count: length } = index ?? attributes.position;
  const cornerOf = (face: number, k: number): number => index?.array[face * 3 + k] ?? face * 3 + k;
  // A triangle of two groups is drawn, and hit, in the material of each.
  const found: [key: number, face: number][] = [];
  for (const { start, count, materialIndex = 0 } of grouped ? groups : [{ start: 0, count: length }]) {
    const end = Math.min(start + count, length - 2) / 3;
    for (let face = start / 3; face < end; face++)
      found.push([materialIndex * JOINTS + joints[cornerOf(face, 0) * stride], face]);
  }
  found.sort(([a], [b]) => a - b);
  const runs: Run[] = [];
  const corners: number[] = [];
  const grow = boxGrower(geometry);
  let last = -1;
  for (const [key, face] of found) {
    let run = runs[runs.length - 1];
    if (key !== last || run.count === RUN * 3) {
      last = key;
      run = { start: corners.length, count: 0, materialIndex: materialOf(last), joints: [], boxes: [] };
      runs.push(run);
    }
    for (let k = 0; k < 3; k++) {
      corners.push(cornerOf(face, k));
      grow(run, corners[corners.length - 1]);
    }
    run.count += 3;
  }
  const mesh = Object.create(geometry, {
    index: { value: new BufferAttribute(Uint32Array.from(corners), 1) },
    drawRange: { value: { start: 0, count: 0 } },
    boundingSphere: { value: new Sphere(undefined, Infinity) },
    boundingBox: { value: null },
  });
  const faces = Uint32Array.from(found, ([, face]) => face);
  const materials = Uint16Array.from(found, ([key]) => materialOf(key));
  const made = { mesh, runs, faces, materials, stamp };
  known.set(geometry, made);
  return made;
}

/** Makes a function that grows the boxes of a run by a vertex. */
function boxGrower(geometry: BufferGeometry): (run: Run, vertex: number) => void {
  const positions = plainArray(geometry.attributes.position, 3);
  const morphs = (geometry.morphAttributes.position ?? []).map((morph) => plainArray(morph, 3));
  const { joints: all, stride, weights } = skinOf(geometry);
  const ends = [0, 0, 0, 0, 0, 0];
  return ({ joints, boxes }, vertex) => {
    for (let k = 0, at = vertex * 3; k < 3; k++, at++) {
      // Targets at full influence bound every smaller one.
      ends[k] = ends[k + 3] = positions[at];
      for (const morph of morphs) ends[morph[at] < 0 ? k : k + 3] += morph[at];
    }
    for (let i = 0; i < 4 && weights[vertex * 4 + i] > 0; i++) {
      const joint = all[vertex * stride + i];
      let place = joints.indexOf(joint);
      if (place < 0) {
        place = joints.push(joint) - 1;
        boxes.push(Infinity, Infinity, Infinity, -Infinity, -Infinity, -Infinity);
      }
      for (let k = 0; k < 6; k++) {
        const at = place * 6 + k;
        boxes[at] = k < 3 ? Math.min(boxes[at], ends[k]) : Math.max(boxes[at], ends[k]);
      }
    }
  };
}
