import {
  LOOP_BACK,
  LOOP_CLAMP,
  LOOP_ENDS_BACK,
  LOOP_FIRST,
  LOOP_PING_PONG,
  REST_FRAME,
} from '../constants.js';
import type { FrameMix } from '../poses/PoseMix.js';

/**
 * How many passes of a clip have begun since the one from whose start `total` counts.
 *
 * As in `AnimationAction`, a pass forward ends at the duration, and one in reverse only below zero.
 *
 * @param total Frames from the start of that pass; they run on through later passes, below zero in reverse.
 * @param intervals Frames that one pass takes.
 * @param rate Frames per second, of which the sign counts.
 * @param first Whether there is no pass before that one, so that rounding must not lead there.
 */
export function passesSince(total: number, intervals: number, rate: number, first: boolean): number {
  if (rate === 0) return 0;
  const lengths = Math.floor(total / intervals);
  const passes = rate < 0 ? -lengths : lengths;
  return first ? Math.max(passes, 0) : passes;
}

/**
 * Which frames show, from what the GPU knows of an instance; `shaders/frameAt.glsl.ts` is the same function there, and
 * `slots.ts` says what the numbers come from.
 *
 * @param clock Seconds.
 * @param start First frame of the clip.
 * @param count Frames of the clip.
 * @param time Frames from the start of a pass, at clock 0.
 * @param loop Bits `LOOP_…`, added up.
 * @param rate Frames per second.
 * @param passes How many passes after that one the clip has finished; at least 1.
 * @param interpolate Whether to mix two frames, or to take the nearest.
 */
export function frameAt(
  clock: number,
  start: number,
  count: number,
  time: number,
  loop: number,
  rate: number,
  passes: number,
  interpolate: boolean,
  target: FrameMix,
): FrameMix {
  const intervals = count - 1;
  let frame = 0;
  let rest = false;

  if (intervals > 0) {
    const total = time + clock * rate;
    const reverse = rate < 0;
    const since = passesSince(total, intervals, rate, (loop & LOOP_FIRST) !== 0);

    frame = Math.min(Math.max(total - (reverse ? -since : since) * intervals, 0), intervals);
    let back = ((since & 1) !== 0) !== ((loop & LOOP_BACK) !== 0);
    if (since >= passes) {
      rest = (loop & LOOP_CLAMP) === 0;
      frame = reverse ? 0 : intervals;
      back = (loop & LOOP_ENDS_BACK) !== 0;
    }
    if (back && (loop & LOOP_PING_PONG) !== 0) frame = intervals - frame;
  }

  target.start = rest ? REST_FRAME : start;
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
