/**
 * Finds the earliest of many times, each of which belongs to an index. A binary heap that remembers where in it every index
 * is, so that times can be changed. Of equal times the one of the lower index comes first.
 */
export class TimeHeap {
  /** Indices in heap order. */
  private order: Int32Array;
  /** Place of each index in `order`, -1 if it has no time. */
  private place: Int32Array;
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
    const place = this.place[index];
    if (time === Infinity) {
      if (place !== -1) this.remove(index, place);
      return;
    }
    this.times[index] = time;
    if (place === -1) this.rise(index, this.size++);
    else this.settle(index, place);
  }

  clear(): void {
    this.place.fill(-1);
    this.size = 0;
  }

  /** Makes room for indices below another capacity; those beyond it are taken out. */
  resize(capacity: number): void {
    for (let index = capacity; index < this.place.length; index++) this.set(index, Infinity);
    const { order, place, times } = this;
    this.order = new Int32Array(capacity);
    this.order.set(order.subarray(0, this.size));
    this.place = new Int32Array(capacity).fill(-1);
    this.place.set(place.subarray(0, capacity));
    this.times = new Float64Array(capacity);
    this.times.set(times.subarray(0, capacity));
  }

  private remove(index: number, place: number): void {
    this.place[index] = -1;
    const last = this.order[--this.size];
    if (last !== index) this.settle(last, place);
  }

  private settle(index: number, place: number): void {
    if (place > 0 && this.before(index, this.order[(place - 1) >> 1])) this.rise(index, place);
    else this.sink(index, place);
  }

  private rise(index: number, from: number): void {
    let place = from;
    while (place > 0) {
      const parent = (place - 1) >> 1;
      if (!this.before(index, this.order[parent])) break;
      this.put(this.order[parent], place);
      place = parent;
    }
    this.put(index, place);
  }

  private sink(index: number, from: number): void {
    let place = from;
    for (;;) {
      let child = 2 * place + 1;
      if (child >= this.size) break;
      if (child + 1 < this.size && this.before(this.order[child + 1], this.order[child])) child++;
      if (!this.before(this.order[child], index)) break;
      this.put(this.order[child], place);
      place = child;
    }
    this.put(index, place);
  }

  private put(index: number, place: number): void {
    this.order[place] = index;
    this.place[index] = place;
  }

  private before(a: number, b: number): boolean {
    const { times } = this;
    return times[a] < times[b] || (times[a] === times[b] && a < b);
  }
}
