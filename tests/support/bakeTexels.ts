import type { BakeOptions } from 'skinned-instanced-mesh';
import type { AnimationClip, Object3D } from 'three';
import { BoneTexture } from './library.js';

/**
 * Bakes skinning matrices, frame by frame, whatever the number of vertices: as quaternions where these hold the character,
 * else as matrices.
 */
export function bakeTexels(
  root: Object3D,
  clips: readonly AnimationClip[],
  options: BakeOptions = {},
): BoneTexture {
  try {
    return BoneTexture.bake(root, clips, { ...options, encoding: 'quaternion' });
  } catch (error) {
    if (!String(error).includes('encoding "quaternion" cannot hold')) throw error;
    return BoneTexture.bake(root, clips, { ...options, encoding: 'matrix' });
  }
}
