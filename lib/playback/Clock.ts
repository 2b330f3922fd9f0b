import { CLOCK_EPOCH } from '../constants.js';
import { resized, swapItems } from '../utils/attributes.js';

/** The time that a crowd has in common, and that of the instances for which it stands still. It is counted in epochs, see `CLOCK_EPOCH`. */
export class Clock {
  /** Seconds since the epoch began. */
  time = 0;
  /** When it began. */
  origin = 0;
  /** Seconds by which the clock was last advanced, and how often it was. */
  step = 0;
  updates = 0;
  /** Seconds since the beginning, of instances that have a clock of their own; NaN for all others. Null while none ever had. */
  own: Float64Array | null = null;
  /** Seconds since the beginning at which an instance was paused; NaN while it is not. */
  private pausedAt: Float64Array;

  constructor(capacity: number) {
    this.pausedAt = new Float64Array(capacity).fill(Number.NaN);
  }

  /** Seconds since the beginning. */
  get elapsed(): number {
    return this.origin + this.time;
  }

  /** Number of the epoch. */
  get epoch(): number {
    return this.origin / CLOCK_EPOCH;
  }

  advance(delta: number): void {
    this.time += delta;
    if (Math.abs(this.time) >= CLOCK_EPOCH) {
      const epochs = Math.trunc(this.time / CLOCK_EPOCH) * CLOCK_EPOCH;
      this.origin += epochs;
      this.time -= epochs;
    }
    this.step = delta;
    this.updates++;
  }

  isPaused(index: number): boolean {
    return !Number.isNaN(this.pausedAt[index]);
  }

  /** Lets an instance's time stand still. */
  pause(index: number): void {
    this.pausedAt[index] = this.timeOf(index);
  }

  /**
   * Lets an instance's time go on.
   *
   * @returns Seconds that have passed meanwhile.
   */
  resume(index: number): number {
    const missed = this.elapsed - this.pausedAt[index];
    this.pausedAt[index] = Number.NaN;
    if (this.hasOwn(index)) this.setOwn(index, this.elapsed);
    return missed;
  }

  /** Whether an instance has a clock of its own. */
  hasOwn(index: number): boolean {
    return this.own !== null && !Number.isNaN(this.own[index] ?? Number.NaN);
  }

  setOwn(index: number, time: number): void {
    this.own ??= new Float64Array(this.pausedAt.length).fill(Number.NaN);
    this.own[index] = time;
  }

  /** Seconds since the beginning for an instance, by its own clock if it has one; for one that is paused, until it was. */
  timeOf(index: number): number {
    if (this.isPaused(index)) return this.pausedAt[index];
    return this.hasOwn(index) ? (this.own as Float64Array)[index] : this.elapsed;
  }

  resize(capacity: number): void {
    this.pausedAt = resized(this.pausedAt, capacity, Number.NaN);
    if (this.own !== null) this.own = resized(this.own, capacity, Number.NaN);
  }

  swap(i: number, j: number): void {
    swapItems(this.pausedAt, i, j, 1);
    if (this.own !== null) swapItems(this.own, i, j, 1);
  }

  /** Lets an instance go by the crowd's clock. */
  reset(index: number): void {
    this.pausedAt[index] = Number.NaN;
    if (this.own !== null) this.own[index] = Number.NaN;
  }

  copy(source: Clock): void {
    this.time = source.time;
    this.origin = source.origin;
    this.own?.fill(Number.NaN);
    this.pausedAt.set(source.pausedAt.subarray(0, this.pausedAt.length));
  }
}
