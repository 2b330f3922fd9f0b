import { clamp, float, floor, int, max, min, select } from 'three/tsl';
import type { Node } from 'three/webgpu';
import { LOOP_CLAMP, LOOP_PING_PONG, REST_FRAME } from '../lib/constants.js';

/** Two frames of a bone texture and how far the pose is from the first to the second, as nodes. */
export interface FrameMixNode {
  frame0: Node<'float'>;
  frame1: Node<'float'>;
  alpha: Node<'float'>;
}

/** Twin of `lib/playback/frameAt.ts`. Call it where a stack is being built. */
export function frameAt(
  clock: Node<'float'>,
  start: Node<'float'>,
  count: Node<'float'>,
  time: Node<'float'>,
  loop: Node<'float'>,
  rate: Node<'float'>,
  repetitions: Node<'float'>,
  interpolate: boolean,
): FrameMixNode {
  const intervals = count.sub(1).toVar();
  const total = time.add(clock.mul(rate)).toVar();
  const reverse = rate.lessThan(0);
  const still = rate.equal(0);

  const whole = floor(total.div(max(intervals, 1)));
  const cycle = select(still, float(0), select(reverse, min(whole, 0), whole)).toVar();
  const running = clamp(total.sub(cycle.mul(intervals)), 0, intervals);

  const counted = select(reverse, cycle.negate().sub(1), cycle).toVar();
  const finished = cycle.notEqual(0).and(counted.greaterThanEqual(repetitions)).and(intervals.greaterThan(0));
  const rest = finished.and(int(loop).bitAnd(LOOP_CLAMP).equal(0));
  const passes = select(finished, repetitions.sub(1), counted).toVar();
  const ended = select(reverse, float(0), intervals);
  const forward = select(finished, ended, running).toVar();

  const odd = passes.sub(floor(passes.mul(0.5)).mul(2)).greaterThan(0.5);
  const back = int(loop).bitAnd(LOOP_PING_PONG).notEqual(0).and(odd).and(rate.notEqual(0));
  const frame = select(back, intervals.sub(forward), forward).toVar();

  if (!interpolate) {
    const nearest = select(rest, float(REST_FRAME), start.add(floor(frame.add(0.5)))).toVar();
    return { frame0: nearest, frame1: nearest, alpha: float(0) };
  }

  const first = min(floor(frame), max(intervals.sub(1), 0)).toVar();
  return {
    frame0: select(rest, float(REST_FRAME), start.add(first)).toVar(),
    frame1: select(rest, float(REST_FRAME), start.add(min(first.add(1), intervals))).toVar(),
    alpha: select(rest, float(0), frame.sub(first)).toVar(),
  };
}
