import { checkIndex, forEachInstance, type Instances } from '../instances/instanceRange.js';
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
  crowd: Crowd,
  instances: Instances,
  clip: ClipOfInstance,
  options: PlayOptionsOfInstance,
  caller: string,
): void {
  const same = areSame(options);
  if (typeof instances === 'number') {
    // What programs call thousands of times in a frame makes no closure.
    checkIndex(instances, crowd.visibility, caller);
    playClip(crowd, instances, clip, options, same, caller);
    return;
  }
  forEachInstance(instances, crowd.visibility, caller, (index) => {
    playClip(crowd, index, clip, options, same, caller);
  });
}

function playClip(
  { playback, boneTexture: { clipTable } }: Crowd,
  index: number,
  clip: ClipOfInstance,
  options: PlayOptionsOfInstance,
  same: boolean,
  caller: string,
): void {
  const baked = clipTable.clips[clipTable.indexOf(typeof clip === 'function' ? clip(index) : clip, caller)];
  playback.play(index, baked, same ? (options as PlayOptions) : optionsOf(options, index), caller);
}

/** Whether options are the same for all instances: none is a function. */
function areSame(options: PlayOptionsOfInstance): boolean {
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
