import type { BoneTexture } from '../animation/BoneTexture.js';
import type { DrawnCrowd } from '../core/Crowd.js';
import type { PoseRequest } from '../culling/InstanceList.js';

let moments = 0;

/** Of an instance that has no pose yet. */
const NEVER = -1;

/** Which instances a renderer's palette holds in the pose of the moment, and since when the others in theirs. */
export class PoseDirtyTracker {
  /** What poses are made of: the clock and the beginning of its epoch, and versions of what is played and edited. */
  private clock = 0;
  private origin = 0;
  private version = -1;
  private edits = -1;
  private boneTexture: BoneTexture | null = null;
  /** How many instances were posed at this moment. */
  count = 0;
  /** Of the instances that are to be posed next, bit `id & 31` of word `id >> 5`. */
  readonly due: Int32Array;
  dueCount = 0;

  /** Words are signed: the upper half of unsigned ones are no small integers to V8, which allocates each that a function returns. */
  private readonly posed: Int32Array;
  /** Who was asked for at this moment, how many these are, and who at the moment before: whoever comes into view is posed at once. */
  askedCount = 0;
  asked: Int32Array;
  private askedBefore: Int32Array;
  /** Seconds of the clock at which each instance was posed; not kept before instances have rates. */
  posedAt: Float32Array | null = null;
  /** The highest of the rates at which cameras want each instance posed, and when one has asked for it; not kept without rates. */
  private requestedRates: Float32Array | null = null;
  private askedAt: Float32Array | null = null;
  /** The clock before it was last moved. */
  private lastClock = 0;
  /** Another number once any pose is forgotten: whoever was asked for before need not be, by other meshes of the crowd. */
  private moment = -1;

  constructor(readonly capacity: number) {
    const words = Math.ceil(capacity / 32);
    this.due = new Int32Array(words);
    this.posed = new Int32Array(words);
    this.asked = new Int32Array(words);
    this.askedBefore = new Int32Array(words);
  }

  /**
   * Goes on to the moment at which a crowd is, where nobody is posed yet.
   *
   * @returns Whether it was at another one.
   */
  moveTo({ playback, crowd: { poseEdits, boneTexture } }: DrawnCrowd): boolean {
    const { version } = playback.texels;
    const { time: clock, origin } = playback.time;
    const edits = poseEdits?.version ?? 0;
    const isSame = origin === this.origin && boneTexture === this.boneTexture;
    if (isSame && clock === this.clock && version === this.version && edits === this.edits) return false;
    const { asked } = this;
    this.asked = this.askedBefore.fill(0);
    this.askedBefore = asked;
    this.askedCount = 0;
    // When the clock has gone back, nothing can be said of the time between.
    this.clear(isSame && clock >= this.clock);
    this.lastClock = Math.fround(this.clock);
    this.clock = clock;
    this.origin = origin;
    this.version = version;
    this.edits = edits;
    this.boneTexture = boneTexture;
    return true;
  }

  /** Forgets the pose of an instance, whose row another has taken. */
  lose = (id: number): void => {
    if (this.posedAt !== null) this.posedAt[id] = NEVER;
  };

  /** Forgets the poses of instances that were moved: bit `id & 31` of word `id >> 5`. */
  move(moved: Int32Array): void {
    const { posed, posedAt } = this;
    for (let word = 0; word < posed.length; word++) {
      const again = posed[word] & moved[word];
      posed[word] ^= again;
      this.count -= ones(again);
      if (posedAt === null) continue;
      for (let rest = moved[word]; rest !== 0; rest &= rest - 1)
        posedAt[word * 32 + 31 - Math.clz32(rest & -rest)] = NEVER;
    }
    this.moment = ++moments;
  }

  /** Forgets what was posed at this moment, and unless it `keepsTimes` when instances were posed. */
  clear(keepsTimes = false): void {
    this.posed.fill(0);
    this.count = 0;
    this.moment = ++moments;
    if (keepsTimes) return;
    this.posedAt?.fill(NEVER);
    this.askedAt?.fill(NEVER);
  }

  /** Begins to find out who has to be posed, into `due`. */
  begin(): void {
    if (this.dueCount > 0) this.due.fill(0);
    this.dueCount = 0;
  }

  /**
   * Finds out which of the instances that are wanted have to be posed, and takes it that they will be.
   *
   * @param requested Null for all.
   */
  add(requested: PoseRequest | null, crowd: DrawnCrowd): void {
    if (requested !== null) {
      if (requested.posedIn === this.moment) return;
      requested.posedIn = this.moment;
    }
    const { due, posed, capacity } = this;
    const { visibility, count } = crowd;
    const hasRates = requested?.hasPoseRates === true;
    const timed = hasRates || crowd.playback.texels.hasRates;
    if (timed) this.posedAt ??= new Float32Array(capacity).fill(NEVER);
    if (hasRates) {
      this.requestedRates ??= new Float32Array(capacity);
      this.askedAt ??= new Float32Array(capacity).fill(NEVER);
    }
    for (let word = 0; word < posed.length; word++) {
      const asked =
        requested === null ? firstBits(count - word * 32) : requested.seen[word] & visibility.bits[word];
      let missing = asked & ~posed[word];
      const known = this.asked[word];
      if ((asked & ~known) !== 0) {
        this.asked[word] = asked | known;
        this.askedCount += ones(asked & ~known);
      }
      if (timed) missing = this.timed(word, missing, requested, crowd);
      if (missing === 0) continue;
      posed[word] |= missing;
      due[word] |= missing;
      const taken = ones(missing);
      this.dueCount += taken;
      this.count += taken;
    }
  }

  /** Those of a word's instances whose poses are too old. */
  private timed(
    word: number,
    missing: number,
    requested: PoseRequest | null,
    { playback: { texels }, crowd: { poseEdits } }: DrawnCrowd,
  ): number {
    const posedAt = this.posedAt as Float32Array;
    const clock = Math.fround(this.clock);
    let old = 0;
    for (let rest = missing; rest !== 0; rest &= rest - 1) {
      const bit = rest & -rest;
      const id = word * 32 + 31 - Math.clz32(bit);
      const at = posedAt[id];
      const rate = requested?.hasPoseRates === true ? this.rateOf(id, requested, clock) : 0;
      const isNew = at === NEVER || (this.askedBefore[word] & bit) === 0;
      if (!isNew && !texels.isDue(id, at, clock, rate) && poseEdits?.changedSince(id, at) !== true) continue;
      posedAt[id] = clock;
      old |= bit;
    }
    return old;
  }

  /** How often an instance is posed for its levels: where several cameras see it, as often as the one that needs it most. */
  private rateOf(id: number, { poseRates, levels }: PoseRequest, clock: number): number {
    const rates = this.requestedRates as Float32Array;
    const askedAt = this.askedAt as Float32Array;
    const rate = poseRates[levels?.[id] ?? 0];
    const highest = rates[id];
    const isHigher = rate !== 0 && (highest === 0 || highest > rate);
    if (isHigher && askedAt[id] >= this.lastClock) return highest;
    rates[id] = rate;
    askedAt[id] = clock;
    return rate;
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
