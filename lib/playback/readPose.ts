import { LOOP_MODES, REST_FRAME } from '../constants.js';
import { createPoseClip, type PoseMix } from '../poses/PoseMix.js';
import { encodeSlot } from './encodeSlot.js';
import { frameAt } from './frameAt.js';
import { CLIP_COUNT, CLIP_FADE, CLIP_PASSES, CLIP_RATE, CLIP_START, CLIP_TIME } from './instanceLayout.js';
import type { LayerSlots } from './LayerSlots.js';
import type { LayerStack } from './LayerStack.js';
import type { LayerTable } from './LayerTable.js';
import { aheadAt } from './loops.js';

const _clip = /*@__PURE__*/ new Float64Array(CLIP_FADE);

/**
 * What an instance shows: the CPU twin of what shaders make of its slots. It goes by the same numbers, so that it shows the
 * same, but in doubles.
 *
 * @param layers Say where each layer shows.
 * @param clock The instance's own, which stands still while it is paused.
 * @param held Whether it is paused.
 * @param interpolate Whether two frames are mixed; else the nearest is shown.
 */
export function readPose(
  { layers: stack, weights }: LayerStack,
  layers: LayerTable,
  index: number,
  clock: number,
  held: boolean,
  interpolate: boolean,
  target: PoseMix,
): PoseMix {
  target.count = 0;
  target.layers.length = stack.length;
  for (let number = stack.length - 1; number >= 0; number--) {
    target.layers[number] ??= { weight: 1, mask: null };
    target.layers[number].weight = weights.weightOf(number, index, clock);
    target.layers[number].mask = layers.maskOf(number);
    readLayer(stack[number], number, index, clock, held, interpolate, target);
  }
  if (target.count > 0) return target;

  target.count = 1;
  const [rest] = target.clips;
  rest.start = rest.frame0 = rest.frame1 = REST_FRAME;
  rest.alpha = rest.layer = 0;
  rest.weight = 1;
  return target;
}

/** Adds the clips that an instance shows on one layer. */
function readLayer(
  layer: LayerSlots,
  number: number,
  index: number,
  clock: number,
  held: boolean,
  interpolate: boolean,
  target: PoseMix,
): void {
  const at = layer.at(index);
  for (let place = layer.order.count(index) - 1; place >= 0; place--) {
    const slots = layer.slotsAt(index, place);
    const weight = layer.weightOf(index, place, clock);
    if (weight <= 0) continue;
    target.clips[target.count] ??= createPoseClip();
    const mix = target.clips[target.count++];
    mix.layer = number;
    mix.weight = weight;
    encodeSlot(slots, at, clock, held, _clip, 0);
    const packed = _clip[CLIP_COUNT];
    const count = Math.floor(packed / LOOP_MODES);
    const rate = _clip[CLIP_RATE];
    const time = _clip[CLIP_TIME] + rate * aheadAt(slots, at, clock);
    const loop = packed - count * LOOP_MODES;
    frameAt(clock, _clip[CLIP_START], count, time, loop, rate, _clip[CLIP_PASSES], interpolate, mix);
  }
}
