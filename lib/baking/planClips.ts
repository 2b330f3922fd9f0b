import type { AnimationClip, KeyframeTrack } from 'three';
import { InterpolateSmooth } from 'three';
import { REST_FRAME } from '../constants.js';
import { listNames } from '../poses/ClipTable.js';
import { isPositive } from '../utils/checkOptions.js';
import { describe } from '../utils/describe.js';
import type { BakeOptions, ClipChoice } from './BakeOptions.js';
import type { TimedClip } from './partFlips.js';
import type { Steps } from './runBake.js';

/** Numbers of keys that are checked between two steps. */
const NUMBERS = 4096;

/** A clip to bake, with its place among the frames of the bone texture. */
export interface PlannedClip extends TimedClip {
  name: string;
  /** First frame. */
  start: number;
}

/**
 * Chooses the clips to bake and gives each its frames. Without clips there is the rest pose alone.
 *
 * @param caller Class and method, for messages.
 * @throws If a clip is not there, or cannot be baked; the message names the clip and track.
 */
export function* planClips(
  clips: readonly AnimationClip[],
  choices: BakeOptions['clips'],
  fps: number,
  caller = 'BoneTexture.bake',
): Steps<PlannedClip[]> {
  if (!Array.isArray(clips)) {
    throw new Error(
      `${caller}: clips is ${describe(clips)}; pass AnimationClips, e.g. gltf.animations, or [] for the rest pose alone.`,
    );
  }
  for (const clip of clips) checkIsClip(clip, 'clips', caller);
  const chosen: ClipChoice[] =
    choices?.map((choice) => asChoice(choice, caller)) ?? clips.map((clip) => ({ clip }));
  if (choices && chosen.length === 0)
    throw new Error(`${caller}: options.clips is empty; leave it out to bake all clips.`);

  const checked = new Set<ArrayLike<number>>();
  let start = REST_FRAME + 1;
  const planned: PlannedClip[] = [];
  for (const choice of chosen) {
    const clip =
      typeof choice.clip === 'string' ? clips.find(({ name }) => name === choice.clip) : choice.clip;
    if (!clip)
      throw new Error(
        `${caller}: no clip named "${choice.clip}" in options.clips; there are ${listNames(clips)}.`,
      );
    const { fps: rate = fps, name = clip.name } = choice;
    if (!isPositive(rate)) {
      throw new Error(
        `${caller}: options.clips "${clip.name}": fps is ${describe(rate)}; use a positive number of frames per second.`,
      );
    }
    if (typeof name !== 'string')
      throw new Error(`${caller}: options.clips "${clip.name}": name is ${describe(name)}; use a string.`);
    yield* checkClip(clip, checked, caller);
    const { duration } = clip;
    const count = duration > 0 ? Math.max(1, Math.round(duration * rate)) + 1 : 1;
    const timeOf = frameTimes(count, duration);
    planned.push({ clip, name, start, count, timeOf });
    start += count;
  }

  warnOfNames(planned, `${caller}: more than one clip`, ' or after a rename in options.clips');
  return planned;
}

/**
 * Warns where two have one name.
 *
 * @param what Begins the message.
 * @param wayOut How else the others are found than by index.
 */
export function warnOfNames(planned: readonly { name: string }[], what: string, wayOut = ''): void {
  const names = planned.map(({ name }) => name);
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice === undefined) return;
  console.warn(`${what} is named "${twice}"; the first is found by name, the others by index${wayOut}.`);
}

/** Seconds into a clip at which each of its frames is, from its beginning to its end. */
export const frameTimes =
  (count: number, duration: number) =>
  (frame: number): number =>
    count === 1 ? 0 : (frame / (count - 1)) * duration;

/** @throws If there is no clip in it. */
function asChoice(choice: string | AnimationClip | ClipChoice, caller: string): ClipChoice {
  const isChoice = typeof choice === 'object' && choice !== null && 'clip' in choice;
  const one = isChoice ? choice : { clip: choice };
  if (typeof one.clip !== 'string') checkIsClip(one.clip, 'options.clips', caller);
  return one;
}

