import type { ClipTable } from '../poses/ClipTable.js';
import { swapItems } from '../utils/swapItems.js';
import { changeClip } from './changeClip.js';
import { settle } from './changeSlot.js';
import { locate, type Place, totalAt } from './loops.js';
import { MAX_ACTIONS, SlotOrder } from './SlotOrder.js';
import {
  clearSlot,
  FADING_OUT,
  fadeTo,
  hasBit,
  hasMoved,
  SLOT_FADE_RATE,
  SLOT_SIZE,
  SLOT_START,
  SLOT_STARTED,
  SLOT_TO,
  type Slots,
  shiftSlot,
  standsStill,
} from './slots.js';

const _place: Place = { pass: 0, within: 0, finished: false };

/** How the weights of an instance's slots follow from their fades. */
export interface Blend {
  /** Slots that an instance may have. */
  readonly maxSlots: number;
  /** Weight of the slot at a place of an instance's order. */
  weightOf(layer: LayerSlots, index: number, place: number, clock: number): number;
  /** Frees slots that have faded out. */
  endFades(layer: LayerSlots, index: number, clock: number): void;
  /**
   * Lets all slots fade out under one that will be added, and fade in from 0 to 1 in as many seconds. If there is no room
   * for it, the slot that shows least makes way.
   *
   * @param needsRoom Whether it will be added even so; the rest pose shows without a slot where there are weights.
   */
  makeWay(layer: LayerSlots, index: number, clock: number, fade: number, needsRoom: boolean): void;
}

/**
 * What all instances play on one layer: up to `MAX_ACTIONS` clips each, in the order in which they were started. The rest
 * pose can be one of them, where a fade leads to it or from it.
 */
export class LayerSlots {
  /**
   * An array for each slot that any instance has used, with that slot of every instance; `at(index)` is where an instance's
   * is in any of them.
   */
  readonly slots: Slots[] = [];
  readonly order: SlotOrder;

  /** @param blend How weights follow from fades. */
  constructor(
    private capacity: number,
    public blend: Blend,
  ) {
    this.order = new SlotOrder(capacity);
  }

  at(index: number): number {
    return index * SLOT_SIZE;
  }

  /** The slots in which the clip is that was last started on an instance; null if none was, or it was stopped. */
  current(index: number): Slots | null {
    const slot = this.order.current(index);
    return slot < 0 ? null : this.slots[slot];
  }

  /**
   * The slots of the clip that a new one takes over from: the one last started on an instance, or if its weight was set to 0,
   * the last one whose weight was not.
   */
  leading(index: number): Slots | null {
    const current = this.current(index);
    const at = this.at(index);
    if (current === null || current[at + SLOT_TO] > 0) return current;
    for (let place = this.order.count(index) - 1; place >= 0; place--) {
      const slots = this.slotsAt(index, place);
      if (slots[at + SLOT_TO] > 0 && !hasBit(slots, at, FADING_OUT)) return slots;
    }
    return current;
  }

  /** The slots at a place of an instance's order. */
  slotsAt(index: number, place: number): Slots {
    return this.slots[this.order.slot(index, place)];
  }

  /** Where the clip of a slot is. */
  locate(slots: Slots, index: number, clock: number, held: boolean, target: Place): Place {
    const at = this.at(index);
    return locate(slots, at, totalAt(slots, at, clock), held || !hasMoved(slots, at, clock), target);
  }

  /** Whether anything about an instance changes with the clock. */
  isMoving(index: number): boolean {
    const at = this.at(index);
    const count = this.order.count(index);
    for (let place = 0; place < count; place++) {
      const slots = this.slotsAt(index, place);
      if (!standsStill(slots, at) || slots[at + SLOT_FADE_RATE] !== 0) return true;
    }
    return false;
  }

  /** Whether an instance still uses a slot; a slot that was freed may have been taken again. */
  uses(index: number, slots: Slots): boolean {
    for (let place = 0; place < this.order.count(index); place++) {
      if (this.slotsAt(index, place) === slots) return true;
    }
    return false;
  }

  /** The place in an instance's order of the slot that plays a clip, -1 if none does. */
  find(index: number, start: number): number {
    const at = this.at(index);
    for (let place = this.order.count(index) - 1; place >= 0; place--) {
      if (this.slotsAt(index, place)[at + SLOT_START] === start) return place;
    }
    return -1;
  }

