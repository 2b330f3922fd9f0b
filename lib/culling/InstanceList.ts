import { FADE_CODES, ID_BITS, ID_MASK, LIST_TEXELS } from '../constants.js';
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

  /** How many of `count` from `start` on, which stand in ascending order, are less than an id. */
  countBelow(id: number, count: number, start = 0): number {
    const { data } = this.texture;
    if (count === 0 || data[start + count - 1] < id) return count;
    let low = start;
    let high = start + count - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (data[middle] < id) low = middle + 1;
      else high = middle;
    }
    return low - start;
  }

  dispose(): void {
    this.texture.dispose();
  }
}
