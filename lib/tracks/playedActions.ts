import type { PoseMix } from '../poses/PoseMix.js';
import type { MixedLayer } from './mixPose.js';

/**
 * What an instance shows, as layers of the actions of a mixer: the base first, and on each layer the clip that was started
 * first. With tracks, a clip's `start` is its number counted from 1; 0 is the rest pose.
 *
 * @param target Layers and their actions are reused, and are as many afterwards as there are.
 */
export function playedActions({ clips, count, layers }: PoseMix, target: MixedLayer[]): MixedLayer[] {
  for (let layer = 0; layer < layers.length; layer++) {
    target[layer] ??= { actions: [], weight: 1, mask: null };
    const { actions } = target[layer];
    target[layer].weight = layers[layer].weight;
    target[layer].mask = layers[layer].mask;
    let used = 0;
    for (let i = count - 1; i >= 0; i--) {
      const clip = clips[i];
      if (clip.layer !== layer || clip.start === 0 || clip.weight <= 0) continue;
      actions[used] ??= { clip: 0, frame: 0, weight: 0 };
      const action = actions[used++];
      action.clip = clip.start - 1;
      action.frame = clip.frame0 - clip.start + clip.alpha;
      action.weight = clip.weight;
    }
    actions.length = used;
  }
  target.length = layers.length;
  return target;
}
