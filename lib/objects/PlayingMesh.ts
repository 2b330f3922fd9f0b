import { PARAM_CLOCK } from '../constants.js';
import {
  type LayerOption,
  layerAt,
  setTimeScales,
  setTimes,
  stopClips,
  timeOf,
  timeScaleOf,
} from '../crowd/clipTimes.js';
import {
  layerWeightOf,
  setLayerWeights,
  setWeights,
  type WeightOptions,
  weightOf,
} from '../crowd/clipWeights.js';
import { type ClipOfInstance, type PlayOptionsOfInstance, playClips } from '../crowd/playClips.js';
import { restoreIds, saveIds } from '../crowd/savedIds.js';
import { checkIndex, forEachInstance, type Instances } from '../instances/instanceRange.js';
import { applyRootMotion } from '../playback/applyRootMotion.js';
import { checkPoseRate, type LayerReference, type PlayOptions } from '../playback/PlayOptions.js';
import { type PlaybackJSON, readPlayback, savePlayback } from '../playback/playbackJSON.js';
import type { ClipReference } from '../poses/ClipTable.js';
import { checkFinite } from '../utils/checkFinite.js';
import { OrderedMesh } from './OrderedMesh.js';

const NAME = 'SkinnedInstancedMesh';
const PLAY = `${NAME}.play`;

/** Seconds that `update` takes at once, some thirty years; beyond it, it was passed a date. */
const MAX_DELTA = 1e9;

/** A crowd's own mesh, by which its instances are told what to play. */
export abstract class PlayingMesh extends OrderedMesh {
  /**
   * Starts a clip, as `mixer.clipAction(clip).reset().play()` does with the same options. It takes the place of what the
   * instance plays on that layer, which with `fade` fades out together, also in the middle of another fade: of more than two
   * clips that fade out, or three in encoding `'tracks'`, the one that shows least is dropped.
   *
   * With `weight`, in encoding `'tracks'`, it plays beside what the instance plays on that layer: up to four clips, mixed as
   * by an `AnimationMixer`. A clip that plays already is started anew.
   *
   * @param index From 0 to `capacity - 1`.
   * @param clip Name or index of a clip of the bone texture, or the `AnimationClip` it was baked from, which is found by
   * its name.
   * @throws If there is no such instance, clip or layer, an option is out of range, or the layer takes additive clips and this
   * is none.
   */
  play(index: number, clip: ClipReference, options?: PlayOptions): this;
  /** The same for one instance or a range; clip and options may be functions of the index. */
  play(instances: Instances, clip: ClipOfInstance, options?: PlayOptionsOfInstance): this;
  play(instances: Instances, clip: ClipOfInstance, options: PlayOptionsOfInstance = {}): this {
    playClips(this.crowd, instances, clip, options, PLAY);
    return this;
  }

  /** {@link PlayingMesh.play} for every instance, e.g. with `time: (i) => i * 0.1`. */
  playAll(clip: ClipOfInstance, options?: PlayOptionsOfInstance): this {
    return this.play(this.all, clip, options);
  }

  /**
   * Fades from what an instance plays to another clip, as `AnimationAction.crossFadeTo` does.
   *
   * @param duration Seconds.
   * @param warp Whether the clips change speed meanwhile, see {@link PlayOptions.warp}.
   */
  crossFadeTo(
    instances: Instances,
    clip: ClipOfInstance,
    duration: number,
    warp = false,
    options: PlayOptionsOfInstance = {},
  ): this {
    return this.play(instances, clip, { ...options, fade: duration, warp });
  }

  /**
   * Changes the weight of a clip that instances play, beside which others may play: see {@link PlayOptions.weight}. A clip
   * at weight 0 plays on unseen. One that was warped goes on at its own speed.
   *
   * @param weight 0 to 1.
   * @throws If an instance does not play the clip on that layer, or the bone texture's encoding is not `'tracks'`.
   */
  setWeightAt(instances: Instances, clip: ClipReference, weight: number, options: WeightOptions = {}): this {
    setWeights(this.crowd, instances, clip, weight, options, `${NAME}.setWeightAt`);
    return this;
  }