/** @throws If it is something else. */
function checkIsClip(clip: AnimationClip, where: string, caller: string): void {
  if (Array.isArray(clip?.tracks)) return;
  throw new Error(
    `${caller}: ${where} holds ${describe(clip)}, which is no AnimationClip; use clips such as gltf.animations, or their names in options.clips.`,
  );
}

/** @param checked Arrays of times that have been found right; tracks often share them. */
function* checkClip(clip: AnimationClip, checked: Set<ArrayLike<number>>, caller: string): Steps<void> {
  if (!(clip.duration >= 0 && clip.duration < Infinity)) {
    throw new Error(
      `${caller}: clip "${clip.name}" has duration ${clip.duration}; call clip.resetDuration().`,
    );
  }
  let numbers = 0;
  for (const track of clip.tracks) {
    checkTrack(track, clip.name, checked, caller);
    numbers += track.values.length;
    if (numbers < NUMBERS) continue;
    numbers = 0;
    yield 0;
  }
  if (clip.duration === 0 && clip.tracks.some(({ times }) => times[times.length - 1] > 0)) {
    throw new Error(
      `${caller}: clip "${clip.name}" has keys but a duration of 0; call clip.resetDuration().`,
    );
  }
}

function checkTrack(
  track: KeyframeTrack,
  clip: string,
  checked: Set<ArrayLike<number>>,
  caller: string,
): void {
  if (!track?.times || !track.values) {
    throw new Error(
      `${caller}: clip "${clip}" holds ${describe(track)} among its tracks; remove it from clip.tracks.`,
    );
  }
  const { times, values } = track;
  if (times.length === 0 || values.length === 0) {
    throw new Error(`${caller}: ${nameOf(track, clip)} has no keys; remove it from clip.tracks.`);
  }

  // three.js's own interpolants run forever on quaternions that do not have four numbers.
  const size = values.length / times.length;
  if (!Number.isInteger(size) || (track.ValueTypeName === 'quaternion' && size % 4 !== 0)) {
    throw new Error(
      `${caller}: ${nameOf(track, clip)} has ${values.length} values for ${times.length} keys, which is ` +
        `${Number.isInteger(size) ? 'not four a key' : 'no whole number a key'}; mend or remove the track.`,
    );
  }

  let time = -1;
  if (!checked.has(times)) {
    time = indexOfBad(times);
    checked.add(times);
  }
  const value = indexOfBad(values);
  if (time !== -1 || value !== -1) {
    const key = time !== -1 ? time : Math.floor(value / size);
    const bad = time !== -1 ? times[time] : values[value];
    throw new Error(`${caller}: key ${key} of ${nameOf(track, clip)} is ${bad}; mend or remove the track.`);
  }

  // A smooth track's slopes are divided by the time between keys. For other tracks two keys at one time are a jump.
  if (track.getInterpolation() !== InterpolateSmooth) return;
  for (let key = 1; key < times.length; key++) {
    if (times[key] !== times[key - 1]) continue;
    throw new Error(
      `${caller}: keys ${key - 1} and ${key} of ${nameOf(track, clip)} are both at ${times[key]} s, which InterpolateSmooth cannot ` +
        'pass through; move one, or call track.setInterpolation(InterpolateLinear).',
    );
  }
}

/** A track in a message. */
export const nameOf = ({ name }: KeyframeTrack, clip: string): string => `track "${name}" of clip "${clip}"`;

/** Index of the first number that is not finite, or -1. Tracks of strings and booleans hold no numbers. */
function indexOfBad(values: ArrayLike<unknown>): number {
  if (!ArrayBuffer.isView(values)) {
    return Array.from(values).findIndex((value) => typeof value === 'number' && !Number.isFinite(value));
  }
  const numbers = values as unknown as Float32Array;
  for (let i = 0; i < numbers.length; i++) if (!(Math.abs(numbers[i]) < Infinity)) return i;
  return -1;
}
