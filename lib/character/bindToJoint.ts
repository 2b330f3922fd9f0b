import type { BufferGeometry, InterleavedBufferAttribute } from 'three';
import {
  type BufferAttribute,
  Float32BufferAttribute,
  Matrix3,
  Matrix4,
  Uint16BufferAttribute,
  Vector3,
} from 'three';
import type { BoneTexture } from '../animation/BoneTexture.js';
import type { BoneTextureData } from '../animation/BoneTextureData.js';
import { affineToMatrix4 } from '../utils/affine.js';
import { floatsOf } from '../utils/geometries.js';

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
  const { count } = geometry.getAttribute('position');
  const indices = new Uint16Array(count * 4);
  const weights = new Float32Array(count * 4);
  for (let vertex = 0; vertex < count; vertex++) {
    indices[vertex * 4] = joint;
    weights[vertex * 4] = 1;
  }
  geometry.setAttribute('skinIndex', new Uint16BufferAttribute(indices, 4));
  geometry.setAttribute('skinWeight', new Float32BufferAttribute(weights, 4));
  geometry.deleteAttribute('partIndex');
  shadeByJoint(geometry, socket);
  return geometry;
}

function shadeByJoint(geometry: BufferGeometry, { joint, isUneven }: Socket): void {
  const { count } = geometry.getAttribute('position');
  geometry.deleteAttribute('shadingJoint');
  if (!isUneven) return;
  geometry.setAttribute(
    'shadingJoint',
    new Float32BufferAttribute(new Float32Array(count).fill(joint + 1), 1),
  );
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

/**
 * `BufferGeometry.applyMatrix4`, and what three.js leaves out: it transforms morph targets, turns quantized attributes into
 * floats first, and under a mirroring matrix keeps the front of triangles in front.
 */
export function transformGeometry(geometry: BufferGeometry, matrix: Matrix4): void {
  const { attributes, morphAttributes, morphTargetsRelative } = geometry;
  for (const name of ['position', 'normal', 'tangent']) {
    if (attributes[name] !== undefined) geometry.setAttribute(name, floatsOf(attributes[name]));
  }
  for (const name of ['position', 'normal'] as const) {
    if (morphAttributes[name] !== undefined) morphAttributes[name] = morphAttributes[name].map(floatsOf);
  }

  const { position = [], normal = [] } = morphAttributes as Record<string, BufferAttribute[]>;
  _linear.setFromMatrix4(matrix);
  for (const target of position) {
    if (morphTargetsRelative) target.applyMatrix3(_linear);
    else target.applyMatrix4(matrix);
  }
  if (normal.length > 0 && geometry.hasAttribute('normal')) {
    const lengths = normalLengths(geometry, matrix);
    _linear.getNormalMatrix(matrix);
    for (const target of normal) {
      for (let i = 0; i < target.count; i++) {
        _vector.fromBufferAttribute(target, i).applyMatrix3(_linear).divideScalar(lengths[i]);
        target.setXYZ(i, _vector.x, _vector.y, _vector.z);
      }
    }
  }
  if (matrix.determinant() < 0) turnTriangles(geometry);
  geometry.applyMatrix4(matrix);
}

/** How long each normal is once the matrix is applied; three.js then normalises it, and morph targets must shrink as much. */
function normalLengths(geometry: BufferGeometry, matrix: Matrix4): number[] {
  const normals = geometry.getAttribute('normal');
  _linear.getNormalMatrix(matrix);
  return Array.from({ length: normals.count }, (_, i) => {
    return _vector.fromBufferAttribute(normals, i).applyMatrix3(_linear).length() || 1;
  });
}

/** Swaps two corners of each triangle, so that its front stays in front under a matrix that mirrors. */
function turnTriangles(geometry: BufferGeometry): void {
  const { count } = geometry.getAttribute('position');
  if (geometry.index === null) geometry.setIndex(Array.from({ length: count }, (_, i) => i));
  const index = geometry.index as unknown as BufferAttribute;
  for (let i = 0; i + 2 < index.count; i += 3) {
    const second = index.getX(i + 1);
    index.setX(i + 1, index.getX(i + 2));
    index.setX(i + 2, second);
  }
  index.needsUpdate = true;
}
