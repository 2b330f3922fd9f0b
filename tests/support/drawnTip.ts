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
  SLOT_STRIDE,
} from '../../lib/playback/instanceLayout.js';
import type { SkinnedInstancedMesh } from './library.js';
import { REST_X } from './stick.js';

const _frame = { start: 0, frame0: 0, frame1: 0, alpha: 0 };

/** Where the tip of a stick is by the floats that the GPU has of an instance, which fades out of nothing. */
export function drawnTip(crowd: SkinnedInstancedMesh, index: number): number {
  const { clock, state } = crowd.playback;
  const slot = state.data.subarray(index * SLOT_STRIDE, (index + 1) * SLOT_STRIDE);
  if (slot[CLIP_FADE] - clock * slot[CLIP_FADE_RATE] > 0) throw new Error(`instance ${index} fades`);
  const count = Math.floor(slot[CLIP_COUNT] / LOOP_MODES);
  const { frame0, alpha } = frameAt(
    clock,
    slot[CLIP_START],
    count,
    slot[CLIP_TIME],
    slot[CLIP_COUNT] - count * LOOP_MODES,
    slot[CLIP_RATE],
    slot[CLIP_PASSES],
    true,
    _frame,
  );
  const clip = crowd.boneTexture.clips.find(({ start, count }) => frame0 >= start && frame0 < start + count);
  return clip === undefined ? REST_X : (frame0 - clip.start + alpha) / clip.fps;
}
