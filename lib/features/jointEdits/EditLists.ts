import {
  EDIT_KIND,
  EDIT_NODE,
  EDIT_SLOT,
  EDIT_STRIDE,
  EDITS_PER_ROW,
  KIND_LOOK_AT,
  KIND_MODEL,
} from '../../../shaders/editLayout.js';
import { copyItem, InstanceTexture } from '../../instances/InstanceTexture.js';
import { resized, swapItems } from '../../utils/attributes.js';

/** Numbers that are kept of each instance: its block, and how many edits of either sort are in it. */
const LIST = 4;
const FIRST = 0;
const SIZE = 1;
const LOCALS = 2;
const MODELS = 3;

/**
 * The edits of each instance: first those of local transforms, then those of matrices relative to the root. Each of the two
 * is sorted by node, so that whoever walks down the nodes meets its edits in their order. A node has at most one of each kind
 * by hand, and one among the proportions.
 */
export class EditLists {
  /** The edits; of those that look at something, further x, y, z of the target in the crowd's space: the texture has it relative to the instance. */
  readonly pool: ItemPool = new ItemPool(EDITS_PER_ROW, EDIT_STRIDE, 3);
  /** How many edits look at something. */
  lookAts = 0;
  private lists: Int32Array;

  constructor(private capacity: number) {
    this.lists = new Int32Array(capacity * LIST);
  }

  /** An instance's first edit. */
  first(index: number): number {
    return this.lists[index * LIST + FIRST];
  }

  /** How many edits of local transforms an instance has. */
  locals(index: number): number {
    return this.lists[index * LIST + LOCALS];
  }

  /** How many edits of matrices relative to the root it has, which come after those. */
  models(index: number): number {
    return this.lists[index * LIST + MODELS];
  }

  /**
   * Gives an instance an edit; one of the same node, kind and slot makes way.
   *
   * @param edit Its `EDIT_STRIDE` numbers.
   * @returns Where among all edits it is now.
   */
  set(index: number, edit: ArrayLike<number>): number {
    const { pool } = this;
    const before = this.find(index, keyOf(edit, 0));
    let place = before;
    if (before >= 0 && isModel(pool.data, before * EDIT_STRIDE) !== isModel(edit, 0)) {
      this.removeAt(index, before);
      place = -1;
    }
    if (place < 0) place = this.insert(index, keyOf(edit, 0), isModel(edit, 0));
    else this.lookAts -= looksAt(pool.data, place * EDIT_STRIDE);
    this.lookAts += looksAt(edit, 0);
    for (let i = 0; i < EDIT_STRIDE; i++) pool.data[place * EDIT_STRIDE + i] = edit[i];
    pool.texture.changed(place);
    return place;
  }

  /** Takes the edit of a kind and slot from a node. Returns whether there was one. */
  remove(index: number, node: number, kind: number, slot: number): boolean {
    const place = this.find(index, keyOfNode(node, kind, slot));
    if (place < 0) return false;
    this.removeAt(index, place);
    return true;
  }

  /** Whether an instance has this edit, with these very numbers. */
  holds(index: number, edit: ArrayLike<number>): boolean {
    const { data } = this.pool;
    const place = this.find(index, keyOf(edit, 0));
    if (place < 0) return false;
    for (let i = 0; i < EDIT_STRIDE; i++) if (data[place * EDIT_STRIDE + i] !== edit[i]) return false;
    return true;
  }

  /** Takes the edits of a node and slot from an instance; where one is left out, those of all. Returns whether there was one. */
  clear(index: number, node?: number, slot?: number): boolean {
    const { data } = this.pool;
    let found = false;
    for (let i = this.count(index) - 1; i >= 0; i--) {
      const place = this.first(index) + i;
      if (node !== undefined && data[place * EDIT_STRIDE + EDIT_NODE] !== node) continue;
      if (slot !== undefined && data[place * EDIT_STRIDE + EDIT_SLOT] !== slot) continue;
      this.removeAt(index, place);
      found = true;
    }
    return found;
  }

  resize(capacity: number): void {
    for (let i = capacity; i < this.capacity; i++) this.clear(i);
    this.capacity = capacity;
    this.lists = resized(this.lists, capacity * LIST);
  }

  swap(i: number, j: number): void {
    swapItems(this.lists, i, j, LIST);
  }

  /**
   * Gives an instance the edits of one in other lists.
   *
   * @param nodeOf Node here of each node there; below zero for none.
   */
  copyFrom(source: EditLists, index: number, nodeOf: (node: number) => number): void {
    const edit = new Float32Array(EDIT_STRIDE);
    this.clear(index);
    const first = source.first(index);
    for (let place = first; place < first + source.count(index); place++) {
      edit.set(source.pool.data.subarray(place * EDIT_STRIDE, (place + 1) * EDIT_STRIDE));
      edit[EDIT_NODE] = nodeOf(edit[EDIT_NODE]);
      if (edit[EDIT_NODE] < 0) continue;
      const to = this.set(index, edit);
      this.pool.numbers.set(source.pool.numbers.subarray(place * 3, place * 3 + 3), to * 3);
    }
  }

