import { swapItems } from '../utils/swapItems.js';

/** Actions that an instance can have on a layer at once. */
export const MAX_ACTIONS = 4;

/** Bits that a slot's number takes in an order, and all of them set. */
const BITS = 2;
const MASK = 3;
/** Where the number of slots in use lies above an order, and above that the number of the slot that plays, plus 1. */
const COUNT = MAX_ACTIONS * BITS;
const CURRENT = COUNT + 4;

/** Which slots of a layer are in use for each instance, in the order in which they were started, and the last started. */
export class SlotOrder {
  /** For each instance the numbers of the slots in use, the one that was started first in the lowest bits; see above. */
  private orders: Uint16Array;

  constructor(capacity: number) {
    this.orders = new Uint16Array(capacity);
  }

  /** How many slots of an instance are in use. */
  count(index: number): number {
    return (this.orders[index] >> COUNT) & 15;
  }

  /** Number of the slot that was started first, second and so on. */
  slot(index: number, place: number): number {
    return (this.orders[index] >> (place * BITS)) & MASK;
  }

  /** Number of the slot whose clip the instance plays, -1 if none. */
  current(index: number): number {
    return (this.orders[index] >> CURRENT) - 1;
  }

  setCurrent(index: number, slot: number): void {
    this.orders[index] = (this.orders[index] & ((1 << CURRENT) - 1)) | ((slot + 1) << CURRENT);
  }

  /** Takes a slot that is not in use, as the last one. */
  add(index: number): number {
    const count = this.count(index);
    let used = 0;
    for (let place = 0; place < count; place++) used |= 1 << this.slot(index, place);
    let slot = 0;
    while (used & (1 << slot)) slot++;
    this.orders[index] += (slot << (count * BITS)) + (1 << COUNT);
    return slot;
  }

  /** Frees the slot at a place of the order. */
  remove(index: number, place: number): void {
    if (this.current(index) === this.slot(index, place)) this.setCurrent(index, -1);
    const numbers = this.orders[index];
    const order = numbers & ((1 << COUNT) - 1);
    const before = (1 << (place * BITS)) - 1;
    this.orders[index] = numbers - order + (order & before) + ((order >> BITS) & ~before) - (1 << COUNT);
  }

  /** Frees all slots of an instance. */
  clear(index: number): void {
    this.orders[index] = 0;
  }

  resize(capacity: number): void {
    const { orders } = this;
    this.orders = new Uint16Array(capacity);
    this.orders.set(orders.subarray(0, capacity));
  }

  swap(i: number, j: number): void {
    swapItems(this.orders, i, j, 1);
  }

  copy({ orders }: SlotOrder): void {
    this.orders.set(orders.subarray(0, this.orders.length));
  }
}
