import { REST_FRAME } from '../constants.js';
import type { ClipTable } from '../poses/ClipTable.js';
import { warnOnce } from '../utils/warnOnce.js';
import { endWarp, startFadingOut } from './changeSlot.js';
import type { Blend, LayerSlots } from './LayerSlots.js';
import { MAX_ACTIONS } from './SlotOrder.js';
import {
  clearSlot,
  FADING_OUT,
  fadeDone,
  fadeTo,
  hasBit,
  SLOT_FADE_RATE,
  SLOT_FADE_START,
  SLOT_FROM,
  SLOT_LOOP,
  SLOT_START,
  SLOT_STARTED_IN,
  SLOT_TO,
  type Slots,
  weightAt,
} from './slots.js';

/**
 * Weights as the actions of a mixer have them: each slot's fade is its weight. Clips that another one replaces fade out
 * together, each from the weight that it has.
 */
export const actionWeights: Blend = {
  maxSlots: MAX_ACTIONS,

  weightOf(layer, index, place, clock) {
    return weightAt(layer.slotsAt(index, place), layer.at(index), clock);
  },

  endFades(layer, index, clock) {
    const { order } = layer;
    const at = layer.at(index);
    for (let place = order.count(index) - 1; place >= 0; place--) {
      const slots = layer.slotsAt(index, place);
      if (fadeDone(slots, at, clock) < 1) continue;
      if (hasBit(slots, at, FADING_OUT)) {
        order.remove(index, place);
      } else {
        slots[at + SLOT_FROM] = slots[at + SLOT_TO];
        slots[at + SLOT_FADE_RATE] = 0;
      }
    }
  },

  makeWay(layer, index, clock, fade, needsRoom) {
    const { order } = layer;
    const at = layer.at(index);
    const rate = 1 / fade;
    let sum = 0;
    // The place that `leastShown` gives, as long as all slots are kept.
    let least = 0;
    let leastWeight = Infinity;
    for (let place = order.count(index) - 1; place >= 0; place--) {
      const slots = layer.slotsAt(index, place);
      const weight = weightAt(slots, at, clock);
      if (weight <= 0) {
        order.remove(index, place);
        continue;
      }
      startFadingOut(slots, at, clock);
      slots[at + SLOT_FROM] = weight;
      slots[at + SLOT_TO] = 0;
      slots[at + SLOT_FADE_START] = clock;
      slots[at + SLOT_FADE_RATE] = rate;
      sum += weight;
      const rest = isRest(slots, at);
      if (!rest && weight >= leastWeight) continue;
      least = place;
      leastWeight = rest ? 0 : weight;
    }
    if (!needsRoom || order.count(index) < MAX_ACTIONS) return;
    const factor = sum / (sum - leastWeight);
    order.remove(index, least);
    // What it showed goes to the others; no weight is more than 1.
    for (let i = 0; i < order.count(index); i++) {
      const slots = layer.slotsAt(index, i);
      slots[at + SLOT_FROM] = Math.min(slots[at + SLOT_FROM] * factor, 1);
    }
  },
};

/**
 * A slot for a clip that plays beside the others: the one that it has already, or an empty one with weight 0. If there is
 * no room for it, the clip that shows least makes way.
 *
 * @param start First frame of the clip.
 * @param clips The clips that the crowd plays.
 */
export function startBeside(
  layer: LayerSlots,
  index: number,
  start: number,
  clock: number,
  clips: ClipTable,
): Slots {
  layer.endFades(index, clock);
  const { order } = layer;
  const at = layer.at(index);
  const place = layer.find(index, start);
  if (place >= 0) {
    const slots = layer.slotsAt(index, place);
    const weight = weightAt(slots, at, clock);
    clearSlot(slots, at);
    slots[at + SLOT_FROM] = slots[at + SLOT_TO] = weight;
    order.setCurrent(index, order.slot(index, place));
    return slots;
  }
  if (order.count(index) === MAX_ACTIONS) {
    const least = leastShown(layer, index, clock);
    const slots = layer.slotsAt(index, least);
    if (!hasBit(slots, at, FADING_OUT) && !isRest(slots, at)) {
      const name = clips.startingAt(slots[at + SLOT_START])?.name;
      warnOnce(
        `SkinnedInstancedMesh.play: an instance plays ${MAX_ACTIONS} clips at most on a layer; "${name}", which showed least, was dropped.`,
      );
    }
    order.remove(index, least);
  }
  const slots = layer.add(index);
  slots[at + SLOT_FROM] = slots[at + SLOT_TO] = 0;
  return slots;
}

/**
 * Whether an instance plays a clip, and it has not faded out.
 *
 * @param start First frame of the clip.
 */
export function plays(layer: LayerSlots, index: number, clock: number, start: number): boolean {
  const at = layer.at(index);
  const place = layer.find(index, start);
  if (place < 0) return false;
  const slots = layer.slotsAt(index, place);
  return !hasBit(slots, at, FADING_OUT) || fadeDone(slots, at, clock) < 1;
}

/**
 * Changes the weight of a clip that an instance plays.
 *
 * @param start First frame of the clip.
 * @param cameBack Called with the number of the clip's slot if it was fading out, and now stays.
 */
export function changeWeight(
  layer: LayerSlots,
  index: number,
  clock: number,
  start: number,
  weight: number,
  fade: number,
  cameBack: (slot: number) => void,
): void {
  layer.endFades(index, clock);
  const place = layer.find(index, start);
  const at = layer.at(index);
  const slots = layer.slotsAt(index, place);
  fadeTo(slots, at, clock, weight, fade);
  if (hasBit(slots, at, FADING_OUT)) {
    endWarp(slots, at, clock);
    slots[at + SLOT_LOOP] &= ~FADING_OUT;
    slots[at + SLOT_STARTED_IN] = Number.NaN;
    cameBack(layer.order.slot(index, place));
  }
}

/** Whether a slot is the rest pose, which shows wherever the weights of clips leave room for it, without a weight of its own. */
function isRest(slots: Slots, at: number): boolean {
  return slots[at + SLOT_START] === REST_FRAME;
}

/** The place of the slot with the least weight; of those with the same, the one that was started last. */
function leastShown(layer: LayerSlots, index: number, clock: number): number {
  const at = layer.at(index);
  let least = 0;
  let weight = Infinity;
  for (let place = 0; place < layer.order.count(index); place++) {
    if (isRest(layer.slotsAt(index, place), at)) return place;
    const other = layer.weightOf(index, place, clock);
    if (other > weight) continue;
    least = place;
    weight = other;
  }
  return least;
}
