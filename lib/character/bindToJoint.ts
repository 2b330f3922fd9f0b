import type { BufferGeometry, InterleavedBufferAttribute } from 'three';
import { type BufferAttribute, Float32BufferAttribute, Matrix3, Matrix4, Vector3 } from 'three';
import type { BoneTexture } from '../animation/BoneTexture.js';
import type { BoneTextureData } from '../animation/BoneTextureData.js';
import { affineToMatrix4 } from '../utils/affine.js';
import { swapItems } from '../utils/attributes.js';
import { type Attribute, floatsOf, followJoint } from '../utils/geometries.js';

const _bind = /*@__PURE__*/ new Matrix4();
const _before = /*@__PURE__*/ new Matrix4();
const _linear = /*@__PURE__*/ new Matrix3();
const _vector = /*@__PURE__*/ new Vector3();

/** A place that geometry can be attached to: a joint, or a node below one. See `socketOf`. */
export interface Socket {
  joint: number;
  /**
   * Matrix from the socket's own space to the bind pose, where the joint's skinning matrix expects vertices: 12 numbers, row
   * by row.
   */
  bind: readonly number[];
  /** Whether normals of what is attached are turned by the joint, as below uneven scale. */
  isUneven: boolean;
}

/**
 * A joint that objects may be attached to. Of several with one name it is the last, since sockets come after all other joints.
 *
 * @throws If there is no such joint, or it is of a skin in detached bind mode.
 */
export function socketOf(boneTexture: BoneTexture, joint: string | number): Socket {
  const { data } = boneTexture;
  let found = sockets.get(data);
  if (found === undefined) {
    found = new Map();
    sockets.set(data, found);
  }
  let socket = found.get(joint);
  if (socket === undefined) {
    socket = findSocket(boneTexture, joint);
    found.set(joint, socket);
  }
  return socket;
}

/** Those that were asked for: some are for many instances in each frame. */
const sockets = /*@__PURE__*/ new WeakMap<BoneTextureData, Map<string | number, Socket>>();

function findSocket(boneTexture: BoneTexture, joint: string | number): Socket {
  const { jointNames, jointBinds, unevenJoints } = boneTexture.data;
  const last = typeof joint === 'string' ? jointNames.lastIndexOf(joint) : joint;
  const index = boneTexture.jointIndex(last === -1 ? joint : last);
  const bind = jointBinds[index];
  if (bind !== null) return { joint: index, bind, isUneven: unevenJoints?.includes(index) === true };
  throw new Error(
    `Joint "${joint}" is of a skin in detached bind mode; bake with sockets: ['${jointNames[index]}'].`,
  );
}

/**
 * A copy of a geometry, all of whose vertices follow one joint.
 *
 * @param offset Where the geometry is in the joint's own space.
 */
export function bindToJoint(source: BufferGeometry, socket: Socket, offset: Matrix4): BufferGeometry {
  const { joint, bind } = socket;
  const geometry = source.clone();
  transformGeometry(geometry, affineToMatrix4(bind, 0, _bind).multiply(offset));
  followJoint(geometry, joint).deleteAttribute('partIndex');
  shadeByJoint(geometry, socket);
  return geometry;
}

function shadeByJoint(geometry: BufferGeometry, { joint, isUneven }: Socket): void {
  const { count } = geometry.getAttribute('position');
  geometry.deleteAttribute('shadingJoint');
  if (!isUneven) return;
  const joints = new Float32Array(count).fill(joint + 1);
  geometry.setAttribute('shadingJoint', new Float32BufferAttribute(joints, 1));
}

/** Moves a crowd geometry, all of whose vertices follow one socket, to another socket; its place relative to it stays. */
export function rebindToJoint(geometry: BufferGeometry, from: Socket, to: Socket): void {
  const skinIndex = geometry.getAttribute('skinIndex') as InterleavedBufferAttribute;
  for (let vertex = 0; vertex < skinIndex.count; vertex++) skinIndex.setX(vertex, to.joint);
  skinIndex.needsUpdate = true;
  shadeByJoint(geometry, to);
  if (from.bind.every((value, i) => value === to.bind[i])) return;
  const back = affineToMatrix4(from.bind, 0, _before).invert();
  transformGeometry(geometry, affineToMatrix4(to.bind, 0, _bind).multiply(back));
}

/** Moves all vertices by one matrix. One that mirrors turns triangles around, so that their front stays in front. */
export function transformGeometry(geometry: BufferGeometry, matrix: Matrix4): void {
  moveVertices(geometry, () => matrix);
  if (matrix.determinant() < 0) turnTriangles(geometry);
}

/**
 * Moves vertices each by a matrix of its own, as `BufferGeometry.applyMatrix4` does all by one, and what three.js leaves out: morph
 * targets, and quantized attributes, which become floats first.
 *
 * @param matrixOf Gives none for vertices that stay.
 */
export function moveVertices(
  geometry: BufferGeometry,
  matrixOf: (vertex: number) => Matrix4 | false | undefined,
): void {
  const { attributes, morphAttributes, morphTargetsRelative } = geometry;
  /** How long normals were before they were normalised: their morph targets shrink as much. */
  const lengths: number[] = [];
  const move = (source: Attribute, name: string, isTarget = false): BufferAttribute => {
    const floats = floatsOf(source);
    for (let vertex = 0; vertex < floats.count; vertex++) {
      const matrix = matrixOf(vertex);
      if (!matrix) continue;
      _vector.fromBufferAttribute(floats, vertex);
      if (name === 'normal') {
        _vector.applyMatrix3(_linear.getNormalMatrix(matrix));
        if (!isTarget) lengths[vertex] = _vector.length();
        _vector.divideScalar(lengths[vertex] || 1);
      } else if (name === 'tangent') _vector.transformDirection(matrix);
      else if (isTarget && morphTargetsRelative) _vector.applyMatrix3(_linear.setFromMatrix4(matrix));
      else _vector.applyMatrix4(matrix);
      floats.setXYZ(vertex, _vector.x, _vector.y, _vector.z);
    }
    floats.needsUpdate = true;
    return floats;
  };
  for (const name of ['position', 'normal', 'tangent'] as const) {
    if (attributes[name]) geometry.setAttribute(name, move(attributes[name], name));
    const targets = morphAttributes[name as 'position'];
    if (targets) morphAttributes[name as 'position'] = targets.map((one) => move(one, name, true));
  }
  geometry.boundingBox = geometry.boundingSphere = null;
}

/** Swaps two corners of each triangle, so that its front stays in front under a matrix that mirrors. */
function turnTriangles(geometry: BufferGeometry): void {
  const { count } = geometry.getAttribute('position');
  if (geometry.index === null) geometry.setIndex([...Array(count).keys()]);
  const index = geometry.index as unknown as BufferAttribute;
  for (let i = 0; i + 2 < index.count; i += 3) swapItems(index.array, i + 1, i + 2, 1);
  index.needsUpdate = true;
}
