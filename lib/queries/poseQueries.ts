import { type Box3, Matrix4, Vector3 } from 'three';
import type { DrawnCrowd } from '../backends/DrawnCrowd.js';
import { checkIndex } from '../instances/instanceRange.js';
import { affineToMatrix4 } from '../utils/affine.js';
import { PosedInstance } from './PosedInstance.js';

const _instance = /*@__PURE__*/ new PosedInstance();
const _matrix = /*@__PURE__*/ new Matrix4();
const _vertex = /*@__PURE__*/ new Vector3();

/** Where an instance shows a vertex now, in the crowd's local space. */
export function vertexPositionAt(
  crowd: DrawnCrowd,
  index: number,
  vertex: number,
  target: Vector3,
  caller: string,
): Vector3 {
  checkIndex(index, crowd.visibility, caller);
  const vertices = crowd.geometry.getAttribute('position').count;
  if (!(Number.isInteger(vertex) && vertex >= 0 && vertex < vertices)) {
    throw new Error(`${caller}: no vertex ${vertex}; the geometry has ${vertices}, 0 to ${vertices - 1}.`);
  }
  _instance.pose(crowd, index).morphedVertex(vertex, target);
  _instance.applyPose(vertex, target);
  return target.applyMatrix4(_matrix.fromArray(crowd.instanceMatrix.array, index * 16));
}

/** Expands a box by all vertices of an instance as it is posed now, in the space of the instance. */
export function expandByPose(crowd: DrawnCrowd, index: number, target: Box3): void {
  const { count } = crowd.geometry.getAttribute('position');
  _instance.pose(crowd, index);
  for (let vertex = 0; vertex < count; vertex++) {
    _instance.morphedVertex(vertex, _vertex);
    target.expandByPoint(_instance.applyPose(vertex, _vertex));
  }
}

/** The skinning matrix of a joint as an instance shows it now, relative to the instance. */
export function skinningMatrixAt(
  crowd: DrawnCrowd,
  index: number,
  joint: string | number,
  target: Matrix4,
  caller: string,
): Matrix4 {
  checkIndex(index, crowd.visibility, caller);
  const number = crowd.boneTexture.jointIndex(joint, caller);
  const at = _instance.pose(crowd, index).jointMatrix(number);
  return affineToMatrix4(_instance.palette, at, target);
}

/** Where a joint or socket of an instance is now, in the crowd's local space. */
export function socketMatrixAt(
  crowd: DrawnCrowd,
  index: number,
  joint: string | number,
  target: Matrix4,
  caller: string,
): Matrix4 {
  checkIndex(index, crowd.visibility, caller);
  const socket = crowd.boneTexture.socket(joint, caller);
  skinningMatrixAt(crowd, index, socket.joint, target, caller);
  target.multiply(affineToMatrix4(socket.bind, 0, _matrix));
  return target.premultiply(_matrix.fromArray(crowd.instanceMatrix.array, index * 16));
}
