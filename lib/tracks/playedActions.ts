import type { PoseMix } from '../poses/PoseMix.js';
import type { MixedAction } from './mixPose.js';

/**
 * What an instance shows, as the actions of a mixer: the clip that was started first comes first. With tracks, a layer's
 * `start` is the clip's number counted from 1; 0 is the rest pose.
 *
 * @param target Its actions are reused, and it gets as long as there are actions.
 */
export function playedActions({ layers, count }: PoseMix, target: MixedAction[]): MixedAction[] {
  let used = 0;
  for (let i = count - 1; i >= 0; i--) {
    const { start, frame0, alpha, weight } = layers[i];
    if (start === 0 || weight <= 0) continue;
    target[used] ??= { clip: 0, frame: 0, weight: 0 };
    const action = target[used++];
    action.clip = start - 1;
    action.frame = frame0 - start + alpha;
    action.weight = weight;
  }
  target.length = used;
  return target;
}
