import { FADE_CODES, ID_BITS, ID_MASK, LIST_TEXELS } from '../constants.js';
import { InstanceTexture } from '../instances/InstanceTexture.js';

/** Instances in a texel. */
const PER_TEXEL = 4;

/** Lists of fewer instances share textures of so many texels: many small crowds have one bound, and uploaded, for all of them. */
export const SMALL = 256;
const SHARED_TEXELS = 1024;

/** What small lists are put into next. */
let shared: { readonly texture: InstanceTexture; used: number; users: number } | null = null;

/** Entries as textures have them, while a list is written. */
let _entries = /*@__PURE__*/ new Float32Array(0);

/** An instance, and which of its pixels are drawn, see `FADE_STEPS`, as one whole number. */
export const entryOf = (id: number, fade: number): number => id | (fade << ID_BITS);

/** Instances by the index at which they are drawn, as a texture that shaders read. */
export class InstanceList {
  readonly texture: InstanceTexture;
  /** Its numbers: ids, and behind each as a fraction which pixels of the instance are drawn, see `FADE_STEPS`. */
  readonly data: Float32Array;
  /** Where in the texture they begin. */
  readonly first: number = 0;
  /** What `assignFading` was last given. */
  entries: Uint32Array = new Uint32Array(0);
  /** How many entries it was last given. */
  private length = 0;
  private version = 0;
  /** The same by rows of a palette, and what that was made of. */
  private byRows: InstanceList | null = null;
  private readonly madeOf = { version: -1, rowOf: this.entries as ArrayLike<number>, rowsVersion: -1 };
  /** Null once it is disposed, and where it has a texture of its own. */
  private shared: typeof shared | null = null;

  /**
   * @param capacity The most instances that may be drawn.
   * @param isAlone Whether it has a texture of its own, so that `first` is 0.
   */
  constructor(
    readonly capacity: number,
    private readonly isAlone = capacity === 0 || capacity >= SMALL,
  ) {
    const texels = Math.max(1, Math.ceil(capacity / PER_TEXEL));
    if (isAlone) {
      this.texture = new InstanceTexture(texels, PER_TEXEL, Math.min(texels, LIST_TEXELS));
      this.data = this.texture.data;
      return;
    }
    if (shared === null || shared.used + texels > SHARED_TEXELS) {
      const texture = new InstanceTexture(SHARED_TEXELS, PER_TEXEL, SHARED_TEXELS);
      shared = { texture, used: 0, users: 0 };
    }
    this.shared = shared;
    this.texture = shared.texture;
    this.first = shared.used * PER_TEXEL;
    this.data = this.texture.data.subarray(this.first, this.first + texels * PER_TEXEL);
    shared.used += texels;
    shared.users++;
  }

  get(drawn: number): number {
    return this.data[drawn];
  }

  set(drawn: number, instance: number): void {
    this.data[drawn] = instance;
    this.texture.changed(Math.floor((this.first + drawn) / PER_TEXEL));
  }

  /** Replaces the first `count`. Only what differs from before is uploaded. */
  assign(ids: ArrayLike<number>, count: number): void {
    this.version++;
    this.length = count;
    this.texture.assign(ids, count, this.first);
  }

  /** The same with all instances, in order. */
  assignAll(): void {
    const { texture, data, capacity } = this;
    this.version++;
    this.length = capacity;
    for (let i = 0; i < capacity; i++) data[i] = i;
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
    this.assign(_entries, count);
  }

  /**
   * The same list by rows of a palette.
   *
   * @param rowOf The row of each instance.
   * @param rowsVersion Goes up when an instance gets another row.
   */
  rows(rowOf: ArrayLike<number>, rowsVersion: number): InstanceList {
    const { capacity, data, length, madeOf, version } = this;
    this.byRows ??= new InstanceList(capacity);
    if (madeOf.version === version && madeOf.rowOf === rowOf && madeOf.rowsVersion === rowsVersion)
      return this.byRows;
    Object.assign(madeOf, { version, rowOf, rowsVersion });
    if (_entries.length < length) _entries = new Float32Array(2 * length);
    for (let i = 0; i < length; i++) {
      const id = Math.floor(data[i]);
      _entries[i] = rowOf[id] + (data[i] - id);
    }
    this.byRows.assign(_entries, length);
    return this.byRows;
  }

  /** How many of `count` from `start` on, which stand in ascending order, are less than an id. */
  countBelow(id: number, count: number, start = 0): number {
    const { data } = this;
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

  /**
   * WebGLRenderer makes a texture that is shared again, once it draws another of its lists. WebGPURenderer may have encoded draws
   * that read it, and lets go of it with the last of them.
   */
  dispose(): void {
    this.byRows?.dispose();
    this.byRows = null;
    const own = this.shared;
    this.shared = null;
    if (this.isAlone || (own !== null && --own.users === 0)) this.texture.dispose();
    else this.texture.disposePlain();
  }
}

/** Says which instances of a crowd are drawn: shaders ask `instanceIndex()` which the drawn index stands for. */
export interface View {
  /** How many are drawn: so many of the list. */
  readonly count: number;
  readonly list: InstanceList;
  /** Where in the list the first is; 0 unless it is said. */
  readonly start?: number;
  /** Whether there are instances in the list of which only some pixels are drawn. */
  readonly isFading?: boolean;
}

/** Instances that are about to be drawn for a camera, and so have to be posed. */
export interface PoseRequest {
  /** Bit `id & 31` of word `id >> 5`: whether an instance is drawn, if it exists and is visible. */
  readonly seen: Int32Array;
  /** The level of detail of each instance, by id, with `FADING` where it is passing over to the next; null if all are at level 0. */
  readonly levels: Uint8Array | null;
  /** Poses a second at each of these; 0 for one in every frame. */
  readonly poseRates: Float32Array;
  /** Whether any of the rates is another one. */
  readonly hasPoseRates: boolean;
  /** The moment of the tracker that has had them posed, see `PoseDirtyTracker`; 0 once any of these has changed. */
  posedIn: number;
}
