import { LoopOnce } from 'three';
import type { ActionState, ControlRamp } from './ActionState.js';

/**
 * After how many seconds of the mixer's time something about an action changes by itself, other than evenly: a fade or a warp is
 * done, it begins, it turns around, it finishes. Until then, shaders know all of it.
 *
 * @param direction 1, or -1 if the mixer's time runs backwards.
 * @param loops Whether passes count too.
 * @returns 0 if it does with the very next update; infinite if nothing does.
 */
export function nextChange(state: ActionState, direction: number, loops: boolean): number {
  const { at, fade, warp, startTime, paused } = state;
  if (!state.enabled) return Infinity;
  let next = fade === null ? Infinity : untilDone(fade, at, direction);
  if (startTime !== null) next = Math.min(next, (startTime - at) * direction);
  if (paused) return Math.max(next, 0);
  let slope = 0;
  const speed = state.scaleAt(at) * direction;
  if (warp !== null) {
    next = Math.min(next, untilDone(warp, at, direction));
    const begin = (warp.start - at) * direction;
    // Backwards, the speed from before a warp that takes no time counts at once.
    if (begin > 0 || (direction < 0 && at === warp.end && begin === 0)) next = Math.min(next, begin);
    if (warp.end > warp.start) slope = (state.timeScale * (warp.to - warp.from)) / (warp.end - warp.start);
    // Before its start and after its end, a warp changes nothing.
    if (at < warp.start || at > warp.end || (direction < 0 && at === warp.start)) slope = 0;
    const turn = -speed / slope;
    if (turn > 0) next = Math.min(next, turn);
  }
  if (startTime === null)
    next = Math.min(next, timeToMove(untilEnd(state, speed || slope, loops), speed, slope));
  return Math.max(next, 0);
}

/** A fade or warp is done in the first update that is past its end; backwards only one that is so by now. */
function untilDone({ end }: ControlRamp, at: number, direction: number): number {
  return direction > 0 || at > end ? Math.max(end - at, 0) : Infinity;
}

/** Seconds of the clip until a pass ends that counts; 0 if the time is not within the clip. */
function untilEnd(state: ActionState, speed: number, loops: boolean): number {
  const { time, duration, loop, repetitions } = state;
  if (speed === 0) return Infinity;
  if (loop === LoopOnce) return time >= duration || time < 0 ? 0 : speed > 0 ? duration - time : time;
  if (duration <= 0) return Infinity;
  if (time >= duration || time < 0) return 0;
  const reverse = speed < 0;
  const count = state.loopCount === -1 && !reverse ? 0 : state.loopCount;
  const passes = loops ? 1 : Math.max(Math.ceil(repetitions - count), 1);
  return (reverse ? time : duration - time) + (passes - 1) * duration;
}

/** When a way is done at a speed that grows evenly. */
function timeToMove(way: number, speed: number, slope: number): number {
  if (way === 0) return 0;
  const forward = (speed || slope) < 0 ? -1 : 1;
  const fast = speed * forward;
  const under = fast * fast + 2 * slope * forward * way;
  if (way === Infinity || under < 0) return Infinity;
  return (2 * way) / (fast + Math.sqrt(under));
}
