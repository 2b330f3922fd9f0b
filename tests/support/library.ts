import { LoopOnce } from 'three';

export { BoneTexture, SkinnedInstancedMesh } from 'skinned-instanced-mesh';

/** Plays a clip once and stays on its end, so that a time means the same at both ends of the clip. */
export const LoopOnceOptions = { loop: LoopOnce, clampWhenFinished: true } as const;
