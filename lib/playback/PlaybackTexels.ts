import type { Texture } from 'three';
import { ActionTexels } from './ActionTexels.js';
import { actionWeights } from './actionWeights.js';
import type { Clock } from './Clock.js';
import type { LayerStack } from './LayerStack.js';
import type { PoseRates } from './PoseRates.js';
import { SlotTexels } from './SlotTexels.js';

/**
 * What instances play as shaders read it, written when it changes: for vertices that pose themselves, or for a pass that
 * poses instances.
 */
export class PlaybackTexels {
  /** Grows with each change. */
  version = 0;
  readonly slots: SlotTexels;
  private actionTexels: ActionTexels | null = null;

  constructor(
    private readonly capacity: number,
    private readonly stack: LayerStack,
    private readonly time: Clock,
    private readonly rates: PoseRates,
  ) {
    this.slots = new SlotTexels(capacity, stack.base);
    for (let i = 0; i < capacity; i++) this.slots.write(i, time.timeOf(i), time.isPaused(i));
  }

  /** What a pass reads. */
  get actions(): ActionTexels {
    if (this.actionTexels === null) {
      const { capacity, stack, time, rates } = this;
      this.actionTexels = new ActionTexels(capacity, stack, time, rates);
      for (let i = 0; i < capacity; i++) this.actionTexels.write(i);
    }
    return this.actionTexels;
  }

  /** Call before a renderer draws: one that has not got all of a texture must not be sent a part of it. */
  prepare(renderer: object, has: (texture: Texture, renderer: object) => boolean): void {
    if (this.isPosedByPass) {
      this.actions.texture.prepare(renderer, has);
    } else {
      this.slots.state.prepare(renderer, has);
      this.slots.fades.prepare(renderer, has);
    }
  }

  /** Writes an instance, without marking it for upload. */
  write(index: number): void {
    const { time } = this;
    if (this.isPosedByPass) this.actions.write(index);
    else this.slots.write(index, time.timeOf(index), time.isPaused(index));
  }

  /** Writes an instance, and marks it for upload. */
  changed(index: number): void {
    this.write(index);
    this.current.changed(index);
    this.version++;
  }

  /** Marks all instances for upload. */
  changedAll(): void {
    this.current.changedAll();
    this.version++;
  }

  dispose(): void {
    this.slots.dispose();
    this.actionTexels?.dispose();
  }

  private get current(): SlotTexels | ActionTexels {
    return this.isPosedByPass ? this.actions : this.slots;
  }

  private get isPosedByPass(): boolean {
    return this.stack.base.blend === actionWeights;
  }
}
