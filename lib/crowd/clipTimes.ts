import { checkIndex, forEachInstance, type Instances } from '../instances/instanceRange.js';
import { checkTime, checkTimeScale, type LayerReference } from '../playback/PlayOptions.js';
import { checkAreOptions } from '../utils/checkOptions.js';
import type { Crowd } from './Crowd.js';

/** On which layer something is changed. */
export interface LayerOption {
  /** Name or number of the layer. @default 'base' */
  layer?: LayerReference;
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
  options: LayerOption,
  caller: string,
): void {
  checkTimeScale(timeScale, caller);
  checkAreOptions(options, caller);
  const number = playback.layers.indexOf(options.layer, caller);
  forEachInstance(instances, visibility, caller, (index) => {
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
  options: LayerOption,
  caller: string,
): void {
  checkTime(time, caller);
  checkAreOptions(options, caller);
  const number = playback.layers.indexOf(options.layer, caller);
  forEachInstance(instances, visibility, caller, (index) => {
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
 * Number of a layer, of an instance that is there.
 *
 * @throws If there is no such instance or layer.
 */
export function layerAt(
  { playback, visibility }: Crowd,
  index: number,
  layer: LayerReference | undefined,
  caller: string,
): number {
  checkIndex(index, visibility, caller);
  return playback.layers.indexOf(layer, caller);
}

/**
 * Stops what instances play, on one layer or on all.
 *
 * @throws If there is no such instance or layer, or the fade is out of range.
 */
export function stopClips(
  { playback, visibility }: Crowd,
  instances: Instances,
  options: { fade?: number; layer?: LayerReference },
  caller: string,
): void {
  checkAreOptions(options, caller);
  const { fade, layer } = options;
  const number = playback.layers.indexOf(layer, caller);
  const end = layer === undefined ? playback.layers.count : number + 1;
  forEachInstance(instances, visibility, caller, (index) => {
    for (let i = number; i < end; i++) {
      if (i === 0 || playback.stack.layers[i].order.count(index) > 0) {
        playback.play(index, null, { fade, layer: i }, caller);
      }
    }
  });
}
