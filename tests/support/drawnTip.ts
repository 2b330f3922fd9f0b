import { LOOP_MODES } from '../../lib/constants.js';
import { frameAt } from '../../lib/playback/actionTime.js';
import {
  ACTION_TEXELS,
  actionsTexels,
  CLIP_COUNT,
  CLIP_PASSES,
  CLIP_RATE,
  CLIP_START,
  CLIP_TIME,
  CLIP_WARP,
  CLIP_WARP_RATE,
  CLIP_WARP_START,
  CLIP_WEIGHT,
  firstAction,
  MAX_ACTIONS,
} from '../../lib/playback/instanceLayout.js';
import type { SkinnedInstancedMesh } from './library.js';
import { REST_X } from './stick.js';

const _frame = { start: 0, frame0: 0, frame1: 0, alpha: 0 };

/** Where the tip of a stick is by the floats that the GPU has of an instance, put together as `skinningMatrix` does. */
export function drawnTip(crowd: SkinnedInstancedMesh, index: number): number {
  const { clock, actions } = crowd.playback;
  let tip = 0;
  let left = 1;
  for (let place = 0; place < MAX_ACTIONS; place++) {
    const at = (index * actionsTexels(1) + firstAction(1) + place * ACTION_TEXELS) * 4;
    const action = actions.data.subarray(at, at + ACTION_TEXELS * 4);
    if (action[CLIP_START] === 0) break;
    const [from, to, start, rate] = action.subarray(CLIP_WEIGHT);
    const weight = from + (to - from) * done(clock, start, rate);
    tip += weight * actionTip(crowd, action);
    left -= weight;
  }
  return tip + left * REST_X;
}

const done = (clock: number, start: number, rate: number): number =>
  rate === 0 ? 1 : Math.min(Math.max((clock - start) * rate, 0), 1);

function actionTip(crowd: SkinnedInstancedMesh, action: Float32Array): number {
  const count = Math.floor(action[CLIP_COUNT] / LOOP_MODES);
  const warped = done(crowd.playback.clock, action[CLIP_WARP_START], Math.abs(action[CLIP_WARP_RATE]));
  const ease = action[CLIP_WARP_RATE] > 0 ? warped : 1 - warped;
  const { frame0, alpha } = frameAt(
    crowd.playback.clock,
    action[CLIP_START],
    count,
    action[CLIP_TIME] + action[CLIP_WARP] * ease * ease,
    action[CLIP_COUNT] - count * LOOP_MODES,
    action[CLIP_RATE],
    action[CLIP_PASSES],
    true,
    _frame,
  );
  const clip = crowd.boneTexture.clips.find(({ start, count }) => frame0 >= start && frame0 < start + count);
  return clip === undefined ? REST_X : (frame0 - clip.start + alpha) / clip.fps;
}
