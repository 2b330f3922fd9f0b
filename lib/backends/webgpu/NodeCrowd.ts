import type { InstancedMesh, Matrix4, Object3D, Skeleton } from 'three';
import type { InstanceMatrices } from '../../instances/InstanceMatrices.js';
import type { InstanceTexture } from '../../instances/InstanceTexture.js';
import type { InstancePlayback } from '../../playback/InstancePlayback.js';
import type { BoneTexture } from '../../texture/BoneTexture.js';

/** What this backend reads of a crowd; the mesh itself lies in a layer below. */
export interface NodeCrowd extends InstancedMesh {
  isSkinnedInstancedMesh: true;
  isSkinnedMesh: boolean;
  clock: number;
  elapsed: number;
  boneTexture: BoneTexture;
  playback: InstancePlayback;
  /** Which parts of instances are shown and in what colour; null until one is not as it came. */
  parts: { texture: InstanceTexture } | null;
  /** Matrices and colours as texels; null while they are vertex attributes. */
  matrices: InstanceMatrices | null;
  /** Matrices of the frame before; null until someone asks for motion vectors. */
  previousMatrices: InstanceMatrices | null;
  bindMatrix: Matrix4;
  skeleton: Skeleton;
}

export const isCrowd = (object: Object3D | null): object is NodeCrowd =>
  (object as NodeCrowd | null)?.isSkinnedInstancedMesh === true;
