import { LOOP_MODES } from '../../lib/constants.js';
import { frameAt } from '../../lib/playback/frameAt.js';
import {
  CLIP_COUNT,
  CLIP_FADE,
  CLIP_FADE_RATE,
  CLIP_PASSES,
  CLIP_RATE,
  CLIP_START,
  CLIP_TIME,
  CLIP_WARP,
  FADES_STRIDE,
  OLDEST_FADE,
  SLOT_STRIDE,
} from '../../lib/playback/instanceLayout.js';
import type { SkinnedInstancedMesh } from './library.js';
import { REST_X } from './stick.js';

const _frame = { start: 0, frame0: 0, frame1: 0, alpha: 0 };

/** Where the tip of a stick is by the floats that the GPU has of an instance, put together as `skinningMatrix` does. */
export function drawnTip(crowd: SkinnedInstancedMesh, index: number): number {
  const { clock, state, fades } = crowd.playback;
  let slot = state.data.subarray(index * SLOT_STRIDE, (index + 1) * SLOT_STRIDE);
  let ease = olderWeight(slot, clock);
  let tip = 0;
  let left = 1;
  for (let older = 0; ; older++) {
    const passedOn = left * olderWeight(slot, clock);
    tip += (left - passedOn) * slotTip(crowd, slot, ease);
    left = passedOn;
    ease = 1 - passedOn;
    if (left <= 0) return tip;
    const at = index * FADES_STRIDE + older * OLDEST_FADE;
    slot = fades.data.subarray(at, at + SLOT_STRIDE);
  }
}

function olderWeight(slot: Float32Array, clock: number): number {
  return Math.min(Math.max(slot[CLIP_FADE] - clock * slot[CLIP_FADE_RATE], 0), 1);
}

function slotTip(crowd: SkinnedInstancedMesh, slot: Float32Array, ease: number): number {
  const count = Math.floor(slot[CLIP_COUNT] / LOOP_MODES);
  const { frame0, alpha } = frameAt(
    crowd.playback.clock,
    slot[CLIP_START],
    count,
    slot[CLIP_TIME] + slot[CLIP_WARP] * ease * ease,
    slot[CLIP_COUNT] - count * LOOP_MODES,
    slot[CLIP_RATE],
    slot[CLIP_PASSES],
    true,
    _frame,
  );
  const clip = crowd.boneTexture.clips.find(({ start, count }) => frame0 >= start && frame0 < start + count);
  return clip === undefined ? REST_X : (frame0 - clip.start + alpha) / clip.fps;
}
