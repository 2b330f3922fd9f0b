import { LOOP_MODES } from '../constants.js';
import type { PoseMix } from '../poses/PoseMix.js';
import { encodeSlot } from './encodeSlot.js';
import { frameAt } from './frameAt.js';
import {
  CLIP_COUNT,
  CLIP_FADE,
  CLIP_PASSES,
  CLIP_RATE,
  CLIP_START,
  CLIP_TIME,
  CLIP_WARP,
} from './instanceLayout.js';
import type { LayerSlots } from './LayerSlots.js';

const _clip = /*@__PURE__*/ new Float64Array(CLIP_FADE);

/**
 * What an instance shows: the CPU twin of what shaders make of its slots. It goes by the same numbers, so that it shows the
 * same, but in doubles.
 *
 * @param clock The instance's own, which stands still while it is paused.
 * @param held Whether it is paused.
 * @param interpolate Whether two frames are mixed; else the nearest is shown.
 */
export function readPose(
  layer: LayerSlots,
  index: number,
  clock: number,
  held: boolean,
  interpolate: boolean,
  target: PoseMix,
): PoseMix {
  target.count = layer.countShown(index, clock);
  for (let slot = 0; slot < target.count; slot++) {
    const mix = target.layers[slot];
    const ease = layer.easeOf(index, slot, clock);
    mix.weight = layer.weightOf(index, slot, clock);
    encodeSlot(layer.slots[slot], layer.at(index), clock, ease, held, _clip, 0);
    const packed = _clip[CLIP_COUNT];
    const count = Math.floor(packed / LOOP_MODES);
    frameAt(
      clock,
      _clip[CLIP_START],
      count,
      _clip[CLIP_TIME] + _clip[CLIP_WARP] * ease,
      packed - count * LOOP_MODES,
      _clip[CLIP_RATE],
      _clip[CLIP_PASSES],
      interpolate,
      mix,
    );
  }
  return target;
}
