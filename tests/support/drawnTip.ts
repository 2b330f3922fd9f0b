import { CLOCK_EPOCH, LOOP_MODES } from '../../lib/constants.js';
import { frameAt } from '../../lib/playback/actions.js';
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

const _frame = { start: 0, frame0: 0, frame1: 0, alpha: 0 };

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
  const { frame0, alpha } = frameAt(
    total,
    turns,
    action[CLIP_START],
    count,
    action[CLIP_COUNT] - count * LOOP_MODES,
    rate,
    action[CLIP_PASSES],
    true,
    _frame,
  );
  const clip = crowd.boneTexture.clips.find(({ start, count }) => frame0 >= start && frame0 < start + count);
  return clip === undefined ? REST_X : (frame0 - clip.start + alpha) / clip.fps;
}
