import { checkIndex, forEachInstance, type Instances } from '../instances/instanceRange.js';
import { checkFade, checkWeight, type LayerReference } from '../playback/PlayOptions.js';
import type { ClipReference } from '../poses/ClipTable.js';
import { checkAreOptions } from '../utils/checkOptions.js';
import type { Crowd } from './Crowd.js';

/** How a weight of instances changes. */
export interface WeightOptions {
  /** Seconds that it takes. @default 0 */
  fade?: number;
  /** Name or number of the layer on which the clip plays. @default 'base' */
  layer?: LayerReference;
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
  options: WeightOptions,
  caller: string,
): void {
  checkAreOptions(options, caller);
  const { fade = 0, layer } = options;
  checkWeight(weight, caller);
  checkFade(fade, caller);
  const number = playback.layers.indexOf(layer, caller);
  const baked = boneTexture.clips[boneTexture.clipIndex(clip, caller)];
  forEachInstance(instances, visibility, caller, (index) => {
    playback.setWeight(index, baked, weight, fade, caller, number);
  });
}

/**
 * Weight at which an instance plays a clip.
 *
 * @throws If there is no such instance, clip or layer.
 */
export function weightOf(
  { playback, boneTexture, visibility }: Crowd,
  index: number,
  clip: ClipReference,
  layer: LayerReference | undefined,
  caller: string,
): number {
  checkIndex(index, visibility, caller);
  const number = playback.layers.indexOf(layer, caller);
  return playback.getWeight(index, boneTexture.clips[boneTexture.clipIndex(clip, caller)], number);
}

/**
 * Changes how much of a layer shows on instances.
 *
 * @throws If there is no such instance or layer, it is the base, or a number is out of range.
 */
export function setLayerWeights(
  { playback, visibility }: Crowd,
  instances: Instances,
  layer: LayerReference,
  weight: number,
  options: { fade?: number },
  caller: string,
): void {
  checkAreOptions(options, caller);
  const { fade = 0 } = options;
  checkWeight(weight, caller);
  checkFade(fade, caller);
  const number = playback.layers.indexOf(layer, caller);
  if (number === 0) {
    throw new Error(
      `${caller}: the base has no weight of its own, all else lies over it; call setWeightAt for its clips.`,
    );
  }
  forEachInstance(instances, visibility, caller, (index) => {
    playback.setLayerWeight(index, number, weight, fade);
  });
}

/**
 * How much of a layer shows on an instance.
 *
 * @throws If there is no such instance or layer.
 */
export function layerWeightOf(
  { playback, visibility }: Crowd,
  index: number,
  layer: LayerReference,
  caller: string,
): number {
  checkIndex(index, visibility, caller);
  return playback.getLayerWeight(index, playback.layers.indexOf(layer, caller));
}
