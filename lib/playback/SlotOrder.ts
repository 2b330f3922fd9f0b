import { swapItems } from '../utils/swapItems.js';

/** Actions that an instance can have on a layer at once. */
export const MAX_ACTIONS = 4;

/** Bits that a slot's number takes, and all of them set. */
const BITS = 2;
const MASK = 3;

/** Which slots of a layer are in use for each instance, in the order in which they were started, and the last started. */
export class SlotOrder {
  private counts: Uint8Array;
  /** Numbers of the slots in use, the one that was started first in the lowest bits. */
  private orders: Uint8Array;
  /** Number of the slot that plays, plus 1; 0 for none. */
  private currents: Uint8Array;

  constructor(capacity: number) {
    this.counts = new Uint8Array(capacity);
    this.orders = new Uint8Array(capacity);
    this.currents = new Uint8Array(capacity);
  }

  /** How many slots of an instance are in use. */
  count(index: number): number {
    return this.counts[index];
  }

  /** Number of the slot that was started first, second and so on. */
  slot(index: number, place: number): number {
    return (this.orders[index] >> (place * BITS)) & MASK;
  }

  /** Number of the slot whose clip the instance plays, -1 if none. */
  current(index: number): number {
    return this.currents[index] - 1;
  }

  setCurrent(index: number, slot: number): void {
    this.currents[index] = slot + 1;
  }

  /** Takes a slot that is not in use, as the last one. */
  add(index: number): number {
    const count = this.counts[index];
    let slot = 0;
    for (let place = 0; place < count; place++) {
      if (this.slot(index, place) !== slot) continue;
      slot++;
      place = -1;
    }
    this.orders[index] |= slot << (count * BITS);
    this.counts[index] = count + 1;
    return slot;
  }

  /** Frees the slot at a place of the order. */
  remove(index: number, place: number): void {
    if (this.current(index) === this.slot(index, place)) this.currents[index] = 0;
    const order = this.orders[index];
    const before = (1 << (place * BITS)) - 1;
    this.orders[index] = (order & before) | ((order >> BITS) & ~before);
    this.counts[index]--;
  }

  /** Frees all slots of an instance. */
  clear(index: number): void {
    this.counts[index] = this.orders[index] = this.currents[index] = 0;
  }

  resize(capacity: number): void {
    this.counts = resized(this.counts, capacity);
    this.orders = resized(this.orders, capacity);
    this.currents = resized(this.currents, capacity);
  }

  swap(i: number, j: number): void {
    for (const numbers of [this.counts, this.orders, this.currents]) swapItems(numbers, i, j, 1);
  }

  copy({ counts, orders, currents }: SlotOrder): void {
    const { length } = this.counts;
    this.counts.set(counts.subarray(0, length));
    this.orders.set(orders.subarray(0, length));
    this.currents.set(currents.subarray(0, length));
  }
}

function resized(numbers: Uint8Array, capacity: number): Uint8Array {
  const other = new Uint8Array(capacity);
  other.set(numbers.subarray(0, capacity));
  return other;
}
