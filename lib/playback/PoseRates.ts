import { swapItems } from '../utils/swapItems.js';
import { HEADER_PHASE, HEADER_RATE } from './instanceLayout.js';

/** The golden ratio less 1: its multiples lie as evenly between whole numbers as any. */
const GOLDEN = 0.6180339887498949;

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

  /** Writes what the header of an instance says of it. Instances of one rate are spread evenly over the frames between. */
  write(index: number, out: Float32Array, to: number): void {
    out[to + HEADER_RATE] = this.rates[index];
    out[to + HEADER_PHASE] = (index * GOLDEN) % 1;
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
