import { LOOP_CLAMP, LOOP_PING_PONG, REST_FRAME } from '../constants.js';
import type { FrameMix } from '../texture/PoseMix.js';

/**
 * The only place where time becomes frames; `shaders/frameAt.glsl.ts` is the same function for the GPU.
 *
 * Follows three.js's `AnimationAction`: LoopRepeat wraps at the duration, LoopOnce stops on the last key, an action that
 * finished without `clampWhenFinished` leaves the rest pose, and in reverse the first pass through the start does not
 * count as a repetition.
 *
 * @param clock Seconds.
 * @param start First frame of the clip.
 * @param count Frames of the clip.
 * @param time Frames into the clip at clock 0.
 * @param loop `LOOP_PING_PONG` and `LOOP_CLAMP`, added up.
 * @param rate Frames per second.
 * @param repetitions Passes until the clip has finished.
 * @param interpolate Whether to mix two frames, or to take the nearest.
 */
export function frameAt(
  clock: number,
  start: number,
  count: number,
  time: number,
  loop: number,
  rate: number,
  repetitions: number,
  interpolate: boolean,
  target: FrameMix,
): FrameMix {
  const intervals = count - 1;
  let frame = 0;
  let rest = false;

  if (intervals > 0) {
    const total = time + clock * rate;
    const reverse = rate < 0;

    let cycle = Math.floor(total / intervals);
    if (reverse) cycle = Math.min(cycle, 0);
    if (rate === 0) cycle = 0;
    frame = Math.min(Math.max(total - cycle * intervals, 0), intervals);

    let passes = reverse ? -cycle - 1 : cycle;
    if (cycle !== 0 && passes >= repetitions) {
      rest = (loop & LOOP_CLAMP) === 0;
      passes = repetitions - 1;
      frame = reverse ? 0 : intervals;
    }
    if ((loop & LOOP_PING_PONG) !== 0 && (passes & 1) !== 0 && rate !== 0) frame = intervals - frame;
  }

  if (rest) {
    target.frame0 = REST_FRAME;
    target.frame1 = REST_FRAME;
    target.alpha = 0;
  } else if (interpolate) {
    const whole = Math.min(Math.floor(frame), Math.max(intervals - 1, 0));
    target.frame0 = start + whole;
    target.frame1 = start + Math.min(whole + 1, intervals);
    target.alpha = frame - whole;
  } else {
    target.frame0 = start + Math.floor(frame + 0.5);
    target.frame1 = target.frame0;
    target.alpha = 0;
  }
  return target;
}
