import type { PoseMix } from '../poses/PoseMix.js';
import type { MixedAction } from './mixPose.js';

/**
 * What an instance shows as actions of a mixer: the clip that was started first comes first. Slots number the clips of tracks
 * from 1, since 0 is the rest pose.
 *
 * @param target Actions that are used again; the array is cut or filled to the number there are.
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
