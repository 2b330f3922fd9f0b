import { startFadingOut } from './changeSlot.js';
import type { Blend, LayerSlots } from './LayerSlots.js';
import { SLOT_FADE_RATE, SLOT_FADE_START, SLOT_FROM, SLOT_TO, SLOT_WARP, weightAt } from './slots.js';

/** Slots that shaders can mix where each vertex reads them. */
export const MAX_SLOTS = 3;

/**
 * Fades one on top of the other, which shaders can mix without weights: each slot's fade says how much of it shows, and
 * what is left is for those that were started before it. The one that was started first has the rest.
 */
export const nestedFades: Blend = {
  maxSlots: MAX_SLOTS,

  weightOf(layer, index, place, clock) {
    const at = layer.at(index);
    let weight = place === 0 ? 1 : weightAt(layer.slotsAt(index, place), at, clock);
    for (let newer = place + 1; newer < layer.order.count(index); newer++) {
      weight *= 1 - weightAt(layer.slotsAt(index, newer), at, clock);
    }
    return weight;
  },

  endFades(layer, index, clock) {
    const { order } = layer;
    const at = layer.at(index);
    for (let place = order.count(index) - 1; place > 0; place--) {
      if (weightAt(layer.slotsAt(index, place), at, clock) < 1) continue;
      while (place > 0) order.remove(index, --place);
    }
    if (order.count(index) !== 1) return;
    const slots = layer.slotsAt(index, 0);
    slots[at + SLOT_FROM] = slots[at + SLOT_TO] = 1;
    slots[at + SLOT_FADE_RATE] = 0;
    slots[at + SLOT_WARP] = 0;
  },

  makeWay(layer, index, clock) {
    const { order } = layer;
    const count = order.count(index);
    for (let place = 0; place < count; place++) {
      startFadingOut(layer.slotsAt(index, place), layer.at(index), clock);
    }
    if (count === MAX_SLOTS) dropLeast(layer, index, clock);
  },
};

/** Drops the slot that shows least of three. */
function dropLeast(layer: LayerSlots, index: number, clock: number): void {
  const { order } = layer;
  const at = layer.at(index);
  const slots = layer.slotsAt(index, 2);
  const newest = weightAt(slots, at, clock);
  const second = (1 - newest) * weightAt(layer.slotsAt(index, 1), at, clock);
  const oldest = 1 - newest - second;
  if (newest <= second && newest <= oldest) {
    order.remove(index, 2);
  } else if (second < oldest) {
    // The newest then lies over the oldest, of which it leaves as much as both show now.
    const left = (1 - newest) / ((1 - slots[at + SLOT_FROM]) * slots[at + SLOT_FADE_RATE]);
    const done = newest / (oldest + newest);
    const rate = (1 - done) / left;
    // As one that began from nothing, which is how fades are saved.
    slots[at + SLOT_FROM] = 0;
    slots[at + SLOT_FADE_START] = clock - done / rate;
    slots[at + SLOT_FADE_RATE] = rate;
    order.remove(index, 1);
  } else {
    order.remove(index, 0);
  }
}
