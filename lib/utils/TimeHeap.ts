/**
 * Finds the earliest of many times, each of which belongs to an index. A binary heap that remembers where in it every index
 * is, so that times can be changed. Of equal times the one of the lower index comes first.
 */
export class TimeHeap {
  /** Indices in heap order. */
  private order: Int32Array;
  /** Place of each index in `order`, -1 if it has no time. */
  private place: Int32Array;
  /** Time of each index. */
  private times: Float64Array;
  private size = 0;

  constructor(capacity: number) {
    this.order = new Int32Array(capacity);
    this.place = new Int32Array(capacity).fill(-1);
    this.times = new Float64Array(capacity);
  }

  /** The index whose time is earliest, -1 if there is none. */
  get first(): number {
    return this.size === 0 ? -1 : this.order[0];
  }

  /** Time of `first`. */
  get firstTime(): number {
    return this.size === 0 ? Infinity : this.times[this.order[0]];
  }

  /** Time of an index; infinite if it has none. */
  timeOf(index: number): number {
    return this.place[index] === -1 ? Infinity : this.times[index];
  }

  /** Sets the time of an index; Infinity removes it. */
  set(index: number, time: number): void {
    const { order, place, times } = this;
    const at = place[index];
    times[index] = time;
    if (time < Infinity) this.put(index, at === -1 ? this.size++ : at);
    else if (at !== -1) {
      place[index] = -1;
      const last = order[--this.size];
      if (last !== index) this.put(last, at);
    }
  }

  /** Makes room for indices below another capacity; those beyond it are taken out. */
  resize(capacity: number): void {
    const { place, times } = this;
    this.order = new Int32Array(capacity);
    this.place = new Int32Array(capacity).fill(-1);
    this.times = new Float64Array(capacity);
    this.size = 0;
    for (let index = 0; index < Math.min(capacity, place.length); index++)
      if (place[index] !== -1) this.set(index, times[index]);
  }

  /** Puts an index where it belongs, from a place on that is free. */
  private put(index: number, from: number): void {
    const { order, place, size } = this;
    let at = from;
    while (at > 0 && this.isBefore(index, order[(at - 1) >> 1])) {
      order[at] = order[(at - 1) >> 1];
      place[order[at]] = at;
      at = (at - 1) >> 1;
    }
    for (let child = 2 * at + 1; child < size; child = 2 * at + 1) {
      if (child + 1 < size && this.isBefore(order[child + 1], order[child])) child++;
      if (this.isBefore(index, order[child])) break;
      order[at] = order[child];
      place[order[at]] = at;
      at = child;
    }
    order[at] = index;
    place[index] = at;
  }

  private isBefore(index: number, other: number): boolean {
    const { times } = this;
    return times[index] < times[other] || (times[index] === times[other] && index < other);
  }
}
