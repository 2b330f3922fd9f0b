/**
 * Finds the earliest of many times, each of which belongs to an index. A binary heap that remembers where in it every index
 * is, so that times can be changed. Of equal times the one of the lower index comes first.
 */
export class TimeHeap {
  /** Indices in heap order. */
  private order: Int32Array;
  /** Place of each index in `order`, -1 if it has no time. */
  private place: Int32Array;
  /** Times in heap order: looked up by index, each comparison would go somewhere else in memory. */
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
    return this.size === 0 ? Infinity : this.times[0];
  }

  /** Time of an index; infinite if it has none. */
  timeOf(index: number): number {
    const place = this.place[index];
    return place === -1 ? Infinity : this.times[place];
  }

  /** Sets the time of an index; Infinity removes it. */
  set(index: number, time: number): void {
    const place = this.place[index];
    if (time === Infinity) {
      if (place !== -1) this.remove(index, place);
      return;
    }
    if (place === -1) this.rise(index, time, this.size++);
    else this.settle(index, time, place);
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
    this.times.set(times.subarray(0, this.size));
  }

  private remove(index: number, place: number): void {
    this.place[index] = -1;
    const last = this.order[--this.size];
    if (last !== index) this.settle(last, this.times[this.size], place);
  }

  private settle(index: number, time: number, place: number): void {
    if (place > 0 && this.comesBefore(index, time, (place - 1) >> 1)) this.rise(index, time, place);
    else this.sink(index, time, place);
  }

  private rise(index: number, time: number, from: number): void {
    let place = from;
    while (place > 0) {
      const parent = (place - 1) >> 1;
      if (!this.comesBefore(index, time, parent)) break;
      this.put(this.order[parent], this.times[parent], place);
      place = parent;
    }
    this.put(index, time, place);
  }

  private sink(index: number, time: number, from: number): void {
    const { order, times } = this;
    let place = from;
    for (;;) {
      let child = 2 * place + 1;
      if (child >= this.size) break;
      if (child + 1 < this.size && this.comesBefore(order[child + 1], times[child + 1], child)) child++;
      // No two are the same index, so one of them comes before the other.
      if (this.comesBefore(index, time, child)) break;
      this.put(order[child], times[child], place);
      place = child;
    }
    this.put(index, time, place);
  }

  private put(index: number, time: number, place: number): void {
    this.order[place] = index;
    this.times[place] = time;
    this.place[index] = place;
  }

  /** Whether an index with a time comes before the one that stands at a place. */
  private comesBefore(index: number, time: number, place: number): boolean {
    const other = this.times[place];
    return time < other || (time === other && index < this.order[place]);
  }
}