  /** Weight at which an instance plays a clip, as `AnimationAction.getEffectiveWeight()`; 0 if it does not play it. */
  getWeightAt(index: number, clip: ClipReference, layer?: LayerReference): number {
    return weightOf(this.crowd, index, clip, layer, `${NAME}.getWeightAt`);
  }

  /**
   * Changes how much of a layer instances show: what it leaves is what lies below it. It holds for whatever is played there.
   *
   * @param layer Name or number of one of the option `layers`.
   * @param weight 0 to 1.
   * @param options In `fade` seconds, 0 by default.
   * @throws If there is no such instance or layer, or a number is out of range.
   */
  setLayerWeightAt(
    instances: Instances,
    layer: LayerReference,
    weight: number,
    options: { fade?: number } = {},
  ): this {
    setLayerWeights(this.crowd, instances, layer, weight, options, `${NAME}.setLayerWeightAt`);
    return this;
  }

  /** How much of a layer an instance shows, 0 to 1; in the middle of a fade what it has come to. */
  getLayerWeightAt(index: number, layer: LayerReference): number {
    return layerWeightOf(this.crowd, index, layer, `${NAME}.getLayerWeightAt`);
  }

  /**
   * Stops what instances play, on one layer or on all; what lies below returns, under the base the rest pose, within `fade`
   * seconds.
   */
  stop(instances: Instances, options: WeightOptions = {}): this {
    stopClips(this.crowd, instances, options, `${NAME}.stop`);
    return this;
  }

  /** Holds instances in the pose they show, in the middle of a fade too. */
  pause(instances: Instances): this {
    return this.each(instances, 'pause', (index) => this.playback.pause(index));
  }

  /** Lets paused instances go on from where they were. */
  resume(instances: Instances): this {
    return this.each(instances, 'resume', (index) => this.playback.resume(index));
  }

  /**
   * Changes the speed of what instances play, from where they are; 1 is the clip's own, negative runs in reverse. A warp
   * under way goes on in proportion, and comes to this speed.
   */
  setTimeScaleAt(instances: Instances, timeScale: number, options: LayerOption = {}): this {
    setTimeScales(this.crowd, instances, timeScale, options, `${NAME}.setTimeScaleAt`);
    return this;
  }

  /** Speed at which an instance plays, in the middle of a warp the one it comes to; 0 if it plays nothing. */
  getTimeScaleAt(index: number, layer?: LayerReference): number {
    return timeScaleOf(this.crowd, index, layerAt(this.crowd, index, layer, `${NAME}.getTimeScaleAt`));
  }

  /**
   * Sets how many seconds into their clips instances are, as assigning `AnimationAction.time` does: repetitions so far
   * stay counted. One that has finished runs its last repetition again.
   */
  setTimeAt(instances: Instances, time: number, options: LayerOption = {}): this {
    setTimes(this.crowd, instances, time, options, `${NAME}.setTimeAt`);
    return this;
  }

  /** Seconds that an instance is into its clip, from 0 to its duration; counted from the start on the way back too. */
  getTimeAt(index: number, layer?: LayerReference): number {
    return timeOf(this.crowd, index, layerAt(this.crowd, index, layer, `${NAME}.getTimeAt`));
  }

  /** Name of the clip that was last started on a layer of an instance; null if none was, or it was stopped. */
  getClipAt(index: number, layer?: LayerReference): string | null {
    const number = layerAt(this.crowd, index, layer, `${NAME}.getClipAt`);
    return this.playback.clipOf(index, number)?.name ?? null;
  }

  /** Whether an instance's clip moves on: it is not paused, has not finished, and its time scale is not 0. */
  isPlayingAt(index: number, layer?: LayerReference): boolean {
    const number = layerAt(this.crowd, index, layer, `${NAME}.isPlayingAt`);
    return this.playback.isPlaying(index, number);
  }

