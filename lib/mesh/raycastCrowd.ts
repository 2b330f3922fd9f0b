import type { Intersection, Raycaster } from 'three';
import {
  Box3,
  BufferAttribute,
  BufferGeometry,
  type InterleavedBufferAttribute,
  Matrix4,
  Mesh,
  Ray,
  Sphere,
  Vector3,
} from 'three';
import { AFFINE_SIZE } from '../constants.js';
import { expandByPose, type JointBoxes } from '../texture/jointBoxes.js';
import { createPoseMix } from '../texture/PoseMix.js';
import { SKIN_PART, SKIN_STRIDE, SKIN_WEIGHT } from './crowdGeometry.js';
import type { SkinnedInstancedMesh } from './SkinnedInstancedMesh.js';
import { morphVertex } from './skinVertex.js';

/** What a ray hit: an `Intersection` that says which part of the character. */
export interface CrowdIntersection extends Intersection {
  /** Name of the part, see `SkinnedInstancedMesh.partNames`. */
  part?: string;
}

const _sphere = /*@__PURE__*/ new Sphere();
const _local = /*@__PURE__*/ new Ray();
const _ray = /*@__PURE__*/ new Ray();
const _matrix = /*@__PURE__*/ new Matrix4();
const _inverse = /*@__PURE__*/ new Matrix4();
const _box = /*@__PURE__*/ new Box3();
const _center = /*@__PURE__*/ new Vector3();
const _vertex = /*@__PURE__*/ new Vector3();
const _normal = /*@__PURE__*/ new Vector3();
const _hits: Intersection[] = [];
const _pose = /*@__PURE__*/ createPoseMix();

/** What posing a geometry on the CPU needs, kept between rays. */
interface Posed {
  mesh: Mesh;
  positions: Float32Array;
  palette: Float64Array;
}

const posedGeometries = /*@__PURE__*/ new WeakMap<BufferGeometry, Posed>();

/**
 * Intersects a crowd as it is posed on screen: spheres around all poses first, then the box of the pose shown, then its
 * triangles, skinned on the CPU.
 *
 * @param poseBounds Of every pose.
 * @param boxes Of the geometry's vertices by joint.
 */
export function raycastCrowd(
  crowd: SkinnedInstancedMesh,
  raycaster: Raycaster,
  intersects: CrowdIntersection[],
  poseBounds: Box3,
  boxes: JointBoxes,
): void {
  const { geometry, material, matrixWorld, count, instanceMatrix, boneTexture } = crowd;
  if (material === undefined || poseBounds.isEmpty()) return;
  if (crowd.boundingSphere === null) crowd.computeBoundingSphere();
  _sphere.copy(crowd.boundingSphere as Sphere).applyMatrix4(matrixWorld);
  if (!raycaster.ray.intersectsSphere(_sphere)) return;

  _local.copy(raycaster.ray).applyMatrix4(_inverse.copy(matrixWorld).invert());
  poseBounds.getCenter(_center);
  const radius = poseBounds.getSize(_vertex).length() / 2;
  const joints = boneTexture.jointNames.length;

  for (let index = 0; index < count; index++) {
    _matrix.fromArray(instanceMatrix.array, index * 16);
    _sphere.center.copy(_center).applyMatrix4(_matrix);
    _sphere.radius = radius * _matrix.getMaxScaleOnAxis();
    if (!_local.intersectsSphere(_sphere)) continue;
    _ray.copy(_local).applyMatrix4(_inverse.copy(_matrix).invert());
    if (!_ray.intersectsBox(poseBounds)) continue;

    const posed = posedOf(geometry, joints);
    crowd.playback.pose(index, crowd.interpolate, _pose);
    for (let joint = 0; joint < joints; joint++) {
      boneTexture.readPose(_pose, joint, posed.palette, joint * AFFINE_SIZE);
    }
    expandByPose(_box.makeEmpty(), boxes, posed.palette);
    if (!_ray.intersectsBox(_box)) continue;

    poseVertices(crowd, index, posed);
    if (!meetsTriangle(crowd, index, _ray, posed.positions)) continue;

    const { mesh } = posed;
    mesh.material = material;
    mesh.matrixWorld.multiplyMatrices(matrixWorld, _matrix);
    mesh.geometry.groups = geometry.groups;
    mesh.geometry.drawRange = geometry.drawRange;
    mesh.geometry.boundingSphere = _box.getBoundingSphere(mesh.geometry.boundingSphere ?? new Sphere());
    mesh.raycast(raycaster, _hits);
    for (const hit of _hits) {
      const part = partOf(geometry, hit.face?.a ?? 0);
      if (crowd.parts !== null && !crowd.parts.isShown(index, part)) continue;
      hit.instanceId = index;
      hit.object = crowd;
      addNormal(crowd, posed, hit, _ray);
      (hit as CrowdIntersection).part = crowd.partNames[part];
      intersects.push(hit);
    }
    _hits.length = 0;
  }
}

/** A mesh over the crowd's own index and uvs, with positions to be filled in for one instance after another. */
function posedOf(source: BufferGeometry, joints: number): Posed {
  const known = posedGeometries.get(source);
  const vertices = source.getAttribute('position').count;
  if (
    known !== undefined &&
    known.positions.length === vertices * 3 &&
    known.mesh.geometry.index === source.index
  ) {
    return known;
  }
  const geometry = new BufferGeometry();
  for (const name of ['uv', 'uv1']) {
    if (source.hasAttribute(name)) geometry.setAttribute(name, source.getAttribute(name));
  }
  const positions = new Float32Array(vertices * 3);
  geometry.setAttribute('position', new BufferAttribute(positions, 3));
  geometry.setIndex(source.index);
  const posed = { mesh: new Mesh(geometry), positions, palette: new Float64Array(joints * AFFINE_SIZE) };
  posedGeometries.set(source, posed);
  return posed;
}

