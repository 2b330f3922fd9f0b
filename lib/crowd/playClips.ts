import { forEachInstance, type Instances } from '../instances/instanceRange.js';
import type { PlayOptions } from '../playback/PlayOptions.js';
import type { ClipReference } from '../poses/ClipTable.js';
import type { Crowd } from './Crowd.js';

/** Name or index of a clip or an `AnimationClip`, or what gives one for each instance. */
export type ClipOfInstance = ClipReference | ((index: number) => ClipReference);

/** {@link PlayOptions} of which any may be a function of the instance's index. */
export type PlayOptionsOfInstance = {
  [K in keyof PlayOptions]: PlayOptions[K] | ((index: number) => PlayOptions[K]);
};

/**
 * Starts clips on instances.
 *
 * @throws If there is no such instance or clip, or an option is out of range.
 */
export function playClips(
  { playback, boneTexture, visibility }: Crowd,
  instances: Instances,
  clip: ClipOfInstance,
  options: PlayOptionsOfInstance,
  caller: string,
): void {
  const { clips } = boneTexture;
  const same = areSame(options);
  forEachInstance(instances, visibility, caller, (index) => {
    const one = typeof clip === 'function' ? clip(index) : clip;
    const baked = clips[boneTexture.clipIndex(one, caller)];
    playback.play(index, baked, same ? options : optionsOf(options, index), caller);
  });
}

/** Whether options are the same for all instances: none is a function. */
function areSame(options: PlayOptionsOfInstance): options is PlayOptions {
  for (const key in options) if (typeof options[key as keyof PlayOptions] === 'function') return false;
  return true;
}

function optionsOf(options: PlayOptionsOfInstance, index: number): PlayOptions {
  const one: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(options)) {
    one[key] = typeof value === 'function' ? value(index) : value;
  }
  return one as PlayOptions;
}
