import { Matrix4, type Vector3 } from 'three';
import type { DrawnCrowd } from '../backends/DrawnCrowd.js';
import { AFFINE_SIZE } from '../constants.js';
import { checkIndex } from '../instances/instanceRange.js';
import { createPoseMix } from '../poses/PoseMix.js';
import { affineToMatrix4 } from '../utils/affine.js';
import { morphVertex, skinVertex } from './posedVertex.js';

const _pose = /*@__PURE__*/ createPoseMix();
const _affine = /*@__PURE__*/ new Float64Array(AFFINE_SIZE);
const _matrix = /*@__PURE__*/ new Matrix4();

/** Where an instance shows a vertex now, in the crowd's local space. */
export function vertexPositionAt(
  crowd: DrawnCrowd,
  index: number,
  vertex: number,
  target: Vector3,
  caller: string,
): Vector3 {
  const { geometry, boneTexture, morphTexture, morphTargetInfluences = [] } = crowd;
  checkIndex(index, crowd.playback.capacity, caller);
  const vertices = geometry.getAttribute('position').count;
  if (!(Number.isInteger(vertex) && vertex >= 0 && vertex < vertices)) {
    throw new Error(`${caller}: no vertex ${vertex}; the geometry has ${vertices}, 0 to ${vertices - 1}.`);
  }
  crowd.playback.pose(index, crowd.interpolate, _pose);
  const added = new Float64Array(crowd.clipsMorph ? boneTexture.morphNames.length : 0);
  if (crowd.clipsMorph) boneTexture.readMorphs(_pose, added);
  morphVertex(geometry, morphTexture, morphTargetInfluences, added, index, vertex, target);
  skinVertex(geometry, boneTexture, _pose, crowd.influences, vertex, target);
  return target.applyMatrix4(_matrix.fromArray(crowd.instanceMatrix.array, index * 16));
}

/** The skinning matrix of a joint as an instance shows it now, relative to the instance. */
export function skinningMatrixAt(
  { playback, boneTexture, interpolate }: DrawnCrowd,
  index: number,
  joint: string | number,
  target: Matrix4,
  caller: string,
): Matrix4 {
  checkIndex(index, playback.capacity, caller);
  const number = boneTexture.jointIndex(joint, caller);
  boneTexture.readPose(playback.pose(index, interpolate, _pose), number, _affine);
  return affineToMatrix4(_affine, 0, target);
}

/** Where a joint or socket of an instance is now, in the crowd's local space. */
export function socketMatrixAt(
  crowd: DrawnCrowd,
  index: number,
  joint: string | number,
  target: Matrix4,
  caller: string,
): Matrix4 {
  checkIndex(index, crowd.playback.capacity, caller);
  const socket = crowd.boneTexture.socket(joint, caller);
  skinningMatrixAt(crowd, index, socket.joint, target, caller);
  target.multiply(affineToMatrix4(socket.bind, 0, _matrix));
  return target.premultiply(_matrix.fromArray(crowd.instanceMatrix.array, index * 16));
}
