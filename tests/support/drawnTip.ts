import {
  CLOCK_EPOCH,
  LOOP_BACK,
  LOOP_CLAMP,
  LOOP_ENDS_BACK,
  LOOP_FIRST,
  LOOP_MODES,
  LOOP_PING_PONG,
} from '../../lib/constants.js';
import {
  ACTION_TEXELS,
  actionsTexels,
  CLIP_COUNT,
  CLIP_DRIFT,
  CLIP_DRIFT_REST,
  CLIP_PASSES,
  CLIP_RATE,
  CLIP_START,
  CLIP_TIME,
  CLIP_WARP,
  CLIP_WARP_RATE,
  CLIP_WARP_START,
  CLIP_WEIGHT,
  firstAction,
  HEADER_EPOCH,
  MAX_ACTIONS,
} from '../../lib/playback/instanceLayout.js';
import type { SkinnedInstancedMesh } from './library.js';
import { REST_X } from './stick.js';

const f = Math.fround;

/** Where the tip of a stick is by the floats that the GPU has of an instance, put together as shaders do, in floats. */
export function drawnTip(crowd: SkinnedInstancedMesh, index: number): number {
  const { clock, time, actions } = crowd.playback;
  const row = index * actionsTexels(1) * 4;
  const age = f(f(time.epoch) - actions.data[row + HEADER_EPOCH]);
  const since = f(f(clock) + f(age * CLOCK_EPOCH));
  let tip = 0;
  let left = 1;
  for (let place = 0; place < MAX_ACTIONS; place++) {
    const at = row + (firstAction(1) + place * ACTION_TEXELS) * 4;
    const action = actions.data.subarray(at, at + ACTION_TEXELS * 4);
    if (action[CLIP_START] === 0) break;
    const [from, to, start, rate] = action.subarray(CLIP_WEIGHT);
    const weight = from + (to - from) * done(since, start, rate);
    tip += weight * actionTip(crowd, action, f(clock), age, since);
    left -= weight;
  }
  return tip + left * REST_X;
}

const done = (clock: number, start: number, rate: number): number =>
  rate === 0 ? 1 : Math.min(Math.max(f(f(clock - start) * rate), 0), 1);

function actionTip(
  crowd: SkinnedInstancedMesh,
  action: Float32Array,
  clock: number,
  age: number,
  since: number,
): number {
  const count = Math.floor(action[CLIP_COUNT] / LOOP_MODES);
  const rate = action[CLIP_RATE];
  let total = f(action[CLIP_TIME] + f(rate * clock));
  let turns = 0;
  if (action[CLIP_WARP] !== 0) {
    const warped = done(since, action[CLIP_WARP_START], Math.abs(action[CLIP_WARP_RATE]));
    const ease = action[CLIP_WARP_RATE] > 0 ? warped : 1 - warped;
    total = f(f(action[CLIP_TIME] + f(rate * since)) + f(action[CLIP_WARP] * ease * ease));
  } else if (age !== 0) {
    const turn = Math.max(2 * count - 2, 1);
    let drift = f(age * action[CLIP_DRIFT]);
    drift = f(drift - f(Math.floor(f(drift / turn)) * turn));
    drift = f(drift + f(age * action[CLIP_DRIFT_REST]));
    total = f(total + drift);
    turns = Math.floor(f(f(f(f(age * CLOCK_EPOCH) * rate) - drift) / turn) + 0.5);
  }
  const loop = action[CLIP_COUNT] - count * LOOP_MODES;
  const frame = shownFrame(total, turns, count, loop, rate, action[CLIP_PASSES]);
  const clip = crowd.boneTexture.clips.find(({ start }) => start === action[CLIP_START]);
  return clip === undefined || frame === null ? REST_X : frame / clip.fps;
}

/** Twin of `shaders/frameAt.glsl.ts`: the frame of its clip that an action shows; null for the rest pose. */
function shownFrame(
  total: number,
  turns: number,
  count: number,
  loop: number,
  rate: number,
  passes: number,
): number | null {
  const intervals = count - 1;
  if (intervals === 0) return 0;
  const reverse = rate < 0;
  const lengths = rate === 0 ? 0 : Math.floor(total / intervals);
  const passed = (reverse ? -1 : 1) * (lengths + 2 * turns);
  let frame = Math.min(Math.max(total - lengths * intervals, 0), intervals);
  let back = ((lengths & 1) !== 0) !== ((loop & LOOP_BACK) !== 0);
  if ((loop & LOOP_FIRST) !== 0 && passed < 0) {
    frame = reverse ? intervals : 0;
    back = (loop & LOOP_BACK) !== 0;
  }
  if (passed >= passes) {
    if ((loop & LOOP_CLAMP) === 0) return null;
    frame = reverse ? 0 : intervals;
    back = (loop & LOOP_ENDS_BACK) !== 0;
  }
  return back && (loop & LOOP_PING_PONG) !== 0 ? intervals - frame : frame;
}
