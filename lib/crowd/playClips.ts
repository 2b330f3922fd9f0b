import { checkIndex, forEachInstance, type Instances } from '../instances/instanceRange.js';
import {
  checkFade,
  checkTime,
  checkTimeScale,
  checkWeight,
  type LayerReference,
  type PlayOptions,
} from '../playback/PlayOptions.js';
import type { ClipReference } from '../poses/ClipTable.js';
import type { Crowd } from './Crowd.js';

/** Name or index of a clip or an `AnimationClip`, or what gives one for each instance. */
export type ClipOfInstance = ClipReference | ((index: number) => ClipReference);

/** {@link PlayOptions} of which any may be a function of the instance's index. */
export type PlayOptionsOfInstance = {
  [K in keyof PlayOptions]: PlayOptions[K] | ((index: number) => PlayOptions[K]);
};

/** On which layer something is changed. */
export interface LayerOption {
  /** Name or number of the layer. @default 'base' */
  layer?: LayerReference;
}

/** How a weight of instances changes. */
export interface WeightOptions {
  /** Seconds that it takes. @default 0 */
  fade?: number;
  /** Name or number of the layer on which the clip plays. @default 'base' */
  layer?: LayerReference;
}

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
): void {
  const same = areSame(options);
  if (typeof instances === 'number') {
    // What programs call thousands of times in a frame makes no closure.
    checkIndex(instances, crowd.visibility);
    playClip(crowd, instances, clip, options, same);
    return;
  }
  forEachInstance(instances, crowd.visibility, (index) => {
    playClip(crowd, index, clip, options, same);
  });
}

function playClip(
  { playback, boneTexture: { clipTable } }: Crowd,
  index: number,
  clip: ClipOfInstance,
  options: PlayOptionsOfInstance,
  same: boolean,
): void {
  const baked = clipTable.clips[clipTable.indexOf(typeof clip === 'function' ? clip(index) : clip)];
  playback.play(index, baked, same ? (options as PlayOptions) : optionsOf(options, index));
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

/**
 * Stops what instances play, on one layer or on all.
 *
 * @throws If there is no such instance or layer, or the fade is out of range.
 */
export function stopClips(
  { playback, visibility }: Crowd,
  instances: Instances,
  { fade, layer }: WeightOptions,
): void {
  const number = playback.layerIndex(layer);
  const end = layer === undefined ? playback.layers.length : number + 1;
  forEachInstance(instances, visibility, (index) => {
    for (let i = number; i < end; i++) {
      if (i === 0 || playback.layers[i].count(index) > 0) playback.play(index, null, { fade, layer: i });
    }
  });
}

/**
 * Changes the speed of what instances play on a layer.
 *
 * @throws If there is no such instance or layer, or the speed is out of range.
 */
export function setTimeScales(
  { playback, visibility }: Crowd,
  instances: Instances,
  timeScale: number,
  { layer }: LayerOption,
): void {
  checkTimeScale(timeScale);
  const number = playback.layerIndex(layer);
  forEachInstance(instances, visibility, (index) => {
    const clip = playback.clipOf(index, number);
    if (clip !== null) playback.setRate(index, timeScale * clip.fps, number);
  });
}

/**
 * Sets how many seconds into what they play on a layer instances are.
 *
 * @throws If there is no such instance or layer, or the time is out of range.
 */
export function setTimes(
  { playback, visibility }: Crowd,
  instances: Instances,
  time: number,
  { layer }: LayerOption,
): void {
  checkTime(time);
  const number = playback.layerIndex(layer);
  forEachInstance(instances, visibility, (index) => {
    const clip = playback.clipOf(index, number);
    if (clip !== null) playback.setWithin(index, time * clip.fps, number);
  });
}

/** Seconds that an instance is into what it plays on a layer; 0 if it plays nothing there. */
export function timeOf({ playback }: Crowd, index: number, layer: number): number {
  const fps = playback.clipOf(index, layer)?.fps ?? 0;
  return fps === 0 ? 0 : playback.within(index, layer) / fps;
}

/** Speed at which an instance plays on a layer; 0 if it plays nothing there. */
export function timeScaleOf({ playback }: Crowd, index: number, layer: number): number {
  const fps = playback.clipOf(index, layer)?.fps ?? 0;
  return fps === 0 ? 0 : playback.getRate(index, layer) / fps;
}

/**
 * Changes the weight of a clip that instances play.
 *
 * @throws If there is no such instance, clip or layer, it does not play there, or a number is out of range.
 */
export function setWeights(
  { playback, boneTexture, visibility }: Crowd,
  instances: Instances,
  clip: ClipReference,
  weight: number,
  { fade = 0, layer }: WeightOptions,
): void {
  checkWeight(weight);
  checkFade(fade);
  const number = playback.layerIndex(layer);
  const baked = boneTexture.clips[boneTexture.clipIndex(clip)];
  forEachInstance(instances, visibility, (index) => {
    playback.setWeight(index, baked, weight, fade, number);
  });
}

/**
 * Weight at which an instance plays a clip.
 *
 * @throws If there is no such instance, clip or layer.
 */
export function weightOf(
  crowd: Crowd,
  index: number,
  clip: ClipReference,
  layer: LayerReference | undefined,
): number {
  const { playback, boneTexture } = crowd;
  const number = layerAt(crowd, index, layer);
  return playback.getWeight(index, boneTexture.clips[boneTexture.clipIndex(clip)], number);
}

/**
 * Number of a layer, of an instance that is there.
 *
 * @throws If there is no such instance or layer.
 */
export function layerAt(
  { playback, visibility }: Crowd,
  index: number,
  layer: LayerReference | undefined,
): number {
  checkIndex(index, visibility);
  return playback.layerIndex(layer);
}
