import {
  AdditiveAnimationBlendMode,
  type AnimationActionLoopStyles,
  type AnimationBlendMode,
  AnimationClip,
} from 'three';
import type { Crowd } from '../crowd/Crowd.js';
import { checkFade, checkTimeScale } from '../playback/PlayOptions.js';
import { checkFinite } from '../utils/messages.js';
import { ActionProperties } from './ActionProperties.js';
import type { PlayedAction } from './ActionState.js';
import type { ActionOwner, InstanceMixer } from './InstanceMixer.js';

/**
 * Brings the clip of an action up to what the crowd plays now: whoever holds an action that was forgotten may play it, and the crowd
 * may have another bone texture by then.
 *
 * @throws If that has no clip of the name, or none that the action's layer takes.
 */
export function findClip({ boneTexture, playback }: Crowd, played: PlayedAction): void {
  const clip = boneTexture.clips[boneTexture.clipIndex(played.clip.name)];
  if (clip === played.clip) return;
  playback.checkClip(played.layer, clip);
  played.setClip(clip);
}

/** @throws If a blend mode is not that of the clip as it was baked. */
export function checkBlendMode(clip: string, baked: AnimationBlendMode, mode: AnimationBlendMode): void {
  if (mode === baked) return;
  throw new Error(
    `Clip "${clip}" was ${baked === AdditiveAnimationBlendMode ? '' : 'not '}baked as an additive one; that is said before baking, by AnimationUtils.makeClipAdditive(clip).`,
  );
}

/**
 * A clip that an instance plays, or may play: three.js's `AnimationAction` for an instance of a crowd, with the same methods and
 * properties, which do the same. `instance.clipAction(clip)` makes it.
 *
 * Fades, warps and times are run by the GPU: between two calls nothing is done for it on the CPU, but for the moments at which
 * something begins or ends.
 *
 * What is other than in three.js:
 * - On each layer the four actions with the most weight show; a warning names what is left out. All others keep their times,
 *   weights and events, and show as soon as there is room.
 * - A warp's way through the clip is exact. three.js adds up the speed at the end of each frame, and so comes to a slightly
 *   different place at each frame rate.
 * - `zeroSlopeAtStart` and `zeroSlopeAtEnd` have no effect: they are about smooth tracks, which were baked.
 * - `blendMode` is that of the clip when it was baked; setting another is an error.
 * - For one frame, three.js shows the other end of a ping-pong that finishes, and what a listener has changed as it was before.
 *   In a listener, `stop` also keeps three.js from updating another action in that frame; here it does not.
 *
 * @typeParam T Whose action it is.
 *
 * @category Instances as objects
 */
export class InstanceAction<T extends ActionOwner = ActionOwner> extends ActionProperties<T> {
  /** For type testing. */
  readonly isInstanceAction = true;
  /** As `AnimationAction` has it; without effect, since clips are baked. @default true */
  zeroSlopeAtStart = true;
  /** As `AnimationAction` has it; without effect, since clips are baked. @default true */
  zeroSlopeAtEnd = true;

  /** @internal */
  constructor(
    played: PlayedAction,
    mixer: InstanceMixer<T>,
    private readonly mode: AnimationBlendMode,
  ) {
    super(played, mixer);
  }

  /** How the clip is mixed with others: additive ones add to them. As it was baked. */
  get blendMode(): AnimationBlendMode {
    return this.mode;
  }

  /** @throws If it is set to another than that. */
  set blendMode(value: AnimationBlendMode) {
    checkBlendMode(this.played.clip.name, this.mode, value);
  }

  /** Plays the action, from wherever it is: `reset().play()` plays it from its start. */
  play(): this {
    this.mixer.activate(this.played);
    return this;
  }

  /** Takes the action out of what the instance plays, at once, and resets it. */
  stop(): this {
    this.mixer.deactivate(this.played);
    return this.reset();
  }

  /** Puts the action back to its start: not paused, enabled, at time 0, without fades, warps and a scheduled start. */
  reset(): this {
    return this.write((played) => {
      played.reset();
      played.begun = this.mixer.elapsed;
    });
  }

  /** Whether the clip's time passes: it is played, enabled, not paused, has a time scale, and does not wait for its start. */
  isRunning(): boolean {
    const { enabled, paused, timeScale, startTime } = this.read();
    return enabled && !paused && timeScale !== 0 && startTime === null && this.isScheduled();
  }

  /** Whether `play` was called, and `stop` was not since: also of an action that is disabled, paused or has finished. */
  isScheduled(): boolean {
    return this.mixer.isActive(this.played);
  }

  /** Lets the clip begin at a time of the instance, see `InstanceMixer.time`. Call `play` as well. */
  startAt(time: number): this {
    return this.set({ startTime: time });
  }

  /** Sets `loop` and `repetitions`. */
  setLoop(mode: AnimationActionLoopStyles, repetitions = Infinity): this {
    return this.set({ loop: mode, repetitions });
  }

  /** Sets the weight, and ends a fade. While the action is disabled, the effective weight stays 0. */
  setEffectiveWeight(weight: number): this {
    checkFinite(weight, 'weight');
    return this.write((played) => {
      played.weight = weight;
      played.effectiveWeight = played.enabled ? weight : 0;
      played.stopFading();
    });
  }

