/**
 * A factor that goes evenly from one number to another while the time of a mixer passes: the fade or the warp of an action,
 * for which three.js has an interpolant.
 */
export interface ControlRamp {
  /** Seconds of the mixer's time. */
  start: number;
  end: number;
  /** Before the start, and from the end on. */
  from: number;
  to: number;
}

/** What the factor is. */
export function rampValue({ start, end, from, to }: ControlRamp, time: number): number {
  if (time >= end) return to;
  return time < start ? from : from + ((to - from) * (time - start)) / (end - start);
}

/** The sum of the factor over a stretch of time; negative when that leads back. */
export function rampSum(ramp: ControlRamp, begin: number, time: number): number {
  return sumFromStart(ramp, time) - sumFromStart(ramp, begin);
}

function sumFromStart({ start, end, from, to }: ControlRamp, time: number): number {
  const length = Math.max(end - start, 0);
  const within = Math.min(Math.max(time - start, 0), length);
  const before = Math.min(time - start, 0) * from;
  const after = Math.max(time - start - length, 0) * to;
  const slope = length > 0 ? (to - from) / length : 0;
  return before + within * (from + (slope * within) / 2) + after;
}
