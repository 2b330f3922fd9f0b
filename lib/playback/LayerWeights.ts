import { swapItems } from '../utils/swapItems.js';
import { endRamp, RAMP_RATE, RAMP_SIZE, RAMP_START, RAMP_TO, rampAt, rampDone, rampTo } from './ramps.js';

/** How much each layer over the base shows of itself on each instance: a ramp of each, 1 where nothing else was said. */
export class LayerWeights {
  /** For each layer over the base, a ramp for each instance. */
  readonly ramps: Float64Array[];

  /** @param initial Weights that instances have to begin with, of each layer over the base. */
  constructor(
    private capacity: number,
    private readonly initial: readonly number[],
  ) {
    this.ramps = initial.map((weight) => createRamps(capacity, weight));
  }

  at(index: number): number {
    return index * RAMP_SIZE;
  }

  /** @param layer 0 for the base, which always shows whole. */
  weightOf(layer: number, index: number, clock: number): number {
    return layer === 0 ? 1 : rampAt(this.ramps[layer - 1], this.at(index), clock);
  }

  /** Whether a layer shows nothing of itself, and will not by itself. */
  isHidden(layer: number, index: number, clock: number): boolean {
    if (layer === 0) return false;
    const ramps = this.ramps[layer - 1];
    const at = this.at(index);
    return ramps[at + RAMP_TO] === 0 && rampDone(ramps, at, clock) === 1;
  }

  /** Lets a layer over the base go to another weight, within so many seconds. */
  set(layer: number, index: number, clock: number, weight: number, seconds: number): void {
    rampTo(this.ramps[layer - 1], this.at(index), clock, weight, seconds);
  }

  /** Whether a weight of an instance changes with the clock. */
  isMoving(index: number): boolean {
    const at = this.at(index);
    return this.ramps.some((ramps) => ramps[at + RAMP_RATE] !== 0);
  }

  /** Ends the ramps of an instance that are done. */
  end(index: number, clock: number): void {
    const at = this.at(index);
    for (const ramps of this.ramps) if (rampDone(ramps, at, clock) === 1) endRamp(ramps, at);
  }

  /** Moves an instance's times by so many seconds of the clock. */
  shift(index: number, seconds: number): void {
    for (const ramps of this.ramps) ramps[this.at(index) + RAMP_START] += seconds;
  }

  /** Gives an instance the weights that all have to begin with. */
  reset(index: number): void {
    this.ramps.forEach((ramps, i) => {
      rampTo(ramps, this.at(index), 0, this.initial[i], 0);
    });
  }

  /** The ramp of a weight, with a clock that is at zero now. */
  save(layer: number, index: number, clock: number): number[] {
    if (layer === 0) return [1, 1, 0, 0];
    const at = this.at(index);
    const ramp = [...this.ramps[layer - 1].subarray(at, at + RAMP_SIZE)];
    ramp[RAMP_START] -= clock;
    return ramp;
  }

  /** Sets the ramp of the weight of a layer over the base. */
  restore(layer: number, index: number, ramp: readonly number[]): void {
    this.ramps[layer - 1].set(ramp, this.at(index));
  }

  resize(capacity: number): void {
    const size = Math.min(capacity, this.capacity) * RAMP_SIZE;
    this.capacity = capacity;
    this.ramps.forEach((ramps, i) => {
      this.ramps[i] = createRamps(capacity, this.initial[i]);
      this.ramps[i].set(ramps.subarray(0, size));
    });
  }

  swap(i: number, j: number): void {
    for (const ramps of this.ramps) swapItems(ramps, i, j, RAMP_SIZE);
  }

  /** Takes over the weights of as many layers and instances as both have. */
  copy(source: LayerWeights): void {
    this.ramps.forEach((ramps, i) => {
      ramps.set(source.ramps[i].subarray(0, ramps.length));
    });
  }
}

function createRamps(capacity: number, weight: number): Float64Array {
  const ramps = new Float64Array(capacity * RAMP_SIZE);
  for (let at = 0; at < ramps.length; at += RAMP_SIZE) rampTo(ramps, at, 0, weight, 0);
  return ramps;
}
