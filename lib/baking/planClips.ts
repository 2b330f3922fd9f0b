import { type AnimationClip, type Box3, InterpolateSmooth, type KeyframeTrack } from 'three';
import type { BakedClip } from '../animation/ClipTable.js';
import { boxToArray } from '../animation/jointBoxes.js';
import { REST_FRAME } from '../constants.js';
import { describe, listNames } from '../utils/messages.js';
import type { Steps } from '../utils/slices.js';

/** One clip to bake, and how it differs from the others. */
export interface ClipChoice {
  /** The clip, or its name. */
  clip: AnimationClip | string;
  /** Name in the bone texture; by default the clip's own. */
  name?: string;
  /** Frames per second for this clip. */
  fps?: number;
}

/** Seconds by which a key may be off its frame: what float32 rounds times of a minute to. */
export const KEY_TOLERANCE = 4e-6;

/** A clip to bake, with its place among the frames of the bone texture. */
export interface PlannedClip {
  clip: AnimationClip;
  name: string;
  /** First frame. */
  start: number;
  count: number;
}

/**
 * Chooses the clips to bake and gives each its frames. Without clips there is the rest pose alone.
 *
 * @throws If a clip is not there, or cannot be baked; the message names the clip and track.
 */
export function* planClips(
  clips: readonly AnimationClip[],
  choices: readonly (string | AnimationClip | ClipChoice)[] | undefined,
  fps = 30,
): Steps<PlannedClip[]> {
  if (!Array.isArray(clips))
    throw new Error(
      `clips is ${describe(clips)}; pass gltf.animations of a file whose loading was awaited, or [] for the rest pose alone.`,
    );
  if (choices?.length === 0) throw new Error('options.clips is empty; leave it out to bake all clips.');
  const checked = new Set<ArrayLike<number>>();
  const planned: PlannedClip[] = [];
  let start = REST_FRAME + 1;
  for (const choice of choices ?? clips) {
    const chosen = typeof choice === 'object' && 'clip' in choice ? choice : { clip: choice };
    const clip =
      typeof chosen.clip === 'string' ? clips.find(({ name }) => name === chosen.clip) : chosen.clip;
    if (clip === undefined)
      throw new Error(
        `No clip named "${chosen.clip}" in options.clips; there are ${listNames(
          clips.map(({ name }) => name),
          chosen.clip,
        )}.`,
      );
    const { fps: rate = fps, name = clip.name } = chosen;
    if (!(rate > 0 && rate < Infinity))
      throw new Error(`fps is ${rate}, of clip "${clip.name}"; use a positive number.`);
    yield* checkClip(clip, checked);
    const { duration } = clip;
    const count = duration > 0 ? Math.max(1, Math.round(duration * rate)) + 1 : 1;
    planned.push({ clip, name, start, count });
    start += count;
  }
  warnOfNames(planned, 'clip');
  return planned;
}

/** Warns where two have one name. */
export function warnOfNames(named: readonly { name: string }[], kind: string): void {
  const names = named.map(({ name }) => name);
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice === undefined) return;
  console.warn(`More than one ${kind} is named "${twice}"; the first is found by name, the others by index.`);
}

/** A clip as a bone texture has it. @param bounds Around it. */
export const bakedClip = (
  { name, start, count, duration }: Pick<BakedClip, 'name' | 'start' | 'count' | 'duration'>,
  bounds: Box3,
  rootMotion: Float32Array | null = null,
): BakedClip => {
  const fps = (count - 1) / (duration || 1);
  return { name, start, count, duration, fps, bounds: boxToArray(bounds), rootMotion, markers: [] };
};

/** Seconds into a clip at which one of its frames is, from its beginning to its end. */
export const frameTime = (frame: number, count: number, duration: number): number =>
  count === 1 ? 0 : (frame / (count - 1)) * duration;

/** @param checked Arrays of times that have been found right; tracks often share them. */
function* checkClip({ name, duration, tracks }: AnimationClip, checked: Set<ArrayLike<number>>): Steps<void> {
  for (const track of tracks) {
    checkTrack(track, name, checked);
    yield 0;
  }
  const isShort = duration === 0 && tracks.some(({ times }) => times[times.length - 1] > 0);
  if (!isShort && duration >= 0 && duration < Infinity) return;
  throw new Error(`Clip "${name}" has duration ${duration}; call clip.resetDuration().`);
}

/** @throws If a track cannot be played. */
function checkTrack(track: KeyframeTrack, clip: string, checked: Set<ArrayLike<number>>): void {
  const trackError = (problem: string) =>
    new Error(`Track "${track?.name}" of clip "${clip}" ${problem}; mend or remove it.`);
  if (!track?.times?.length || !track.values?.length) throw trackError('has no keys');
  const { times, values } = track;
  const size = values.length / times.length;
  // three.js's own interpolants run forever on quaternions that do not have four numbers.
  if (!Number.isInteger(track.ValueTypeName === 'quaternion' ? size / 4 : size))
    throw trackError(`has ${values.length} values for ${times.length} keys`);
  const bad = indexOfBad(values);
  if (bad >= 0) throw trackError(`has ${values[bad]} in key ${Math.floor(bad / size)}`);
  const isSmooth = track.getInterpolation() === InterpolateSmooth;
  if (checked.has(times) && !isSmooth) return;
  checked.add(times);
  const key = indexOfBad(times);
  if (key >= 0) throw trackError(`has key ${key} at ${times[key]} s`);
  // A smooth track's slopes are divided by the time between keys. For other tracks two keys at one time are a jump.
  const same = isSmooth ? times.findIndex((time, i) => time === times[i - 1]) : -1;
  if (same >= 0)
    throw trackError(
      `has keys ${same - 1} and ${same} both at ${times[same]} s, which InterpolateSmooth cannot pass through`,
    );
}

/** Index of the first number that is not finite, or -1. Tracks of strings and booleans hold no numbers. */
const indexOfBad = (values: Float32Array): number =>
  values.findIndex((value) => typeof value === 'number' && !(Math.abs(value) < Infinity));
