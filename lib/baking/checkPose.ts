import { AFFINE_SIZE } from '../constants.js';
import type { Rig } from '../poses/Rig.js';

const NAME = 'BoneTexture.bake';

/** A little less than the largest float32. */
const MAX_FLOAT = 3.4e38;

/**
 * Checks the skinning matrices of all joints.
 *
 * @param pose `AFFINE_SIZE` numbers a joint.
 * @param clip Names the clip in the message, e.g. `the rest pose`.
 * @throws If one is not finite.
 */
export function checkPose({ jointNames }: Rig, pose: Float64Array, clip: string): void {
  const length = jointNames.length * AFFINE_SIZE;
  for (let i = 0; i < length; i++) {
    if (Math.abs(pose[i]) < MAX_FLOAT) continue;
    throw new Error(
      `${NAME}: the matrix of joint "${jointNames[Math.floor(i / AFFINE_SIZE)]}" holds ${pose[i]} in ${clip}; ` +
        'mend the transforms of the nodes above it, its bind matrices, or the clip.',
    );
  }
}
