import { resized } from '../utils/attributes.js';
import type { InstanceData } from './InstanceData.js';

const wordsFor = (capacity: number): number => Math.max(1, Math.ceil(capacity / 32));

/**
 * Which instances exist, and which of them are visible. An instance is known by its id, which is its index in everything else
 * that instances have. Ids from 0 to `count - 1` exist, but for those that were deleted; these are given out again.
 */
export class InstanceVisibility implements InstanceData {
  /** Bit `id & 31` of word `id >> 5`: whether an instance exists and is visible; views list no others, see `listSeen`. Another array after `resize`. */
  bits: Uint32Array;
  /** Grows with each change. */
  version = 0;
  /** Also of ids from `count` on: they are visible again once they exist, but until then may be exchanged with others. */
  private hidden: Uint32Array;
  /** Only ids below `count` are deleted. */
  private deleted: Uint32Array;
  private deletedCount = 0;
  private drawn: number;
  private used: number;
  /** No id below this one is deleted. */
  private lowest = 0;

  /** All ids that there is room for exist to begin with. */
  constructor(private size: number) {
    this.bits = new Uint32Array(wordsFor(size));
    this.hidden = new Uint32Array(wordsFor(size));
    this.deleted = new Uint32Array(wordsFor(size));
    this.used = this.drawn = size;
    for (let id = 0; id < size; id++) setBit(this.bits, id, true);
  }

  /** Ids that there is room for. */
  get capacity(): number {
    return this.size;
  }

  /** One more than the last id that may exist. */
  get count(): number {
    return this.used;
  }

  /** Instances that exist. */
  get existing(): number {
    return this.used - this.deletedCount;
  }

  /** Whether nobody is deleted or hidden. */
  get allDrawn(): boolean {
    return this.drawn === this.used;
  }

  /** Whether there is room for an instance, which was not deleted. A crowd that was made without any has none, but room for one. */
  has(id: number): boolean {
    return (
      id >>> 0 === id &&
      id < this.size &&
      (this.deletedCount === 0 || !hasBit(this.deleted, id)) &&
      this.size + this.used > 1
    );
  }

  /** Whether an instance exists and is visible. */
  isDrawn(id: number): boolean {
    return hasBit(this.bits, id);
  }

  /** Whether an instance is visible, so far as it exists. */
  isVisible(id: number): boolean {
    return !hasBit(this.hidden, id);
  }

  /** Whether an instance existed, and does so no more. */
  isDeleted(id: number): boolean {
    return this.deletedCount > 0 && hasBit(this.deleted, id);
  }

  /** Returns whether it was otherwise before. */
  setVisible(id: number, visible: boolean): boolean {
    if (this.isVisible(id) === visible) return false;
    setBit(this.hidden, id, !visible);
    if (id < this.used && !this.isDeleted(id)) this.setDrawn(id, visible);
    return true;
  }

  /** Lets an instance exist no more, so that its id can be given out again. */
  delete(id: number): void {
    if (id >= this.used || this.isDeleted(id)) return;
    setBit(this.deleted, id, true);
    setBit(this.hidden, id, false);
    this.deletedCount++;
    this.lowest = Math.min(this.lowest, id);
    if (this.isDrawn(id)) this.setDrawn(id, false);
    else this.version++;
  }

  /** Lets a deleted instance exist again, visible. */
  restore(id: number): void {
    if (!this.isDeleted(id)) return;
    setBit(this.deleted, id, false);
    this.deletedCount--;
    this.setDrawn(id, true);
  }

  /** The lowest id that was deleted; -1 if none was. */
  lowestDeleted(): number {
    if (this.deletedCount === 0) return -1;
    let word = this.lowest >> 5;
    while (this.deleted[word] === 0) word++;
    const bits = this.deleted[word];
    this.lowest = word * 32 + 31 - Math.clz32(bits & -bits);
    return this.lowest;
  }

  /**
   * Lets ids from `count` on exist no more, or those below it exist again, all of them visible. None that exists no more then
   * may be deleted: call `restore` before.
   */
  setCount(count: number): void {
    const before = this.used;
    if (count === before) return;
    this.used = count;
    for (let id = count; id < before; id++) if (this.isDrawn(id)) this.setDrawn(id, false);
    for (let id = before; id < count; id++) {
      setBit(this.hidden, id, false);
      this.setDrawn(id, true);
    }
    this.version++;
  }

  /** There is room for all that exist, or another's instances are about to take their places. */
  resize(capacity: number): void {
    const words = wordsFor(capacity);
    this.bits = resized(this.bits, words);
    this.hidden = resized(this.hidden, words);
    this.deleted = resized(this.deleted, words);
    this.size = capacity;
    this.used = Math.min(this.used, capacity);
    this.recount();
  }

  /** Neither of the two is deleted. */
  swap(i: number, j: number): void {
    const visible = this.isVisible(i);
    this.setVisible(i, this.isVisible(j));
    this.setVisible(j, visible);
  }

  reset(id: number): void {
    this.setVisible(id, true);
  }

  copy(source: InstanceVisibility): void {
    this.bits.set(source.bits);
    this.hidden.set(source.hidden);
    this.deleted.set(source.deleted);
    this.used = source.used;
    this.recount();
  }

  private setDrawn(id: number, drawn: boolean): void {
    setBit(this.bits, id, drawn);
    this.drawn += drawn ? 1 : -1;
    this.version++;
  }

  private recount(): void {
    this.drawn = ones(this.bits);
    this.deletedCount = ones(this.deleted);
    this.lowest = 0;
    this.version++;
  }
}

function hasBit(bits: Uint32Array, id: number): boolean {
  return (bits[id >> 5] & (1 << (id & 31))) !== 0;
}

function setBit(bits: Uint32Array, id: number, on: boolean): void {
  if (on) bits[id >> 5] |= 1 << (id & 31);
  else bits[id >> 5] &= ~(1 << (id & 31));
}

function ones(bits: Uint32Array): number {
  let count = 0;
  for (let word of bits) for (; word !== 0; word &= word - 1) count++;
  return count;
}