  private count(index: number): number {
    return this.locals(index) + this.models(index);
  }

  /** Where the edit of a node, kind and slot is; -1 if there is none. */
  private find(index: number, key: number): number {
    const { data } = this.pool;
    const first = this.first(index);
    const end = first + this.count(index);
    for (let place = first; place < end; place++) if (keyOf(data, place * EDIT_STRIDE) === key) return place;
    return -1;
  }

  /** Makes room for an edit, and returns where. */
  private insert(index: number, key: number, model: boolean): number {
    const { pool, lists } = this;
    const at = index * LIST;
    const count = this.count(index);
    const size = lists[at + SIZE];
    if (count === size) {
      const larger = Math.max(1, size * 2);
      const moved = pool.take(larger);
      for (let i = 0; i < count; i++) pool.copy(lists[at + FIRST] + i, moved + i);
      if (size > 0) pool.give(lists[at + FIRST], size);
      lists[at + FIRST] = moved;
      lists[at + SIZE] = larger;
    }
    const first = lists[at + FIRST];
    let place = first + (model ? lists[at + LOCALS] : 0);
    const end = first + (model ? count : lists[at + LOCALS]);
    while (place < end && keyOf(pool.data, place * EDIT_STRIDE) < key) place++;
    for (let i = first + count; i > place; i--) pool.copy(i - 1, i);
    lists[at + (model ? MODELS : LOCALS)]++;
    return place;
  }

  private removeAt(index: number, place: number): void {
    const { pool, lists } = this;
    const at = index * LIST;
    this.lookAts -= looksAt(pool.data, place * EDIT_STRIDE);
    lists[at + (isModel(pool.data, place * EDIT_STRIDE) ? MODELS : LOCALS)]--;
    const last = lists[at + FIRST] + this.count(index);
    for (let i = place; i < last; i++) pool.copy(i + 1, i);
    if (this.count(index) > 0) return;
    pool.give(lists[at + FIRST], lists[at + SIZE]);
    lists[at + FIRST] = lists[at + SIZE] = 0;
  }
}

/** What a kind changes, without its bits. */
const PROPERTY = 3;

const keyOfNode = (node: number, kind: number, slot: number): number => node * 8 + slot * 4 + kind;

const keyOf = (edit: ArrayLike<number>, at: number): number =>
  keyOfNode(edit[at + EDIT_NODE], edit[at + EDIT_KIND] & PROPERTY, edit[at + EDIT_SLOT]);

const isModel = (edit: ArrayLike<number>, at: number): boolean => edit[at + EDIT_KIND] >= KIND_MODEL;

const looksAt = (edit: ArrayLike<number>, at: number): number =>
  (edit[at + EDIT_KIND] & PROPERTY) === KIND_LOOK_AT ? 1 : 0;

/**
 * Items of all instances in one texture. Each instance that has any has a block of them, whose size is a power of two; a block that is
 * given back goes to the next that asks for its size.
 */
export class ItemPool {
  texture: InstanceTexture;
  /** Further numbers of each item, which shaders do not read. */
  numbers: Float64Array;
  /** Items of blocks that are in use. */
  held = 0;
  private used = 0;
  /** Blocks that were given back, by the exponent of their size. */
  private readonly free: number[][] = [];

  /**
   * @param stride Numbers of an item in the texture.
   * @param further How many further ones it has.
   */
  constructor(
    perRow: number,
    readonly stride: number,
    readonly further: number,
  ) {
    this.texture = new InstanceTexture(perRow, stride, perRow);
    this.numbers = new Float64Array(perRow * further);
  }

  /** Where the items' numbers are, `stride` each. */
  get data(): Float32Array {
    return this.texture.data;
  }

  /** Takes a block of so many items, a power of two. Returns its first. */
  take(size: number): number {
    this.held += size;
    const again = this.free[Math.log2(size)]?.pop();
    if (again !== undefined) return again;
    const first = this.used;
    this.used += size;
    while (this.used * this.further > this.numbers.length) this.grow();
    return first;
  }

  /** Gives a block back. */
  give(first: number, size: number): void {
    const exponent = Math.log2(size);
    this.free[exponent] ??= [];
    this.free[exponent].push(first);
    this.held -= size;
  }

  /** Copies an item to another place. */
  copy(from: number, to: number): void {
    const { texture, numbers, further } = this;
    copyItem(texture, from, to);
    numbers.copyWithin(to * further, from * further, (from + 1) * further);
  }

  private grow(): void {
    const { texture, numbers, further, stride } = this;
    this.numbers = resized(numbers, numbers.length * 2);
    this.texture = new InstanceTexture(this.numbers.length / further, stride, texture.perRow);
    this.texture.data.set(texture.data);
    texture.dispose();
  }
}
