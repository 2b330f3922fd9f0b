import type { BoneTexture } from '../animation/BoneTexture.js';
import type { MorphRange } from '../animation/jointBoxes.js';
import { createPoseMix } from '../animation/PoseMix.js';

/** What clips add: found by reading every frame, and the same ever after. A bone texture that becomes a copy of another has new clips. */
const added = /*@__PURE__*/ new WeakMap<BoneTexture['clips'], MorphRange>();

/**
 * The influences that morph targets may have, from at most 0 to at least 1: what instances have of their own, and what clips add to it.
 *
 * @param own What instances have had of their own.
 */
export function morphRange(boneTexture: BoneTexture, { least, most }: MorphRange): MorphRange {
  const { clips } = boneTexture;
  let byClips = added.get(clips);
  if (byClips === undefined) {
    byClips = addedByClips(boneTexture);
    added.set(clips, byClips);
  }
  const { least: lowest, most: highest } = byClips;
  return {
    least: Array.from(least, (value, i) => Math.min(value + (lowest[i] ?? 0), 0)),
    most: Array.from(most, (value, i) => Math.max(value + (highest[i] ?? 0), 1)),
  };
}

function addedByClips(boneTexture: BoneTexture): MorphRange {
  const { morphNames, clips } = boneTexture;
  const influences = new Float64Array(morphNames.length);
  const least = influences.slice();
  const most = influences.slice();
  const pose = createPoseMix();
  const [played] = pose.clips;
  for (const { start, count } of influences.length > 0 ? clips : []) {
    played.start = start;
    for (let frame = start; frame < start + count; frame++) {
      played.frame0 = played.frame1 = frame;
      boneTexture.reader.pose(pose);
      boneTexture.reader.readMorphs(influences);
      for (let i = 0; i < influences.length; i++) {
        least[i] = Math.min(least[i], influences[i]);
        most[i] = Math.max(most[i], influences[i]);
      }
    }
  }
  return { least, most };
}
