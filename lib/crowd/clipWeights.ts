import { checkIndex, forEachInstance, type Instances } from '../instances/instanceRange.js';
import { checkFade, checkWeight } from '../playback/PlayOptions.js';
import type { ClipReference } from '../poses/ClipTable.js';
import type { Crowd } from './Crowd.js';

/**
 * Changes the weight of a clip that instances play.
 *
 * @throws If there is no such instance or clip, it does not play there, or a number is out of range.
 */
export function setWeights(
  { playback, boneTexture, capacity }: Crowd,
  instances: Instances,
  clip: ClipReference,
  weight: number,
  { fade = 0 }: { fade?: number },
  caller: string,
): void {
  checkWeight(weight, caller);
  checkFade(fade, caller);
  const baked = boneTexture.clips[boneTexture.clipIndex(clip, caller)];
  forEachInstance(instances, capacity, caller, (index) => {
    playback.setWeight(index, baked, weight, fade, caller);
  });
}

/**
 * Weight at which an instance plays a clip.
 *
 * @throws If there is no such instance or clip.
 */
export function weightOf(
  { playback, boneTexture, capacity }: Crowd,
  index: number,
  clip: ClipReference,
  caller: string,
): number {
  checkIndex(index, capacity, caller);
  return playback.getWeight(index, boneTexture.clips[boneTexture.clipIndex(clip, caller)]);
}
