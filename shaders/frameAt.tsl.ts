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

/** Twin of `frameAtGLSL`. Call it where a stack is being built. */
export function frameAt(
  total: Node<'float'>,
  turns: Node<'float'>,
  start: Node<'float'>,
  count: Node<'float'>,
  loop: Node<'float'>,
  rate: Node<'float'>,
  passes: Node<'float'>,
  interpolate: boolean,
) {
  const intervals = count.sub(1).toVar();
  const bits = int(loop).toVar();
  const has = (bit: number) => bits.bitAnd(bit).notEqual(0);
  const reverse = rate.lessThan(0);
  const lengths = select(rate.equal(0), float(0), floor(total.div(max(intervals, 1)))).toVar();
  const since = lengths.add(turns.mul(2));
  const passed = select(reverse, since.negate(), since).toVar();
  const begins = has(LOOP_FIRST).and(passed.lessThan(0)).toVar();
  const ends = passed.greaterThanEqual(passes).and(intervals.greaterThan(0)).toVar();
  const rest = ends.and(has(LOOP_CLAMP).not());

  const running = clamp(total.sub(lengths.mul(intervals)), 0, intervals);
  const [first, last] = [select(reverse, intervals, float(0)), select(reverse, float(0), intervals)];
  const forward = select(ends, last, select(begins, first, running)).toVar();

  const odd = lengths
    .sub(floor(lengths.mul(0.5)).mul(2))
    .greaterThan(0.5)
    .and(begins.not());
  const back = select(ends, has(LOOP_ENDS_BACK), select(has(LOOP_BACK), odd.not(), odd));
  const frame = select(back.and(has(LOOP_PING_PONG)), intervals.sub(forward), forward).toVar();

  if (!interpolate) {
    const nearest = select(rest, float(REST_FRAME), start.add(floor(frame.add(0.5)))).toVar();
    return { frame0: nearest, frame1: nearest, alpha: float(0) };
  }

  const whole = min(floor(frame), max(intervals.sub(1), 0)).toVar();
  return {
    frame0: select(rest, float(REST_FRAME), start.add(whole)).toVar(),
    frame1: select(rest, float(REST_FRAME), start.add(min(whole.add(1), intervals))).toVar(),
    alpha: select(rest, float(0), frame.sub(whole)).toVar(),
  };
}
