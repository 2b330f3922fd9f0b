import { clamp, float, floor, int, max, min, select } from 'three/tsl';
import type { Node } from 'three/webgpu';
import {
  LOOP_BACK,
  LOOP_CLAMP,
  LOOP_ENDS_BACK,
  LOOP_FIRST,
  LOOP_PING_PONG,
  REST_FRAME,
} from '../lib/constants.js';

/** Two frames of a bone texture and how far the pose is from the first to the second, as nodes. */
export interface FrameMixNode {
  frame0: Node<'float'>;
  frame1: Node<'float'>;
  alpha: Node<'float'>;
}

function passesSince(
  total: Node<'float'>,
  intervals: Node<'float'>,
  rate: Node<'float'>,
  first: Node<'bool'>,
): Node<'float'> {
  const lengths = floor(total.div(max(intervals, 1))).toVar();
  const passes = select(rate.lessThan(0), lengths.negate(), lengths).toVar();
  return select(rate.equal(0), float(0), select(first, max(passes, 0), passes));
}

/** Twin of `frameAt` in `lib/playback/actionTime.ts`. Call it where a stack is being built. */
export function frameAt(
  total: Node<'float'>,
  turns: Node<'float'>,
  start: Node<'float'>,
  count: Node<'float'>,
  loop: Node<'float'>,
  rate: Node<'float'>,
  passes: Node<'float'>,
  interpolate: boolean,
): FrameMixNode {
  const intervals = count.sub(1).toVar();
  const bits = int(loop).toVar();
  const has = (bit: number) => bits.bitAnd(bit).notEqual(0);
  const reverse = rate.lessThan(0);
  const since = passesSince(total, intervals, rate, has(LOOP_FIRST).and(turns.equal(0))).toVar();

  const running = clamp(total.sub(select(reverse, since.negate(), since).mul(intervals)), 0, intervals);
  const whole = since.add(select(reverse, turns.mul(-2), turns.mul(2)));
  const finished = whole.greaterThanEqual(passes).and(intervals.greaterThan(0));
  const rest = finished.and(has(LOOP_CLAMP).not());
  const forward = select(finished, select(reverse, float(0), intervals), running).toVar();

  const odd = since.sub(floor(since.mul(0.5)).mul(2)).greaterThan(0.5);
  const back = select(finished, has(LOOP_ENDS_BACK), select(has(LOOP_BACK), odd.not(), odd));
  const frame = select(back.and(has(LOOP_PING_PONG)), intervals.sub(forward), forward).toVar();

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
