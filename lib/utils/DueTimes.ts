import { resized, swapItems } from './attributes.js';

/** When each of many indices is due: to read through their times is quicker than to keep them in order. */
export class DueTimes {
  /** Infinite for those that have none. */
  private times: Float64Array;
  /** None is due before. */
  private first = Infinity;

  constructor(capacity: number) {
    this.times = new Float64Array(capacity).fill(Infinity);
  }

  set(index: number, time: number): void {
    this.times[index] = time;
    this.first = Math.min(this.first, time);
  }

  /** The indices that are due by now, lowest first; they have no time any more. */
  take(now: number): number[] {
    const { times } = this;
    const due: number[] = [];
    if (this.first > now) return due;
    this.first = Infinity;
    for (let i = 0; i < times.length; i++) {
      const time = times[i];
      if (time <= now) {
        due.push(i);
        times[i] = Infinity;
      } else if (time < this.first) this.first = time;
    }
    return due;
  }

  swap(i: number, j: number): void {
    swapItems(this.times, i, j, 1);
  }

  resize(capacity: number): void {
    this.times = resized(this.times, capacity, Infinity);
  }
}
