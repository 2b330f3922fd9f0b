import { type LinearInterpolant, LoopOnce, LoopPingPong } from 'three';
import { LOOP_CLAMP, LOOP_PING_PONG, REPEAT_FOREVER } from '../constants.js';
import {
  ACTION_COUNT,
  ACTION_FADE_RATE,
  ACTION_FADE_START,
  ACTION_FROM,
  ACTION_LOOP,
  ACTION_PASS,
  ACTION_RATE,
  ACTION_REPETITIONS,
  ACTION_SIZE,
  ACTION_START,
  ACTION_STARTED,
  ACTION_STARTED_IN,
  ACTION_TO,
  ACTION_WARP,
  ACTION_WARP_RATE,
  ACTION_WARP_START,
  type Actions,
  basePass,
  clearAction,
  FIRST,
  ONCE,
  PAUSED,
  REVERSED,
  setPlace,
  WAITING,
} from '../playback/actions.js';
import type { InstancePlayback } from '../playback/InstancePlayback.js';
import { MAX_ACTIONS } from '../playback/instanceLayout.js';
import { warnOnce } from '../utils/messages.js';
import type { PlayedAction } from './PlayedAction.js';

const _action: Actions = /*@__PURE__*/ new Float64Array(ACTION_SIZE);

/**
 * Writes the actions of an instance as what it plays.
 *
 * @param active In the order in which they are mixed.
 * @param rate Seconds of the mixer's time for each of the crowd's.
 * @param written Layers that were written before, as bits.
 * @returns Those that have actions now.
 */
export function writeActions(
  playback: InstancePlayback,
  index: number,
  active: readonly PlayedAction[],
  rate: number,
  written: number,
): number {
  const clock = playback.time.timeOf(index);
  let layers = 0;
  for (const { layer } of active) layers |= 1 << layer;
  if ((layers | written) === 0) return 0;
  for (let layer = 0; layer < playback.layers.length; layer++) {
    if (((layers | written) & (1 << layer)) === 0) continue;
    const shown = shownOf(active, layer, rate);
    const played = playback.layers[layer];
    played.clear(index);
    for (const action of shown) {
      encodeAction(action, rate, clock, _action);
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
  const { enabled, weight, _weightInterpolant: fade, at } = action;
  const now = action.weightAt(at);
  if (!enabled || fade === null || scale === 0) return now;
  return Math.max(now, weight * fade.sampleValues[scale > 0 ? 1 : 0]);
}

/**
 * Writes an action as numbers: what it does from now on, until something about it changes, see `nextChange`.
 *
 * @param rate Seconds of the mixer's time for each of the crowd's.
 * @param clock Seconds since the crowd's beginning, of the instance.
 * @param out `ACTION_SIZE` numbers.
 */
export function encodeAction(action: PlayedAction, rate: number, clock: number, out: Actions): void {
  const { clip, at } = action;
  clearAction(out, 0);
  out[ACTION_START] = clip.start;
  out[ACTION_COUNT] = clip.count;
  encodeFade(action, rate, clock, out);
  out[ACTION_STARTED] = action.begun;
  const { paused, _startTime: startTime } = action;
  const stands = action._timeScaleInterpolant === null && action.scaleAt(at) === 0;
  const isHeld = rate === 0 || paused || startTime !== null || stands || clip.count < 2;
  if (isHeld) {
    // What `resumeActions` needs, once it was saved.
    out[ACTION_WARP_RATE] = action.timeScale * rate;
    if (startTime !== null) out[ACTION_WARP_START] = clock + (startTime - at) / (rate || 1);
  } else {
    encodeSpeed(action, rate, clock, out);
  }
  out[ACTION_LOOP] =
    FIRST +
    (paused ? PAUSED : 0) +
    (startTime === null ? 0 : WAITING) +
    (action.loop === LoopPingPong ? LOOP_PING_PONG : 0) +
    (action.loop === LoopOnce ? ONCE : 0) +
    (action.clampWhenFinished ? LOOP_CLAMP : 0) +
    (out[ACTION_RATE] < 0 || (isHeld && action.runsBack) ? REVERSED : 0);
  out[ACTION_REPETITIONS] = Math.min(action.repetitions ?? Infinity, REPEAT_FOREVER);
  out[ACTION_PASS] = action._loopCount;
  out[ACTION_STARTED_IN] = basePass(out, 0);
  setPlace(out, 0, clock, action.time * clip.fps, false);
}

function encodeFade(action: PlayedAction, rate: number, clock: number, out: Actions): void {
  const { at, _weightInterpolant: fade, weight } = action;
  out[ACTION_FROM] = out[ACTION_TO] = action.weightAt(at);
  if (fade === null || rate === 0) return;
  const { start, seconds, from, to } = onClock(fade, at, rate, clock);
  if (seconds <= 0) {
    // Time that runs backwards leads to before a fade that takes no time.
    if (rate < 0) out[ACTION_FROM] = out[ACTION_TO] = weight * to;
    return;
  }
  out[ACTION_FROM] = weight * from;
  out[ACTION_TO] = weight * to;
  out[ACTION_FADE_START] = start;
  out[ACTION_FADE_RATE] = 1 / seconds;
}

/** Frames per second, and how far a warp puts the clip ahead of where these alone would lead. */
function encodeSpeed(action: PlayedAction, rate: number, clock: number, out: Actions): void {
  const { clip, at, _timeScaleInterpolant: warp, timeScale } = action;
  const unit = clip.fps * rate * timeScale;
  out[ACTION_RATE] = unit;
  if (warp === null) return;
  const { start, seconds, from, to } = onClock(warp, at, rate, clock);
  // Where the mixer's time ran backwards, a warp may lie ahead, or behind it.
  const [begins, ends] = warp.parameterPositions;
  const ahead = rate > 0 ? at < begins : at > ends;
  const behind = rate > 0 ? at >= ends : at <= begins;
  out[ACTION_RATE] = unit * (ahead ? from : to);
  if (ahead || behind || from === to) return;
  out[ACTION_WARP_START] = start;
  const done = (clock - start) / seconds;
  const now = from + (to - from) * Math.min(Math.max(done, 0), 1);
  if (now * to > 0 || (now === 0 && to !== 0)) {
    // It comes to the last speed, from a speed that it has no more if it turned around meanwhile.
    out[ACTION_WARP] = ((1 - from / to) * seconds) / 2;
    out[ACTION_WARP_RATE] = -1 / seconds;
  } else {
    // It comes to a stop, at least for a moment; what follows is written then.
    out[ACTION_RATE] = unit * from;
    out[ACTION_WARP] = ((to / from - 1) * seconds) / 2;
    out[ACTION_WARP_RATE] = 1 / seconds;
  }
}

/** A ramp as it passes on the crowd's clock: its first end comes first there, also if the mixer's time runs backwards. */
function onClock(ramp: LinearInterpolant, at: number, rate: number, clock: number) {
  const start = ramp.parameterPositions[0];
  const end = ramp.parameterPositions[1];
  const from = ramp.sampleValues[0];
  const to = ramp.sampleValues[1];
  const seconds = Math.max(end - start, 0) / Math.abs(rate);
  if (rate > 0) return { start: clock + (start - at) / rate, seconds, from, to };
  return { start: clock + (end - at) / rate, seconds, from: to, to: from };
}
