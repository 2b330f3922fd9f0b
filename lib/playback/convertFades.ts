import type { LayerSlots } from './LayerSlots.js';
import { MAX_SLOTS, nestedFades } from './nestedFades.js';
import {
  clearSlot,
  FADING_OUT,
  hasBit,
  SLOT_FADE_RATE,
  SLOT_FADE_START,
  SLOT_FROM,
  SLOT_TO,
} from './slots.js';

/** Turns an instance's nested fades into weights, or weights into nested fades. Call it before the layer's blend changes. */
export function convertFades(layer: LayerSlots, index: number, clock: number): void {
  if (layer.blend === nestedFades) nestedToWeights(layer, index, clock);
  else weightsToNested(layer, index);
}

/** Turns an instance's nested fades into weights: what fades out does so together from now on, with the newest. */
export function nestedToWeights(layer: LayerSlots, index: number, clock: number): void {
  nestedFades.endFades(layer, index, clock);
  const count = layer.order.count(index);
  if (count < 2) return;
  const at = layer.at(index);
  const newest = layer.slotsAt(index, count - 1);
  const weights = Array.from({ length: count }, (_, place) =>
    nestedFades.weightOf(layer, index, place, clock),
  );
  const speed = (1 - newest[at + SLOT_FROM]) * newest[at + SLOT_FADE_RATE];
  const rate = speed / (1 - weights[count - 1]);
  weights.forEach((weight, place) => {
    const slots = layer.slotsAt(index, place);
    slots[at + SLOT_FROM] = weight;
    slots[at + SLOT_TO] = place === count - 1 ? 1 : 0;
    slots[at + SLOT_FADE_START] = clock;
    slots[at + SLOT_FADE_RATE] = rate;
  });
}

/** Turns an instance's weights into nested fades, if they are a fade of so few clips; else leaves the current clip alone. */
export function weightsToNested(layer: LayerSlots, index: number): void {
  const { order } = layer;
  const count = order.count(index);
  if (count === 0) return;
  const at = layer.at(index);
  if (isFade(layer, index)) {
    let below = 0;
    for (let place = 0; place < count - 1; place++) {
      const slots = layer.slotsAt(index, place);
      below += slots[at + SLOT_FROM];
      slots[at + SLOT_FROM] = slots[at + SLOT_TO] = slots[at + SLOT_FROM] / below;
      slots[at + SLOT_FADE_RATE] = 0;
    }
    return;
  }
  const slot = order.current(index) < 0 ? order.slot(index, count - 1) : order.current(index);
  for (let place = count - 1; place >= 0; place--) {
    if (order.slot(index, place) !== slot) order.remove(index, place);
  }
  const slots = layer.slots[slot];
  if (hasBit(slots, at, FADING_OUT)) clearSlot(slots, at);
  order.setCurrent(index, slot);
  slots[at + SLOT_FROM] = slots[at + SLOT_TO] = 1;
  slots[at + SLOT_FADE_RATE] = 0;
}

/** Whether an instance's weights add up to 1, and but for the newest fade out together. */
function isFade(layer: LayerSlots, index: number): boolean {
  const { order } = layer;
  const at = layer.at(index);
  const last = order.count(index) - 1;
  const newest = layer.slotsAt(index, last);
  const isNewest = order.slot(index, last) === order.current(index);
  if (!isNewest || newest[at + SLOT_TO] !== 1 || last >= MAX_SLOTS) return false;
  if (last === 0) return newest[at + SLOT_FROM] === 1;
  let sum = newest[at + SLOT_FROM];
  for (let place = 0; place < last; place++) {
    const slots = layer.slotsAt(index, place);
    const together =
      slots[at + SLOT_FADE_RATE] === newest[at + SLOT_FADE_RATE] &&
      slots[at + SLOT_FADE_START] === newest[at + SLOT_FADE_START];
    if (!together || slots[at + SLOT_TO] !== 0) return false;
    sum += slots[at + SLOT_FROM];
  }
  return Math.abs(sum - 1) < 1e-6;
}
