import { swapItems } from '../utils/swapItems.js';

/** How many poses each instance is to have each second; 0 for one in every frame. */
export class PoseRates {
  /** Whether any instance ever had another rate than that of the frames. */
  inUse = false;
  private rates: Float32Array;

  constructor(capacity: number) {
    this.rates = new Float32Array(capacity);
  }

  get(index: number): number {
    return this.rates[index];
  }

  set(index: number, rate: number): void {
    this.rates[index] = rate;
    this.inUse ||= rate > 0;
  }

  resize(capacity: number): void {
    const { rates } = this;
    this.rates = new Float32Array(capacity);
    this.rates.set(rates.subarray(0, capacity));
  }

  swap(i: number, j: number): void {
    swapItems(this.rates, i, j, 1);
  }

  copy({ rates, inUse }: PoseRates): void {
    this.inUse ||= inUse;
    this.rates.set(rates.subarray(0, this.rates.length));
  }
}
