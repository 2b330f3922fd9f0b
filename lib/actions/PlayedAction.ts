import type {
  AnimationAction,
  AnimationActionLoopStyles,
  AnimationClip,
  AnimationMixer,
  LinearInterpolant,
  Object3D,
} from 'three';
import type { BakedClip } from '../animation/ClipTable.js';

/** three.js's action, whose methods return it itself, with what it keeps to itself. */
export interface ThreeAction<Mixer extends AnimationMixer = AnimationMixer, Root extends Object3D = Object3D>
  extends AnimationAction {
  play(): this;
  stop(): this;
  reset(): this;
  startAt(time: number): this;
  setLoop(mode: AnimationActionLoopStyles, repetitions?: number): this;
  setEffectiveWeight(weight: number): this;
  fadeIn(duration: number): this;
  fadeOut(duration: number): this;
  crossFadeFrom(fadeOutAction: AnimationAction, duration: number, warp?: boolean): this;
  stopFading(): this;
  setEffectiveTimeScale(timeScale: number): this;
  setDuration(duration: number): this;
  syncWith(action: AnimationAction): this;
  halt(duration: number): this;
  warp(startTimeScale: number, endTimeScale: number, duration: number): this;
  stopWarping(): this;
  getMixer(): Mixer;
  getRoot(): Root;
  // Declared here, so that accessors may take the place of fields.
  time: number;
  timeScale: number;
  weight: number;
  loop: AnimationActionLoopStyles;
  paused: boolean;
  enabled: boolean;
  /** @internal */
  _clip: AnimationClip;
  /** @internal */
  _cacheIndex: number | null;
  /** @internal */
  _loopCount: number;
  /** @internal */
  _startTime: number | null;
  /** @internal */
  _weightInterpolant: LinearInterpolant | null;
  /** @internal */
  _timeScaleInterpolant: LinearInterpolant | null;
  /** @internal */
  _effectiveTimeScale: number;
  /** @internal */
  _update(time: number, deltaTime: number, direction: number, accuIndex: number): void;
  /** @internal */
  _updateWeight(time: number): number;
  /** @internal */
  _updateTimeScale(time: number): number;
  /** @internal */
  _updateTime(deltaTime: number): number;
}

/** An action of an instance, as what is written for shaders needs it. */
export interface PlayedAction extends ThreeAction {
  readonly clip: BakedClip;
  /** Number of the layer. */
  readonly layer: number;
  /** Seconds since the crowd's beginning at which it was started, or its time was set. */
  readonly begun: number;
  /** Whether its mixer has just moved it in reverse. */
  readonly runsBack: boolean;
  /** The time of the mixer. */
  readonly at: number;
  weightAt(time: number): number;
}
