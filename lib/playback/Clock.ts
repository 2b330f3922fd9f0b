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
  /** Seconds since the beginning, by instance, of those that have a clock of their own. */
  own: (number | undefined)[] = [];
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
    if (this.own[index] !== undefined) this.own[index] = this.elapsed;
    return missed;
  }

  /** Seconds since the beginning for an instance, by its own clock if it has one; for one that is paused, until it was. */
  timeOf(index: number): number {
    if (this.isPaused(index)) return this.pausedAt[index];
    return this.own[index] ?? this.elapsed;
  }

  resize(capacity: number): void {
    this.pausedAt = resized(this.pausedAt, capacity, Number.NaN);
    this.own.length = Math.min(this.own.length, capacity);
  }

  swap(i: number, j: number): void {
    const { own } = this;
    swapItems(this.pausedAt, i, j, 1);
    if (own.length > 0) [own[i], own[j]] = [own[j], own[i]];
  }

  /** An instance begins anew. */
  reset(index: number): void {
    this.pausedAt[index] = Number.NaN;
    if (index < this.own.length) this.own[index] = undefined;
  }

  copy(source: Clock): void {
    this.time = source.time;
    this.origin = source.origin;
    this.own = [];
    this.pausedAt = source.pausedAt.slice();
  }
}
