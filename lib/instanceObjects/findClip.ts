import type { Crowd } from '../crowd/Crowd.js';
import type { PlayedAction } from './PlayedAction.js';

/**
 * Brings the clip of an action up to what the crowd plays now: whoever holds an action that was forgotten may play it, and the crowd
 * may have another bone texture by then.
 *
 * @throws If that has no clip of the name, or none that the action's layer takes.
 */
export function findClip({ boneTexture, playback }: Crowd, played: PlayedAction, caller: string): void {
  const clip = boneTexture.clips[boneTexture.clipIndex(played.clip.name, caller)];
  if (clip === played.clip) return;
  playback.layers.checkClip(played.layer, clip, caller);
  played.setClip(clip);
}
