import { type LinearInterpolant, LoopOnce } from 'three';
import type { PlayedAction } from './PlayedAction.js';

/**
 * After how many seconds of the mixer's time something about an action may change by itself, other than evenly: a fade or a warp is
 * done, it begins, it turns around, it finishes. Until then, shaders know all of it.
 *
 * @param direction 1, or -1 if the mixer's time runs backwards.
 * @param loops Whether passes count too.
 * @returns 0 if it may with the very next update; infinite if nothing does.
 */
export function nextChange(action: PlayedAction, direction: number, loops: boolean): number {
  const { at, _weightInterpolant: fade, _timeScaleInterpolant: warp, _startTime: startTime } = action;
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
