import { FADE_CODES, FEW_RUNS, ID_BITS, ID_MASK, LIST_TEXELS } from '../constants.js';
import { InstanceTexture } from '../instances/InstanceTexture.js';

/** Instances in a texel. */
const PER_TEXEL = 4;

/** Entries as textures have them, while a list is written. */
let _entries = /*@__PURE__*/ new Float32Array(0);

/** An instance, and which of its pixels are drawn, see `FADE_STEPS`, as one whole number. */
export const entryOf = (id: number, fade: number): number => id | (fade << ID_BITS);

/** Instances by the index at which they are drawn, as a texture that shaders read. */
export class InstanceList {
  readonly texture: InstanceTexture;
  /** What `assignFading` was last given. */
  entries: Uint32Array = new Uint32Array(0);

  /** @param capacity The most instances that may be drawn. */
  constructor(readonly capacity: number) {
    const texels = Math.max(1, Math.ceil(capacity / PER_TEXEL));
    this.texture = new InstanceTexture(texels, PER_TEXEL, Math.min(texels, LIST_TEXELS));
  }

  /** An id, and behind it as a fraction which pixels of the instance are drawn, see `FADE_STEPS`. */
  get(drawn: number): number {
    return this.texture.data[drawn];
  }

  set(drawn: number, instance: number): void {
    this.texture.data[drawn] = instance;
    this.texture.changed(Math.floor(drawn / PER_TEXEL));
  }

  /** Replaces the first `count`. Only what differs from before is uploaded. */
  assign(ids: Uint32Array, count: number): void {
    this.texture.assign(ids, count);
  }

  /** The same with all instances, in order. */
  assignAll(): void {
    const { texture, capacity } = this;
    for (let i = 0; i < capacity; i++) texture.data[i] = i;
    texture.changedAll();
  }

  /**
   * The same with entries that say which pixels are drawn.
   *
   * @param entries See `entryOf`.
   */
  assignFading(entries: Uint32Array, count: number): void {
    if (this.entries.length === 0) this.entries = new Uint32Array(this.capacity);
    if (_entries.length < count) _entries = new Float32Array(entries.length);
    for (let i = 0; i < count; i++) {
      const entry = entries[i];
      this.entries[i] = entry;
      _entries[i] = (entry & ID_MASK) + (entry >>> ID_BITS) / FADE_CODES;
    }
    this.texture.assign(_entries, count);
  }

  /** How many of the first `count`, which stand in ascending order, are less than an id. */
  countBelow(id: number, count: number): number {
    const { data } = this.texture;
    if (count === 0 || data[count - 1] < id) return count;
    let low = 0;
    let high = count - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (data[middle] < id) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  dispose(): void {
    this.texture.dispose();
  }
}

/** Numbers of a run: its first pair, and how many there are, with `LOWER` or `UPPER` if it is of half of each pair. */
const RUN_SIZE = 2;
const LOWER = 0.25;
const UPPER = 0.5;
/** Numbers of a texel. */
const TEXEL_SIZE = 4;
/** From this share on, all between the first instance and the last are taken. */
const DENSE = 0.7;

let _runs = /*@__PURE__*/ new Float32Array(0);

/**
 * Runs of pairs of instances that follow one another, as a texture that shaders read: two runs in a texel. The instances of a pair
 * stand one above the other, in rows 0 and 1, 2 and 3 and so on: those of 2 x `perRow` instances are `perRow` pairs.
 */
export class InstanceRuns {
  /** All runs, where there are more than `FEW_RUNS`. */
  readonly texture: InstanceTexture;
  /** The runs, where there are no more. */
  readonly few = new Float32Array(FEW_RUNS * RUN_SIZE);
  count = 0;
  /** Bits of pairs whose lower instance is due, and whose upper one is. */
  private readonly halves: readonly [Int32Array, Int32Array];

  /**
   * @param capacity The most instances.
   * @param perRow Instances in a row, a power of two: no run goes past a multiple of it.
   */
  constructor(
    readonly capacity: number,
    readonly perRow: number,
  ) {
    const pairs = Math.ceil(capacity / (2 * perRow)) * perRow;
    const words = Math.ceil(pairs / 32);
    this.halves = [new Int32Array(words), new Int32Array(words)];
    const texels = Math.ceil((pairs * RUN_SIZE) / TEXEL_SIZE);
    this.texture = new InstanceTexture(texels, TEXEL_SIZE, Math.min(texels, LIST_TEXELS));
  }

  /**
   * Takes instances. Where there are few others between them, these are taken too.
   *
   * @param bits Bit `id & 31` of word `id >> 5` of each is set; `due` of them.
   * @param exact Whether all others are left out.
   */
  assign(bits: Int32Array, due: number, exact: boolean): void {
    const { perRow, halves } = this;
    const [lower, upper] = halves;
    lower.fill(0);
    upper.fill(0);
    let first = this.capacity;
    let last = 0;
    for (let word = 0; word < bits.length; word++) {
      for (let rest = bits[word]; rest !== 0; rest &= rest - 1) {
        const id = word * 32 + 31 - Math.clz32(rest & -rest);
        const pair = ((id & ~(perRow * 2 - 1)) >> 1) | (id & (perRow - 1));
        if ((id & perRow) === 0) lower[pair >> 5] |= 1 << (pair & 31);
        else upper[pair >> 5] |= 1 << (pair & 31);
        if (pair < first) first = pair;
        if (pair > last) last = pair;
      }
    }
    const span = last + 1 - first;
    if (due >= span * 2 * (exact ? 1 : DENSE)) {
      // A run in several rows is of whole ones.
      const start = first - (first % perRow);
      const isWithin = last < start + perRow;
      this.few[0] = isWithin ? first : start;
      this.few[1] = isWithin ? span : Math.ceil((last + 1 - start) / perRow) * perRow;
      this.count = 1;
      return;
    }
    if (_runs.length < lower.length * 32 * RUN_SIZE) _runs = new Float32Array(lower.length * 32 * RUN_SIZE);
    let size = 0;
    let next = -1;
    let half = 0;
    for (let word = 0; word < lower.length; word++) {
      for (let rest = lower[word] | upper[word]; rest !== 0; rest &= rest - 1) {
        const bit = rest & -rest;
        const pair = word * 32 + 31 - Math.clz32(bit);
        const part =
          !exact || (lower[word] & upper[word] & bit) !== 0 ? 0 : (lower[word] & bit) !== 0 ? LOWER : UPPER;
        if (pair === next && pair % perRow !== 0 && part === half) _runs[size - 1]++;
        else {
          half = part;
          _runs[size] = pair;
          _runs[size + 1] = 1 + part;
          size += RUN_SIZE;
        }
        next = pair + 1;
      }
    }
    this.count = size / RUN_SIZE;
    if (this.count > FEW_RUNS) this.texture.assign(_runs, size);
    else for (let i = 0; i < size; i++) this.few[i] = _runs[i];
  }

  dispose(): void {
    this.texture.dispose();
  }
}