const skinOf = (geometry: BufferGeometry): ArrayLike<number> =>
  (geometry.getAttribute('skinIndex') as InterleavedBufferAttribute).data.array;

function partOf(geometry: BufferGeometry, vertex: number): number {
  return skinOf(geometry)[vertex * SKIN_STRIDE + SKIN_PART];
}

/** Skins all vertices by the palette, relative to the instance. */
function poseVertices(crowd: SkinnedInstancedMesh, index: number, { positions, palette }: Posed): void {
  const { geometry, morphTexture, influences } = crowd;
  const skin = skinOf(geometry);
  for (let vertex = 0, at = 0; at < positions.length; vertex++, at += 3) {
    const { x, y, z } = morphVertex(geometry, morphTexture, index, vertex, _vertex);
    let px = 0;
    let py = 0;
    let pz = 0;
    const s = vertex * SKIN_STRIDE;
    for (let i = 0; i < influences; i++) {
      const weight = skin[s + SKIN_WEIGHT + i];
      if (weight <= 0) break;
      const m = skin[s + i] * AFFINE_SIZE;
      px += weight * (palette[m] * x + palette[m + 1] * y + palette[m + 2] * z + palette[m + 3]);
      py += weight * (palette[m + 4] * x + palette[m + 5] * y + palette[m + 6] * z + palette[m + 7]);
      pz += weight * (palette[m + 8] * x + palette[m + 9] * y + palette[m + 10] * z + palette[m + 11]);
    }
    positions[at] = px;
    positions[at + 1] = py;
    positions[at + 2] = pz;
  }
}

/**
 * Whether a ray meets any shown triangle, from either side; so that the exact and slower search is only made where it
 * finds something. Möller and Trumbore, "Fast, Minimum Storage Ray/Triangle Intersection", 1997.
 */
function meetsTriangle(
  { geometry, parts }: SkinnedInstancedMesh,
  index: number,
  { origin, direction }: Ray,
  positions: Float32Array,
): boolean {
  const order = geometry.index?.array;
  const length = order === undefined ? positions.length / 3 : order.length;
  const skin = skinOf(geometry);
  const { x: ox, y: oy, z: oz } = origin;
  const { x: dx, y: dy, z: dz } = direction;

  for (let i = 0; i + 2 < length; i += 3) {
    const va = order === undefined ? i : order[i];
    const a = va * 3;
    const b = (order === undefined ? i + 1 : order[i + 1]) * 3;
    const c = (order === undefined ? i + 2 : order[i + 2]) * 3;
    const ax = positions[a];
    const ay = positions[a + 1];
    const az = positions[a + 2];
    const e1x = positions[b] - ax;
    const e1y = positions[b + 1] - ay;
    const e1z = positions[b + 2] - az;
    const e2x = positions[c] - ax;
    const e2y = positions[c + 1] - ay;
    const e2z = positions[c + 2] - az;
    const px = dy * e2z - dz * e2y;
    const py = dz * e2x - dx * e2z;
    const pz = dx * e2y - dy * e2x;
    const determinant = e1x * px + e1y * py + e1z * pz;
    const tx = ox - ax;
    const ty = oy - ay;
    const tz = oz - az;
    // Times the determinant, whose sign is that of the side; a little is allowed for rounding.
    const sign = determinant < 0 ? -1 : 1;
    const slack = 1e-6 * determinant * sign;
    const u = sign * (tx * px + ty * py + tz * pz);
    if (u < -slack || u > determinant * sign + slack) continue;
    const qx = ty * e1z - tz * e1y;
    const qy = tz * e1x - tx * e1z;
    const qz = tx * e1y - ty * e1x;
    const v = sign * (dx * qx + dy * qy + dz * qz);
    if (v < -slack || u + v > determinant * sign + slack || determinant === 0) continue;
    if (parts === null || parts.isShown(index, skin[va * SKIN_STRIDE + SKIN_PART])) return true;
  }
  return false;
}

/** Adds the vertices' normals, as they are posed, to a hit; as `Mesh.raycast` does for a mesh that stands still. */
function addNormal(crowd: SkinnedInstancedMesh, { palette }: Posed, hit: Intersection, ray: Ray): void {
  const normals = crowd.geometry.getAttribute('normal');
  if (normals === undefined || !hit.face || !hit.barycoord) return;
  const skin = skinOf(crowd.geometry);
  const { a, b, c } = hit.face;
  const shares = hit.barycoord.toArray();
  hit.normal = new Vector3();
  [a, b, c].forEach((vertex, corner) => {
    _normal.fromBufferAttribute(normals as BufferAttribute, vertex);
    const { x, y, z } = _normal;
    const s = vertex * SKIN_STRIDE;
    for (let i = 0; i < crowd.influences; i++) {
      const weight = skin[s + SKIN_WEIGHT + i] * shares[corner];
      const m = skin[s + i] * AFFINE_SIZE;
      (hit.normal as Vector3).x += weight * (palette[m] * x + palette[m + 1] * y + palette[m + 2] * z);
      (hit.normal as Vector3).y += weight * (palette[m + 4] * x + palette[m + 5] * y + palette[m + 6] * z);
      (hit.normal as Vector3).z += weight * (palette[m + 8] * x + palette[m + 9] * y + palette[m + 10] * z);
    }
  });
  hit.normal.normalize();
  if (hit.normal.dot(ray.direction) > 0) hit.normal.negate();
}
