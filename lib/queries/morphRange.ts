import type { MorphRange } from '../poses/jointBoxes.js';
import { createPoseMix } from '../poses/PoseMix.js';
import type { BoneTexture } from '../texture/BoneTexture.js';

/**
 * The influences that morph targets may have, from at most 0 to at least 1: what instances have of their own, and what clips add to it.
 *
 * @param own What instances have had of their own.
 */
export function morphRange(boneTexture: BoneTexture, own: MorphRange): MorphRange {
  const { morphNames, clips } = boneTexture;
  const added = new Float64Array(morphNames.length);
  const lowest = added.slice();
  const highest = added.slice();
  const pose = createPoseMix();
  const [played] = pose.clips;
  for (const { start, count } of added.length > 0 ? clips : []) {
    played.start = start;
    for (let frame = start; frame < start + count; frame++) {
      played.frame0 = played.frame1 = frame;
      boneTexture.readMorphs(pose, added);
      for (let i = 0; i < added.length; i++) {
        lowest[i] = Math.min(lowest[i], added[i]);
        highest[i] = Math.max(highest[i], added[i]);
      }
    }
  }
  const { least, most } = own;
  return {
    least: Array.from(least, (value, i) => Math.min(value + (lowest[i] ?? 0), 0)),
    most: Array.from(most, (value, i) => Math.max(value + (highest[i] ?? 0), 1)),
  };
}
