import { LOOP_MODES, REST_FRAME } from '../constants.js';
import type { PoseMix } from '../poses/PoseMix.js';
import { encodeSlot } from './encodeSlot.js';
import { frameAt } from './frameAt.js';
import { CLIP_COUNT, CLIP_FADE, CLIP_PASSES, CLIP_RATE, CLIP_START, CLIP_TIME } from './instanceLayout.js';
import type { LayerSlots } from './LayerSlots.js';
import { aheadAt } from './loops.js';

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
  const at = layer.at(index);
  target.count = 0;
  for (let place = layer.order.count(index) - 1; place >= 0; place--) {
    const slots = layer.slotsAt(index, place);
    const weight = layer.weightOf(index, place, clock);
    if (weight <= 0) continue;
    const mix = target.layers[target.count++];
    mix.weight = weight;
    encodeSlot(slots, at, clock, held, _clip, 0);
    const packed = _clip[CLIP_COUNT];
    const count = Math.floor(packed / LOOP_MODES);
    const rate = _clip[CLIP_RATE];
    const time = _clip[CLIP_TIME] + rate * aheadAt(slots, at, clock);
    const loop = packed - count * LOOP_MODES;
    frameAt(clock, _clip[CLIP_START], count, time, loop, rate, _clip[CLIP_PASSES], interpolate, mix);
  }
  if (target.count > 0) return target;

  target.count = 1;
  const [rest] = target.layers;
  rest.start = rest.frame0 = rest.frame1 = REST_FRAME;
  rest.alpha = 0;
  rest.weight = 1;
  return target;
}
