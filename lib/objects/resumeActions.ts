import { loadAction } from '../actions/storeActions.js';
import type { BakedClip } from '../animation/ClipTable.js';
import { ACTION_START, isRest } from '../playback/actionNumbers.js';
import type { SkinnedInstance } from './SkinnedInstance.js';

/**
 * Has actions go on with what an instance plays by index, each with the time, weight, speed, fade and warp that its clip has: after
 * `loadPlayback`, for one. The actions are those that `knight.clipAction(clip)` gives, and are played; those that were paused, or
 * wait for `startAt`, still are and do.
 *
 * ```ts
 * loadPlayback(crowd, saved);
 * const knight = resumeActions(new SkinnedInstance(crowd, 0));
 * knight.clipAction('Walk').fadeTo(0, 0.5);
 * ```
 *
 * @throws If the bone texture's encoding is not `'tracks'`.
 *
 * @category Instances as objects
 */
export function resumeActions<T extends SkinnedInstance>(knight: T): T {
  const { mixer, instanceId, crowd } = knight;
  const { playback } = crowd;
  const { clipTable } = crowd.boneTexture;
  const now = playback.time.timeOf(instanceId);
  // Reads all before anything is stored in its place.
  const resumed = playback.layers.flatMap((layer, number) => {
    if (playback.isSteered(instanceId, number)) return [];
    playback.settle(instanceId);
    return Array.from({ length: layer.count(instanceId) }, (_, place) => {
      const stored = layer.actions(place).slice(layer.at(instanceId), layer.at(instanceId + 1));
      return { number, stored };
    });
  });
  for (const { number, stored } of resumed) {
    if (isRest(stored, 0)) continue;
    const clip = clipTable.startingAt(stored[ACTION_START]) as BakedClip;
    const { time } = mixer;
    const action = mixer.clipAction(crowd.boneTexture.clips.indexOf(clip), { layer: number });
    loadAction(action, clip, stored, time - now);
    action._updateWeight(time);
    action._updateTimeScale(time);
    action.play();
  }
  return knight;
}
