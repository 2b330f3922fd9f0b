import type { ClipTable } from '../poses/ClipTable.js';
import { actionWeights } from './actionWeights.js';
import { type Blend, LayerSlots } from './LayerSlots.js';
import { LayerWeights } from './LayerWeights.js';

/** What all instances play on all layers, the base first, and how much each layer shows of itself. */
export class LayerStack {
  readonly layers: readonly LayerSlots[];
  readonly weights: LayerWeights;

  /**
   * @param blend Of the base; layers over it always have weights.
   * @param initial Weights of the layers over the base.
   */
  constructor(capacity: number, blend: Blend, initial: readonly number[]) {
    this.layers = [
      new LayerSlots(capacity, blend),
      ...initial.map(() => new LayerSlots(capacity, actionWeights)),
    ];
    this.weights = new LayerWeights(capacity, initial);
  }

  get base(): LayerSlots {
    return this.layers[0];
  }

  /** Whether anything about an instance changes with the clock. */
  isMoving(index: number): boolean {
    return this.weights.isMoving(index) || this.layers.some((layer) => layer.isMoving(index));
  }

  /** Ends what is done of an instance's fades. */
  endFades(index: number, clock: number): void {
    for (const layer of this.layers) layer.endFades(index, clock);
    this.weights.end(index, clock);
  }

  /** Lets an instance's slots count anew from where they are, see `LayerSlots.settle`. */
  settle(index: number, clock: number, runningOnly = false): void {
    for (const layer of this.layers) layer.settle(index, clock, runningOnly);
  }

  /** Moves an instance's times by so many seconds of the clock. */
  shift(index: number, seconds: number): void {
    for (const layer of this.layers) layer.shift(index, seconds);
    this.weights.shift(index, seconds);
  }

  /** Lets an instance go on as if all it does had begun so many seconds later. */
  delay(index: number, seconds: number): void {
    for (const layer of this.layers) layer.delay(index, seconds);
    this.weights.shift(index, seconds);
  }

  /**
   * Lets an instance go on in the clips of the same names of another table, see `changeClip`.
   *
   * @param after For each layer the clips that it may play.
   */
  changeClips(
    index: number,
    clock: number,
    before: ClipTable,
    after: readonly ClipTable[],
    lost: Set<string>,
  ): void {
    this.layers.forEach((layer, i) => {
      layer.changeClips(index, clock, before, after[i], lost);
    });
  }

  /** Lets an instance play nothing, on layers of the weights that all have to begin with. */
  clear(index: number): void {
    for (const layer of this.layers) layer.order.clear(index);
    this.weights.reset(index);
  }

  resize(capacity: number): void {
    for (const layer of this.layers) layer.resize(capacity);
    this.weights.resize(capacity);
  }

  swap(i: number, j: number): void {
    for (const layer of this.layers) layer.swap(i, j);
    this.weights.swap(i, j);
  }

  /** Takes over what as many instances play as both have room for. Both have the same layers. */
  copy(source: LayerStack): void {
    this.layers.forEach((layer, i) => {
      layer.copy(source.layers[i]);
    });
    this.weights.copy(source.weights);
  }
}
