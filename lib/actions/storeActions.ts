import {
  type AnimationAction,
  type AnimationActionLoopStyles,
  type AnimationClip,
  type AnimationMixer,
  type LinearInterpolant,
  LoopOnce,
  LoopPingPong,
  type Object3D,
} from 'three';
import type { BakedClip } from '../animation/ClipTable.js';
import { LOOP_CLAMP, LOOP_PING_PONG, REPEAT_FOREVER } from '../constants.js';
import {
  ACTION_COUNT,
  ACTION_LOOP,
  ACTION_PASS,
  ACTION_RATE,
  ACTION_REPETITIONS,
  ACTION_SIZE,
  ACTION_START,
  ACTION_STARTED,
  ACTION_STARTED_IN,
  ACTION_WARP,
  ACTION_WEIGHT,
  type Actions,
  basePass,
  clearAction,
  FIRST,
  ONCE,
  RAMP_FROM,
  RAMP_RATE,
  RAMP_START,
  RAMP_TO,
  REVERSED,
  rampAt,
  rateOf,
  setPlace,
  setRamp,
} from '../playback/actionNumbers.js';
import type { InstancePlayback } from '../playback/InstancePlayback.js';
import { MAX_ACTIONS } from '../playback/instanceLayout.js';
import { warnOnce } from '../utils/messages.js';

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
}

const _action: Actions = /*@__PURE__*/ new Float64Array(ACTION_SIZE);

/**
 * Stores the actions of an instance as what it plays.
 *
 * @param active In the order in which they are mixed.
 * @param rate Seconds of the mixer's time for each of the crowd's.
 * @param stored Layers that were stored before, as bits.
 * @returns Those that have actions now.
 */
export function storeActions(
  playback: InstancePlayback,
  index: number,
  active: readonly PlayedAction[],
  rate: number,
  stored: number,
): number {
  const clock = playback.time.timeOf(index);
  let layers = 0;
  for (const { layer } of active) layers |= 1 << layer;
  if ((layers | stored) === 0) return 0;
  for (let layer = 0; layer < playback.layers.length; layer++) {
    if (((layers | stored) & (1 << layer)) === 0) continue;
    const shown = shownOf(active, layer, rate);
    const played = playback.layers[layer];
    played.clear(index);
    for (const action of shown) {
      storeAction(action, rate, clock, _action);
      played.actions(played.add(index)).set(_action, played.at(index));
    }
  }
  playback.restored(index);
  return layers;
}

/** The actions of a layer that show, or will: those with the most weight, if there are too many. */
function shownOf(active: readonly PlayedAction[], layer: number, scale: number): readonly PlayedAction[] {
  const shown = active.filter((action) => action.layer === layer && mostWeight(action, scale) > 0);
  if (shown.length <= MAX_ACTIONS) return shown;
  const byWeight = [...shown].sort((a, b) => mostWeight(b, scale) - mostWeight(a, scale));
  const left = byWeight.splice(MAX_ACTIONS).map(({ clip }) => `"${clip.name}"`);
  warnOnce(
    `SkinnedInstance: an instance shows ${MAX_ACTIONS} actions at most on a layer; ${left.join(', ')}, which weighs least, is left out. Others can play on a layer of their own: clipAction(clip, { layer }).`,
  );
  return shown.filter((action) => byWeight.includes(action));
}

/** The most that an action weighs until something about it changes. */
function mostWeight(action: PlayedAction, scale: number): number {
  const { enabled, weight, _weightInterpolant: fade } = action;
  if (!enabled) return 0;
  if (fade === null) return weight;
  const [now] = fade.evaluate(action.getMixer().time);
  return weight * (scale === 0 ? now : Math.max(now, fade.sampleValues[scale > 0 ? 1 : 0]));
}

/**
 * Stores an action: what it does from now on, until something about it changes, see `nextChange`.
 *
 * @param rate Seconds of the mixer's time for each of the crowd's.
 * @param clock Seconds since the crowd's beginning, of the instance.
 * @param out `ACTION_SIZE` numbers.
 */
function storeAction(action: PlayedAction, rate: number, clock: number, out: Actions): void {
  const { clip, paused, enabled, weight, _startTime: startTime } = action;
  const at = action.getMixer().time;
  clearAction(out, 0);
  out[ACTION_START] = clip.start;
  out[ACTION_COUNT] = clip.count;
  out[ACTION_STARTED] = action.begun;
  out[ACTION_RATE] = clip.fps * rate * action.timeScale;
  storeRamp(action._weightInterpolant, enabled ? weight : 0, at, rate, clock, out, ACTION_WEIGHT);
  if (!paused && startTime === null) {
    storeRamp(action._timeScaleInterpolant, 1, at, rate, clock, out, ACTION_WARP);
    // It may lie ahead, or behind, where the mixer's time ran backwards, or change nothing: then its speed is that for good.
    const done = (clock - out[ACTION_WARP + RAMP_START]) * out[ACTION_WARP + RAMP_RATE];
    if (done < 0 || done >= 1 || out[ACTION_WARP + RAMP_FROM] === out[ACTION_WARP + RAMP_TO])
      setRamp(out, ACTION_WARP, rampAt(out, ACTION_WARP, clock));
  } else {
    setRamp(out, ACTION_WARP, 0);
    out[ACTION_WARP + RAMP_START] = clock + ((startTime ?? at) - at) / (rate || 1);
  }
  out[ACTION_LOOP] =
    FIRST +
    (action.loop === LoopPingPong ? LOOP_PING_PONG : 0) +
    (action.loop === LoopOnce ? ONCE : 0) +
    (action.clampWhenFinished ? LOOP_CLAMP : 0) +
    ((rateOf(out, 0) === 0 ? action.runsBack : runsBack(out, clock)) ? REVERSED : 0);
  out[ACTION_REPETITIONS] = Math.min(action.repetitions ?? Infinity, REPEAT_FOREVER);
  out[ACTION_PASS] = action._loopCount;
  out[ACTION_STARTED_IN] = basePass(out, 0);
  setPlace(out, 0, clock, action.time * clip.fps, false);
}