  /**
   * Lets instances be posed anew so many times a second, and in between stay as they are: far ones need no more than 15. Poses
   * of one rate are spread evenly over frames. When an instance starts to play something else, or is changed otherwise, it is
   * posed in the next frame. Rays, sockets and all else that asks for a pose get the one of that very moment.
   *
   * Levels of detail may have rates too, see `addLevel`; the lower one holds.
   *
   * Makes a difference where a pass poses instances, in encoding `'tracks'`; the WebGL 2 backend of WebGPURenderer poses all.
   *
   * @param rate Poses a second; 0 or Infinity for one in every frame.
   * @throws If there is no such instance, or that is no rate.
   */
  setPoseRateAt(instances: Instances, rate: number): this {
    checkPoseRate(rate, `${NAME}.setPoseRateAt`);
    return this.each(instances, 'setPoseRateAt', (index) => {
      // Shaders read it as a float32, in which very large numbers are infinite too.
      this.playback.setPoseRate(index, Math.fround(rate) === Infinity ? 0 : rate);
    });
  }

  /** Poses a second that an instance is to have; 0 for one in every frame. */
  getPoseRateAt(index: number): number {
    checkIndex(index, this.visibility, `${NAME}.getPoseRateAt`);
    return this.playback.getPoseRate(index);
  }

  /** Whether an instance is paused. */
  isPausedAt(index: number): boolean {
    checkIndex(index, this.visibility, `${NAME}.isPausedAt`);
    return this.playback.isPaused(index);
  }

  /**
   * Advances the clock of all instances, and dispatches the events that are due, in the order they happened.
   *
   * @param delta Seconds since the last call. Events do not fire again when a negative one turns the clock back, but
   * for those of actions of objects, which run back as those of a mixer do.
   * @throws If it is no number, or more than thirty years.
   */
  update(delta: number): this {
    if (typeof delta !== 'number' || !(Math.abs(delta) <= MAX_DELTA)) {
      throw new Error(`${NAME}.update: delta is ${delta}; pass the seconds since the last frame.`);
    }
    this.crowd.update(delta);
    this.bindMatrix.elements[PARAM_CLOCK] = this.clock;
    return this;
  }

  /**
   * Moves the instances that play with `rootMotion: true` by what their clips did in the last `delta` seconds, across
   * loops and, by weight, across fades. Call it after `update`; it writes into `instanceMatrix`.
   *
   * @param delta Seconds, the same as for `update`.
   */
  applyRootMotion(delta: number): this {
    checkFinite(delta, 'delta', `${NAME}.applyRootMotion`);
    const { instanceMatrix, playback, count, boneTexture, crowd } = this;
    const matrices = instanceMatrix.array as Float32Array;
    crowd.objects?.beforeMove();
    if (applyRootMotion(playback, boneTexture.clipTable, delta, count, matrices)) {
      crowd.places.moved();
      crowd.objects?.afterMove();
    }
    return this;
  }

  /**
   * What the instances play, and which are hidden or deleted, as plain data that JSON can hold; {@link playbackFromJSON} takes
   * it.
   */
  playbackToJSON(): PlaybackJSON {
    const { playback, count, boneTexture, visibility } = this;
    return { ...savePlayback(playback, count, boneTexture.clipTable), ...saveIds(visibility, count) };
  }

  /**
   * Lets instances go on from where {@link playbackToJSON} left them, in this crowd or in another one whose bone texture
   * has clips of the same names. Of the instances that there are now, those that were deleted or hidden then are so now, and
   * all others that the data is of exist and are visible.
   *
   * @throws If the data is not what `playbackToJSON` returned, is for more instances than there is room for, or names a
   * clip that is not there. Then nothing was changed.
   */
  playbackFromJSON(json: PlaybackJSON): this {
    const caller = `${NAME}.playbackFromJSON`;
    const { playback, crowd, boneTexture, visibility } = this;
    const goOn = readPlayback(playback, visibility, json, boneTexture.clipTable, caller);
    restoreIds(crowd, json, caller);
    goOn();
    return this;
  }

  /** Calls back for an instance, or each of a range. */
  private each(instances: Instances, method: string, callback: (index: number) => void): this {
    forEachInstance(instances, this.visibility, `${NAME}.${method}`, callback);
    return this;
  }
}
