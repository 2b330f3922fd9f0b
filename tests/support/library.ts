import { LoopOnce } from 'three';

export type { CharacterMesh, JointAttachment } from 'skinned-instanced-mesh';
export { BoneTexture, SkinnedInstancedMesh } from 'skinned-instanced-mesh';

/** Plays a clip once and stays on its end, so that a time means the same at both ends of the clip. */
export const LoopOnceOptions = { loop: LoopOnce, clampWhenFinished: true } as const;
