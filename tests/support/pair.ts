import { Box3, type Material, Matrix4, type Object3D } from 'three';
import { BoneTexture, LoopOnceOptions, SkinnedInstancedMesh } from './library.js';
import type { Model } from './models.js';
import { Reference } from './reference.js';

const baked = new WeakMap<Object3D, BoneTexture>();

export interface Pair {
  reference: Reference;
  crowd: SkinnedInstancedMesh;
  bounds: Box3;
}

/** The same character at the same time of the same clip, once as three.js draws it and once as one instance of ours. */
export function createPair(
  { root, clips }: Model,
  clipIndex: number,
  share: number,
  matrix = new Matrix4(),
): Pair {
  root.traverse((node) => {
    node.castShadow = true;
    node.receiveShadow = true;
  });
  const boneTexture = baked.get(root) ?? BoneTexture.bake(root, clips);
  baked.set(root, boneTexture);
  const clip = clips[clipIndex];
  const { count } = boneTexture.clips[clipIndex];
  // on a baked frame, so that what differs is not the sampling
  const time = count > 1 ? (Math.round(share * (count - 1)) / (count - 1)) * clip.duration : 0;

  const reference = new Reference(root, matrix).pose(clip, time);
  const crowd = SkinnedInstancedMesh.from(root, clips, 1, { boneTexture });
  crowd.setMatrixAt(0, matrix);
  crowd.play(0, clipIndex, { ...LoopOnceOptions, time });
  crowd.update(0);
  const bounds = new Box3();
  reference.forEachVertex((_, position) => bounds.expandByPoint(position));
  return { reference, crowd, bounds };
}

/** Gives both the same new material. */
export function useMaterial({ reference, crowd }: Pair, create: () => Material): void {
  for (const mesh of reference.meshes) mesh.material = create();
  crowd.material = Array.isArray(crowd.material) ? crowd.material.map(create) : create();
}
