import type { BoneTexture } from '../texture/BoneTexture.js';

/** What a renderer's palette was made of. */
export interface PosedState {
  clock: number;
  /** What the clock is relative to: it goes back to zero now and then. */
  origin: number;
  version: number;
  edits: number;
  boneTexture: BoneTexture;
}

/** Which rows of a renderer's palette hold the pose of the moment. */
export class PosedRows implements PosedState {
  clock = 0;
  origin = 0;
  version = -1;
  edits = -1;
  boneTexture: BoneTexture;
  /** The clock before it was last moved. */
  lastClock = 0;
  /** How many instances were posed at this moment. */
  count = 0;
  /** Of the instances that are to be posed next: those with a pose from the moment before, and those without. */
  readonly kept: Uint32Array;
  readonly fresh: Uint32Array;
  keptCount = 0;
  freshCount = 0;

  private posed: Uint32Array;
  private before: Uint32Array;

  constructor(
    readonly capacity: number,
    boneTexture: BoneTexture,
  ) {
    this.boneTexture = boneTexture;
    const words = Math.ceil(capacity / 32);
    this.kept = new Uint32Array(words);
    this.fresh = new Uint32Array(words);
    this.posed = new Uint32Array(words);
    this.before = new Uint32Array(words);
  }

  /** Whether the palette holds poses of that moment. */
  isAt({ clock, version, edits, boneTexture }: PosedState): boolean {
    return (
      this.clock === clock &&
      this.version === version &&
      this.edits === edits &&
      this.boneTexture === boneTexture
    );
  }

  /**
   * Goes on to another moment, at which nobody is posed yet.
   *
   * @param keeps Whether rows that were posed at the moment before may stay as they are for a while.
   */
  moveTo(state: PosedState, keeps: boolean): void {
    const { posed, before, clock } = this;
    this.before = posed;
    this.posed = before;
    before.fill(0);
    if (!keeps) posed.fill(0);
    Object.assign(this, state);
    this.lastClock = clock;
    this.count = 0;
  }

  /** Forgets what was posed. */
  clear(): void {
    this.posed.fill(0);
    this.before.fill(0);
  }

  /**
   * Finds out which of the instances that are wanted are not posed yet, into `kept` and `fresh`, and takes it that they are now.
   *
   * @param wanted Null for the first `count`.
   * @param drawn Only these of `wanted` count.
   * @returns How many there are.
   */
  take(wanted: Uint32Array | null, drawn: Uint32Array, count: number): number {
    const { kept, fresh, posed, before } = this;
    this.keptCount = this.freshCount = 0;
    for (let word = 0; word < posed.length; word++) {
      const asked = wanted === null ? firstBits(count - word * 32) : wanted[word] & drawn[word];
      const missing = asked & ~posed[word];
      kept[word] = missing & before[word];
      fresh[word] = missing & ~before[word];
      if (missing === 0) continue;
      posed[word] |= missing;
      this.keptCount += ones(kept[word]);
      this.freshCount += ones(fresh[word]);
    }
    const taken = this.keptCount + this.freshCount;
    this.count += taken;
    return taken;
  }
}

/** A word whose first bits are set. */
const firstBits = (count: number): number => (count >= 32 ? -1 : count <= 0 ? 0 : (1 << count) - 1);

/** How many bits of a word are set. */
function ones(word: number): number {
  const pairs = word - ((word >>> 1) & 0x55555555);
  const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
