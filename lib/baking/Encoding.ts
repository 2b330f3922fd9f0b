import type { BoneTextureData, EncodingName } from '../encodings/BoneTextureData.js';
import type { PartFlip } from '../poses/PartFlip.js';
import type { Rig } from '../poses/Rig.js';
import type { PoseSource } from '../sources/PoseSource.js';
import type { Steps } from '../utils/steps.js';
import type { RigBake } from './bakeRig.js';
import type { PlannedClip } from './planClips.js';

/** How poses are stored, read and drawn: tracks, which is the default, or `frames`, which is passed in. */
export interface Encoding {
  /** As files and {@link BoneTextureData} have it. */
  readonly name: EncodingName;
  /** What poses crowds by it. */
  readonly poseSource: PoseSource;
  /**
   * Finds parts that clips mirror or flatten.
   *
   * @throws If there are any and it cannot hold them.
   * @internal
   */
  findFlips(rig: Rig, clips: readonly PlannedClip[]): Steps<PartFlip[]>;
  /** @internal */
  bake(bake: RigBake): Steps<BoneTextureData>;
}
