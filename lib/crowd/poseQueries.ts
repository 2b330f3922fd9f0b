import { type Box3, Matrix4, Vector3 } from 'three';
import { sourceOf } from '../animation/PoseSource.js';
import { socketOf } from '../character/bindToJoint.js';
import { AFFINE_SIZE } from '../constants.js';
import type { DrawnCrowd } from '../core/Crowd.js';
import { checkIndex } from '../instances/instanceRange.js';
import { PosedInstance } from '../queries/PosedInstance.js';
import { affineToMatrix4, multiplyAffine } from '../utils/affine.js';
import type { CrowdMesh } from './CrowdMesh.js';

const _instance = /*@__PURE__*/ new PosedInstance();
const _matrix = /*@__PURE__*/ new Matrix4();
const _joint = /*@__PURE__*/ new Float64Array(AFFINE_SIZE);
const _socket = /*@__PURE__*/ new Float64Array(AFFINE_SIZE);
const _vertex = /*@__PURE__*/ new Vector3();

/**
 * Position of a vertex as an instance shows it now, as `Mesh.getVertexPosition` has it, with the instance matrix applied: in the
 * crowd's local space. For the world's, apply `matrixWorld`.
 *
 * @param mesh A crowd, or what is attached to it.
 * @param vertex Index into the attributes of its `geometry`.
 * @throws If there is no such instance or vertex.
 *
 * @category Ask
 */
export function getVertexPosition(mesh: CrowdMesh, index: number, vertex: number, target: Vector3): Vector3 {
  checkIndex(index, mesh.visibility);
  const { count } = mesh.geometry.getAttribute('position');
  if (!(Number.isInteger(vertex) && vertex >= 0 && vertex < count)) {
    throw new Error(`There is no vertex ${vertex}; the geometry has ${count}, 0 to ${count - 1}.`);
  }
  _instance.pose(mesh, index).getVertexPosition(vertex, target);
  return target.applyMatrix4(_matrix.fromArray(mesh.instanceMatrix.array, index * 16));
}

/**
 * Skinning matrix of a joint as an instance shows it now: what `Skeleton.boneMatrices` holds, relative to the instance. It
 * carries a vertex from where it was modelled to where it is drawn, before the instance matrix.
 *
 * @param mesh A crowd, or what is attached to it.
 * @param joint Name or index of a joint of the bone texture.
 * @throws If there is no such instance or joint.
 *
 * @category Ask
 */
export function getSkinningMatrix(
  mesh: CrowdMesh,
  index: number,
  joint: string | number,
  target: Matrix4,
): Matrix4 {
  checkIndex(index, mesh.visibility);
  const shown = shownAs(mesh, index);
  return affineToMatrix4(jointMatrix(shown, index, shown.boneTexture.jointIndex(joint)), 0, target);
}

/**
 * Where a joint of an instance is now, as `bone.matrixWorld` would be: in the crowd's local space, instance matrix applied.
 * For the world's, premultiply by `matrixWorld`.
 *
 * @param mesh A crowd, or what is attached to it.
 * @param joint Name or index of a joint, or of a node that was baked with `sockets`.
 * @throws If there is no such instance or joint.
 *
 * @example
 * ```ts
 * getSocketMatrix(crowd, 3, 'hand_r', matrix).premultiply(crowd.matrixWorld); // in the world
 * ```
 *
 * @category Ask
 */
export function getSocketMatrix(
  mesh: CrowdMesh,
  index: number,
  joint: string | number,
  target: Matrix4,
): Matrix4 {
  checkIndex(index, mesh.visibility);
  const shown = shownAs(mesh, index);
  const socket = socketOf(shown.boneTexture, joint);
  multiplyAffine(jointMatrix(shown, index, socket.joint), 0, socket.bind, 0, _socket, 0);
  return affineToMatrix4(_socket, 0, target).premultiply(
    _matrix.fromArray(mesh.instanceMatrix.array, index * 16),
  );
}

/** What draws an instance of a crowd, whose kinds may have other proportions. */
export const shownAs = (crowd: DrawnCrowd, index: number): DrawnCrowd =>
  crowd.owner === undefined ? ((crowd.views.kinds?.meshOf(index) ?? crowd) as DrawnCrowd) : crowd;

/** A joint's skinning matrix as an instance shows it now, 12 numbers row by row, which hold until another is asked for. */
export function jointMatrix(crowd: DrawnCrowd, index: number, joint: number): Float64Array {
  sourceOf(crowd).pose(crowd, index);
  crowd.boneTexture.reader?.jointMatrix(joint, _joint, 0);
  return _joint;
}

/** Expands a box by all vertices of an instance as it is posed now, in the space of the instance. */
export function expandByPose(crowd: DrawnCrowd, index: number, target: Box3): void {
  const { count } = crowd.geometry.getAttribute('position');
  _instance.pose(crowd, index);
  for (let vertex = 0; vertex < count; vertex++)
    target.expandByPoint(_instance.getVertexPosition(vertex, _vertex));
}