  /** The weight with fades, and 0 while disabled, as of the last update. */
  getEffectiveWeight(): number {
    return this.read().effectiveWeight;
  }

  /**
   * Fades from the weight that it has now, in the middle of another fade too, to a `weight`, which it keeps; with 0 the action is
   * disabled then.
   */
  fadeTo(weight: number, duration: number): this {
    checkFinite(weight, 'weight');
    checkFade(duration);
    const now = this.getEffectiveWeight();
    return this.write((played) => {
      if (weight !== 0) played.weight = weight;
      if (weight !== 0) played.enabled = true;
      const start = this.mixer.time;
      const from = played.weight === 0 ? 0 : now / played.weight;
      played.fade = { start, end: start + duration, from, to: weight === 0 ? 0 : 1 };
    });
  }

  /** Fades from 0 to the weight within so many seconds. */
  fadeIn(duration: number): this {
    return this.fade(duration, 0, 1);
  }

  /** Fades from the weight to 0 within so many seconds; then the action is disabled. */
  fadeOut(duration: number): this {
    return this.fade(duration, 1, 0);
  }

  /**
   * Fades this action in while another one fades out.
   *
   * @param duration Seconds.
   * @param warp Whether both change speed meanwhile, the first towards the length of the second.
   */
  crossFadeFrom(fadeOutAction: InstanceAction, duration: number, warp = false): this {
    fadeOutAction.fadeOut(duration);
    this.fadeIn(duration);
    if (!warp) return this;
    const ratio = fadeOutAction.played.duration / this.played.duration;
    for (const action of [fadeOutAction, this]) {
      action.write((played) => {
        played.restoreTimeScale = played.timeScale;
      });
    }
    fadeOutAction.warp(1, ratio, duration);
    return this.warp(1 / ratio, 1, duration);
  }

  /**
   * Fades this action out while another one fades in, see `crossFadeFrom`.
   *
   * @returns The other one, as in three.js.
   */
  crossFadeTo<A extends InstanceAction>(fadeInAction: A, duration: number, warp = false): A {
    return fadeInAction.crossFadeFrom(this, duration, warp);
  }

  /** Ends a fade: the weight is what `weight` says. */
  stopFading(): this {
    return this.write((played) => played.stopFading());
  }

  /** Sets the time scale, and ends a warp. While the action is paused, the effective one stays 0. */
  setEffectiveTimeScale(timeScale: number): this {
    checkTimeScale(timeScale);
    return this.write((played) => {
      played.timeScale = timeScale;
      played.effectiveTimeScale = played.paused ? 0 : timeScale;
      played.stopWarping();
    });
  }

  /** The time scale with warps, and 0 while paused, as of the last update. */
  getEffectiveTimeScale(): number {
    return this.read().effectiveTimeScale;
  }

  /** Sets the time scale so that the clip takes so many seconds. */
  setDuration(duration: number): this {
    const timeScale = this.played.duration / duration;
    checkTimeScale(timeScale);
    return this.write((played) => {
      played.timeScale = timeScale;
      played.stopWarping();
    });
  }

  /** Takes over time and time scale of another action. */
  syncWith(action: InstanceAction): this {
    const { time, timeScale } = action;
    return this.write((played) => {
      played.beginAt(time, this.mixer.elapsed);
      played.timeScale = timeScale;
      played.stopWarping();
    });
  }

  /** Slows the clip down to a stop within so many seconds; then the action is paused. */
  halt(duration: number): this {
    return this.warp(this.read().effectiveTimeScale, 0, duration);
  }

  /** Changes the speed evenly from one to another within so many seconds, which is the time scale then. */
  warp(startTimeScale: number, endTimeScale: number, duration: number): this {
    checkTimeScale(startTimeScale);
    checkTimeScale(endTimeScale);
    checkFade(duration);
    return this.write((played) => {
      // A warp is a factor, and no factor of 0 leads to another speed.
      if (played.timeScale === 0) played.timeScale = 1;
      const { timeScale } = played;
      const start = this.mixer.time;
      const [from, to] = [startTimeScale / timeScale, endTimeScale / timeScale];
      played.warp = { start, end: start + duration, from, to };
    });
  }

  /** Ends a warp: the speed is what `timeScale` says. */
  stopWarping(): this {
    return this.write((played) => played.stopWarping());
  }

  /** The `mixer` of the instance. */
  getMixer(): InstanceMixer<T> {
    return this.mixer;
  }

  /** The clip: what was passed to `clipAction`, else one with the name and duration of the baked one, and no tracks. */
  getClip(): AnimationClip {
    const { clip } = this.played;
    this.played.source ??= new AnimationClip(clip.name, clip.duration, [], this.mode);
    return this.played.source;
  }

  /** The instance. */
  getRoot(): T {
    return this.mixer.owner;
  }

  private fade(duration: number, from: number, to: number): this {
    checkFade(duration);
    return this.write((played) => {
      const start = this.mixer.time;
      played.fade = { start, end: start + duration, from, to };
    });
  }
}
