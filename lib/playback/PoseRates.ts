import { swapItems } from '../utils/swapItems.js';

/** The golden ratio less 1: its multiples lie as evenly between whole numbers as any. */
const GOLDEN = 0.6180339887498949;

/** Where in the time between two poses an instance's own lies, 0 to 1: instances of one rate are spread evenly over frames. */
export const phaseOf = (index: number): number => Math.fround((index * GOLDEN) % 1);

/** How many poses each instance is to have each second; 0 for one in every frame. */
export class PoseRates {
  /** Whether any instance ever had another rate than that of the frames. */
  inUse = false;
  /** Seconds since the beginning at which what an instance plays last changed. */
  changedAt: Float64Array;
  private rates: Float32Array;

  constructor(capacity: number) {
    this.rates = new Float32Array(capacity);
    this.changedAt = new Float64Array(capacity);
  }

  get(index: number): number {
    return this.rates[index];
  }

  set(index: number, rate: number): void {
    this.rates[index] = rate;
    this.inUse ||= rate > 0;
  }

  /**
   * Whether an instance has changed since it was posed, or it is time for its next pose. Twin of `isStale` in TSL.
   *
   * @param posedAt Seconds of the clock in the present epoch, and `clock` now, as numbers of 32 bits.
   * @param origin When the epoch began.
   * @param levelRate Poses a second at the level of detail at which it is drawn; the lower of both rates holds.
   */
  isDue(index: number, posedAt: number, clock: number, origin: number, levelRate: number): boolean {
    const own = this.rates[index];
    const rate = own > 0 && levelRate > 0 ? Math.min(own, levelRate) : Math.max(own, levelRate);
    if (rate === 0 || this.changedAt[index] - origin >= posedAt) return true;
    const phase = phaseOf(index);
    return Math.floor(clock * rate + phase) !== Math.floor(posedAt * rate + phase);
  }

  resize(capacity: number): void {
    const { rates, changedAt } = this;
    this.rates = new Float32Array(capacity);
    this.rates.set(rates.subarray(0, capacity));
    this.changedAt = new Float64Array(capacity);
    this.changedAt.set(changedAt.subarray(0, capacity));
  }

  swap(i: number, j: number): void {
    swapItems(this.rates, i, j, 1);
  }

  copy({ rates, inUse }: PoseRates): void {
    this.inUse ||= inUse;
    this.rates.set(rates.subarray(0, this.rates.length));
  }
}