/** Stores a fade or a warp as it passes on the crowd's clock: its first end comes first there, also if the mixer's time runs backwards. */
function storeRamp(
  ramp: LinearInterpolant | null,
  factor: number,
  at: number,
  rate: number,
  clock: number,
  out: Actions,
  to: number,
): void {
  setRamp(out, to, factor);
  if (ramp === null) return;
  const [first, last] = rate < 0 ? [1, 0] : [0, 1];
  const { parameterPositions: times, sampleValues: values } = ramp;
  const length = times[1] - times[0];
  if (rate === 0 || length <= 0) {
    // Time that runs backwards leads to before a ramp that takes no time.
    setRamp(out, to, factor * (rate < 0 ? values[0] : ramp.evaluate(at)[0]));
    return;
  }
  out[to + RAMP_FROM] = factor * values[first];
  out[to + RAMP_TO] = factor * values[last];
  out[to + RAMP_START] = clock + (times[first] - at) / rate;
  out[to + RAMP_RATE] = Math.abs(rate) / length;
}

/** Whether an action moves in reverse, or will where it is about to turn. */
function runsBack(out: Actions, clock: number): boolean {
  const factor =
    rampAt(out, ACTION_WARP, clock) || out[ACTION_WARP + RAMP_TO] || out[ACTION_WARP + RAMP_FROM];
  return out[ACTION_RATE] * factor < 0;
}

/**
 * After how many seconds of the mixer's time something about an action may change by itself, other than evenly: a fade or a warp is
 * done, it begins, it turns around, it finishes. Until then, shaders know all of it.
 *
 * @param direction 1, or -1 if the mixer's time runs backwards.
 * @param loops Whether passes count too.
 * @returns 0 if it may with the very next update; infinite if nothing does.
 */
export function nextChange(action: PlayedAction, direction: number, loops: boolean): number {
  const { _weightInterpolant: fade, _timeScaleInterpolant: warp, _startTime: startTime } = action;
  const at = action.getMixer().time;
  if (!action.enabled) return Infinity;
  let next = fade === null ? Infinity : untilDone(fade, at, direction);
  if (startTime !== null) next = Math.min(next, (startTime - at) * direction);
  if (action.paused) {
    // One that has just come to its end stands from the next update on.
    if (action._effectiveTimeScale !== 0) return 0;
  } else {
    if (warp !== null) next = Math.min(next, untilOther(warp, at, direction));
    if (startTime === null) next = Math.min(next, untilEnd(action, direction, loops));
  }
  return Math.max(next, 0);
}

/** A fade or warp is done in the first update that is past its end; backwards only one that is so by now. */
function untilDone(
  { parameterPositions: [, end] }: LinearInterpolant,
  at: number,
  direction: number,
): number {
  return direction > 0 || at > end ? Math.max(end - at, 0) : Infinity;
}

/** Where a warp turns around, or time runs back through it, it is looked at in each update. */
function untilOther(warp: LinearInterpolant, at: number, direction: number): number {
  const [from, to] = warp.sampleValues;
  if (direction < 0 || at < warp.parameterPositions[0] || from * to < 0) return 0;
  return untilDone(warp, at, direction);
}

/** Seconds until a pass ends that counts, at the highest speed of a warp; 0 if the time is not within the clip. */
function untilEnd(action: PlayedAction, direction: number, loops: boolean): number {
  const { time, loop, repetitions = Infinity, timeScale, _timeScaleInterpolant: warp, clip } = action;
  const { duration } = clip;
  let speed = timeScale * direction;
  if (warp !== null) {
    const [from, to] = warp.sampleValues;
    speed *= Math.abs(from) > Math.abs(to) ? from : to;
  }
  if (speed === 0 || (duration <= 0 && loop !== LoopOnce)) return Infinity;
  if (time >= duration || time < 0) return 0;
  const isBack = speed < 0;
  const count = action._loopCount === -1 && !isBack ? 0 : action._loopCount;
  const passes = loops || loop === LoopOnce ? 1 : Math.max(Math.ceil(repetitions - count), 1);
  return ((isBack ? time : duration - time) + (passes - 1) * duration) / Math.abs(speed);
}