  /** Weight of the slot at a place of an instance's order, as `AnimationAction.getEffectiveWeight()`. */
  weightOf(index: number, place: number, clock: number): number {
    return this.blend.weightOf(this, index, place, clock);
  }

  /** Ends what is done of an instance's fades: slots that have faded out are free. */
  endFades(index: number, clock: number): void {
    this.blend.endFades(this, index, clock);
  }

  /**
   * An empty slot for a clip that takes the place of all that an instance plays.
   *
   * @param fade Seconds in which it fades in over the others.
   * @param isRest Whether the slot is to stay empty, for the rest pose.
   * @returns Null if all slots are needed for what fades out to the rest pose.
   */
  startInstead(index: number, clock: number, fade: number, isRest: boolean): Slots | null {
    if (fade === 0) {
      this.order.clear(index);
      return this.add(index);
    }
    const at = this.at(index);
    this.endFades(index, clock);
    // Where nothing plays, it is the rest pose that fades out.
    if (this.order.count(index) === 0) this.add(index);
    this.blend.makeWay(this, index, clock, fade, !isRest);
    if (this.order.count(index) === MAX_ACTIONS) {
      this.order.setCurrent(index, -1);
      return null;
    }
    const slots = this.add(index);
    slots[at + SLOT_TO] = 0;
    fadeTo(slots, at, clock, 1, fade);
    return slots;
  }

  /** Adds an empty slot behind the others and makes it the current one. */
  add(index: number): Slots {
    const slot = this.order.add(index);
    while (this.slots.length <= slot) this.slots.push(new Float64Array(this.capacity * SLOT_SIZE));
    clearSlot(this.slots[slot], this.at(index));
    this.order.setCurrent(index, slot);
    return this.slots[slot];
  }

  /**
   * Lets an instance's slots count anew from where they are at `clock`.
   *
   * @param runningOnly Whether clips that have finished just now are left as they are: root motion still has to see their
   * last frames.
   */
  settle(index: number, clock: number, runningOnly = false): void {
    const count = this.order.count(index);
    for (let place = 0; place < count; place++) {
      const slots = this.slotsAt(index, place);
      if (runningOnly && this.locate(slots, index, clock, false, _place).finished) continue;
      settle(slots, this.at(index), clock);
    }
  }

  /** Moves an instance's times by so many seconds of the clock. */
  shift(index: number, seconds: number): void {
    const count = this.order.count(index);
    for (let place = 0; place < count; place++)
      shiftSlot(this.slotsAt(index, place), this.at(index), seconds);
  }

  /** Lets an instance go on as if all it does had begun so many seconds later. */
  delay(index: number, seconds: number): void {
    this.shift(index, seconds);
    const count = this.order.count(index);
    for (let place = 0; place < count; place++) {
      this.slotsAt(index, place)[this.at(index) + SLOT_STARTED] += seconds;
    }
  }

  /** Lets an instance go on in the clips of the same names of another table, see `changeClip`. */
  changeClips(index: number, clock: number, before: ClipTable, after: ClipTable, lost: Set<string>): void {
    this.endFades(index, clock);
    const count = this.order.count(index);
    for (let place = 0; place < count; place++) {
      changeClip(this.slotsAt(index, place), this.at(index), clock, before, after, lost);
    }
  }

  resize(capacity: number): void {
    this.capacity = capacity;
    this.order.resize(capacity);
    for (let i = 0; i < this.slots.length; i++) {
      const slots = new Float64Array(capacity * SLOT_SIZE);
      slots.set(this.slots[i].subarray(0, slots.length));
      this.slots[i] = slots;
    }
  }

  swap(i: number, j: number): void {
    this.order.swap(i, j);
    for (const slots of this.slots) swapItems(slots, i, j, SLOT_SIZE);
  }

  copy(source: LayerSlots): void {
    const size = this.capacity * SLOT_SIZE;
    this.blend = source.blend;
    this.order.copy(source.order);
    source.slots.forEach((slots, i) => {
      this.slots[i] ??= new Float64Array(size);
      this.slots[i].set(slots.subarray(0, size));
    });
  }
}
