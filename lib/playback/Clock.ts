import { CLOCK_EPOCH } from '../constants.js';

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
  /** The same at which those were paused that are. */
  private pausedAt: (number | undefined)[] = [];

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
    return this.pausedAt[index] !== undefined;
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
    const missed = this.elapsed - this.timeOf(index);
    this.pausedAt[index] = undefined;
    if (this.own[index] !== undefined) this.own[index] = this.elapsed;
    return missed;
  }

  /** Seconds since the beginning for an instance, by its own clock if it has one; for one that is paused, until it was. */
  timeOf(index: number): number {
    return this.pausedAt[index] ?? this.own[index] ?? this.elapsed;
  }

  resize(capacity: number): void {
    for (const times of [this.pausedAt, this.own]) times.length = Math.min(times.length, capacity);
  }

  swap(i: number, j: number): void {
    for (const times of [this.pausedAt, this.own])
      if (times.length > 0) [times[i], times[j]] = [times[j], times[i]];
  }

  /** An instance begins anew. */
  reset(index: number): void {
    for (const times of [this.pausedAt, this.own]) if (index < times.length) times[index] = undefined;
  }

  copy(source: Clock): void {
    this.time = source.time;
    this.origin = source.origin;
    this.own = [];
    this.pausedAt = source.pausedAt.slice();
  }
}
