import type { ClipTable } from '../poses/ClipTable.js';
import { swapItems } from '../utils/swapItems.js';
import { changeClip } from './changeClip.js';
import { settle } from './changeSlot.js';
import { fadeOutNewest } from './fades.js';
import {
  clearSlot,
  fadingShare,
  SLOT_FADE,
  SLOT_FADE_RATE,
  SLOT_SIZE,
  type Slots,
  shiftSlot,
  standsStill,
} from './slots.js';

/** Slots of an instance: the clip it plays, and two that it may be fading out of. */
export const SLOT_COUNT_PER_LAYER = 3;

/**
 * The slots of all instances on one layer, the newest of each first. Slots that fade out take memory only once something
 * fades.
 */
export class LayerSlots {
  /** An array for each slot in use, with that slot of every instance; `at(index)` is where an instance's is in any. */
  readonly slots: Slots[] = [];

  constructor(private capacity: number) {
    this.slots.push(emptySlots(capacity));
  }

  /** The slot of each instance that was started last. */
  get newest(): Slots {
    return this.slots[0];
  }

  at(index: number): number {
    return index * SLOT_SIZE;
  }

  /** Whether an instance has slots that fade out, or did until just now. */
  hasFades(index: number): boolean {
    return this.newest[this.at(index) + SLOT_FADE_RATE] !== 0;
  }

  /** Whether anything about an instance changes with the clock. */
  isMoving(index: number): boolean {
    return !standsStill(this.newest, this.at(index)) || this.hasFades(index);
  }

  /** How many of an instance's slots show. */
  countShown(index: number, clock: number): number {
    const at = this.at(index);
    if (fadingShare(this.newest, at, clock) === 0) return 1;
    return fadingShare(this.slots[1], at, clock) === 0 ? 2 : 3;
  }

  /** Share of what an instance shows that a slot has. */
  weightOf(index: number, slot: number, clock: number): number {
    const at = this.at(index);
    const share = fadingShare(this.newest, at, clock);
    if (slot === 0) return 1 - share;
    const oldest = fadingShare(this.slots[1], at, clock);
    return share * (slot === 1 ? 1 - oldest : oldest);
  }

  /**
   * How much a slot's warp counts: of the one that fades in, the square of how far the fade is from done; of the one that
   * fades out under it, the square of how much of it is done.
   */
  easeOf(index: number, slot: number, clock: number): number {
    if (slot > 1) return 0;
    const share = fadingShare(this.newest, this.at(index), clock);
    return (slot === 0 ? share : 1 - share) ** 2;
  }

  /**
   * Empties the newest slot of an instance for a clip that takes its place.
   *
   * @param fade Seconds in which what shows now fades out.
   */
  makeRoom(index: number, clock: number, fade: number): void {
    const at = this.at(index);
    if (fade === 0) {
      clearSlot(this.newest, at);
      return;
    }
    const [newest, second, oldest] = this.needFades();
    fadeOutNewest(newest, second, oldest, at, clock);
    clearSlot(newest, at);
    newest[at + SLOT_FADE_RATE] = 1 / fade;
    newest[at + SLOT_FADE] = 1 + clock / fade;
  }

  /** Lets an instance's slots count anew from where they are at `clock`. */
  settle(index: number, clock: number): void {
    const count = this.hasFades(index) ? SLOT_COUNT_PER_LAYER : 1;
    for (let slot = 0; slot < count; slot++) {
      settle(this.slots[slot], this.at(index), clock, this.easeOf(index, slot, clock));
    }
  }

  /** Moves an instance's times by so many seconds of the clock. */
  shift(index: number, seconds: number): void {
    const count = this.hasFades(index) ? SLOT_COUNT_PER_LAYER : 1;
    for (let slot = 0; slot < count; slot++) shiftSlot(this.slots[slot], this.at(index), seconds);
  }

  /** Ends the fade of an instance if it is done. */
  endFade(index: number, clock: number): void {
    const { newest } = this;
    const at = this.at(index);
    if (!this.hasFades(index) || fadingShare(newest, at, clock) > 0) return;
    newest[at + SLOT_FADE] = 0;
    newest[at + SLOT_FADE_RATE] = 0;
  }

  /** Lets an instance go on in the clips of the same names of another table, see `changeClip`. */
  changeClips(index: number, clock: number, before: ClipTable, after: ClipTable, lost: Set<string>): void {
    this.endFade(index, clock);
    const count = this.countShown(index, clock);
    for (let slot = 0; slot < count; slot++) {
      const ease = this.easeOf(index, slot, clock);
      changeClip(this.slots[slot], this.at(index), ease, before, after, lost);
    }
  }

  /** The arrays of all slots, those that fade out included. */
  needFades(): Slots[] {
    while (this.slots.length < SLOT_COUNT_PER_LAYER) this.slots.push(emptySlots(this.capacity));
    return this.slots;
  }

  resize(capacity: number): void {
    const kept = this.slots.splice(0);
    this.capacity = capacity;
    for (const slots of kept) {
      const resized = emptySlots(capacity);
      resized.set(slots.subarray(0, capacity * SLOT_SIZE));
      this.slots.push(resized);
    }
  }

  swap(i: number, j: number): void {
    for (const slots of this.slots) swapItems(slots, i, j, SLOT_SIZE);
  }

  copy(source: LayerSlots): void {
    if (source.slots.length > 1) this.needFades();
    source.slots.forEach((slots, i) => {
      this.slots[i].set(slots.subarray(0, this.capacity * SLOT_SIZE));
    });
  }
}

function emptySlots(capacity: number): Slots {
  const slots = new Float64Array(capacity * SLOT_SIZE);
  for (let i = 0; i < capacity; i++) clearSlot(slots, i * SLOT_SIZE);
  return slots;
}
