import { type BufferAttribute, Matrix4, Vector3, Vector4 } from 'three';
import type { MotionStage } from '../../shaders/MotionProgram.js';
import type { MovedMesh } from './CrowdMotions.js';
import type { Motion } from './Motion.js';
import { clockOf } from './MotionClock.js';
import type { MotionVertex } from './MotionDefinition.js';
import { randomOf } from './randomOf.js';

const _start = /*@__PURE__*/ new Vector3();

const _vertex = {
  position: /*@__PURE__*/ new Vector3(),
  normal: /*@__PURE__*/ new Vector3(),
  color: /*@__PURE__*/ new Vector4(),
  instanceMatrix: /*@__PURE__*/ new Matrix4(),
  modelMatrix: /*@__PURE__*/ new Matrix4(),
  worldMatrix: /*@__PURE__*/ new Matrix4(),
  time: 0,
  random: 0,
  instance: 0,
  uniforms: {},
};

/** Moves a vertex as shaders do: twin of `moveVertex` in `motion.glsl.ts`. See `CrowdMotions.moveVertex`. */
export function movedVertex(
  assigned: readonly { motion: Motion }[],
  mesh: MovedMesh,
  index: number,
  vertex: number,
  target: Vector3,
  pose: (position: Vector3) => Vector3,
): Vector3 {
  readVertex(mesh, index, vertex);
  const { position } = _vertex;
  _start.copy(position);
  move(assigned, mesh, 'beforeSkinning');
  pose(target.add(position).sub(_start));

  pose(position);
  _start.copy(position);
  move(assigned, mesh, 'afterSkinning');
  return target.add(position).sub(_start);
}

function readVertex(
  { geometry, instanceMatrix, matrixWorld, seeds }: MovedMesh,
  index: number,
  vertex: number,
) {
  const { attributes } = geometry;
  const color = attributes.color as BufferAttribute | undefined;
  _vertex.position.fromBufferAttribute(attributes.position, vertex);
  if (attributes.normal === undefined) _vertex.normal.set(0, 0, 0);
  else _vertex.normal.fromBufferAttribute(attributes.normal, vertex);
  _vertex.color.setScalar(0);
  if (color !== undefined) {
    const alpha = color.itemSize > 3 ? color.getW(vertex) : 1;
    _vertex.color.set(color.getX(vertex), color.getY(vertex), color.getZ(vertex), alpha);
  }
  _vertex.instance = index;
  _vertex.random = randomOf(seeds.of(index));
  _vertex.instanceMatrix.fromArray(instanceMatrix.array, index * 16);
  _vertex.modelMatrix.copy(matrixWorld);
  _vertex.worldMatrix.multiplyMatrices(matrixWorld, _vertex.instanceMatrix);
}

function move(assigned: readonly { motion: Motion }[], mesh: MovedMesh, stage: MotionStage): void {
  for (const { motion } of assigned) {
    if (motion.stage !== stage) continue;
    _vertex.uniforms = motion.hooks.values;
    _vertex.time = clockOf(mesh, motion).time;
    motion.definition.cpu?.(_vertex as MotionVertex<never>);
  }
}
