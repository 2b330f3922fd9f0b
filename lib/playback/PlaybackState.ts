import type { InstancedInterleavedBuffer, Texture } from 'three';
import type { InstanceData } from '../instances/InstanceData.js';
import type { InstanceTexture } from '../instances/InstanceTexture.js';
import type { RowsBefore } from '../instances/RowsBefore.js';
import { type BakedClip, ClipTable } from '../poses/ClipTable.js';
import type { PoseTracks } from '../tracks/PoseTracks.js';
import { actionWeights } from './actionWeights.js';
import { Clock } from './Clock.js';
import { convertFades } from './convertFades.js';
import type { Blend, LayerSlots } from './LayerSlots.js';
import { LayerStack } from './LayerStack.js';
import { type LayerOptions, LayerTable } from './LayerTable.js';
import { nestedFades } from './nestedFades.js';
import type { PlaybackDriver } from './PlaybackDriver.js';
import type { PlaybackObserver } from './PlaybackObserver.js';
import { PlaybackTexels } from './PlaybackTexels.js';
import { PoseRates } from './PoseRates.js';
import { SLOT_STARTED, SLOT_STARTED_IN } from './slots.js';

/**
 * What every instance of a crowd plays, as numbers that are kept, exchanged, copied and read by shaders.
 *
 * State is written when it changes, and read against the clock in shaders. Now and then the clock goes back to zero and
 * all times are moved along; nothing else is ever done per instance.
 */
export abstract class PlaybackState implements InstanceData {
  readonly time: Clock;
  /** Another one after `copy`. */
  layers: LayerTable;
  /** Another one after `copy`. */
  stack: LayerStack;
  readonly rates: PoseRates;
  observer: PlaybackObserver | null = null;
  /** Null while nothing is steered by objects. */
  driver: PlaybackDriver | null = null;
  /** Where instances were when renderers last posed them. */
  readonly rowsBefore: Set<RowsBefore> = new Set();
  protected texels: PlaybackTexels;
  private size: number;

  /**
   * What instances play, and the tracks, are asked anew each time, since a crowd's bone texture may change.
   *
   * @param clips The clips that instances play.
   * @param tracks Tracks by which a pass poses the instances, and mixes clips by any weights; null if none does.
   * @param layers Layers over the base.
   */
  constructor(
    capacity: number,
    protected readonly clips: () => ClipTable,
    private readonly tracks: () => PoseTracks | null = () => null,
    layers: readonly LayerOptions[] = [],
  ) {
    this.size = capacity;
    this.time = new Clock(capacity);
    this.rates = new PoseRates(capacity);
    this.layers = new LayerTable(layers, tracks);
    this.stack = new LayerStack(capacity, this.blend, this.layers.initialWeights);
    this.texels = this.createTexels();
  }

  /** What instances play on the layer that all others lie over. */
  get layer(): LayerSlots {
    return this.stack.base;
  }

  /** Instances that there is room for. */
  get capacity(): number {
    return this.size;
  }

  /** The newest clips as WebGL reads them where each vertex poses itself. Another one after `resize`. */
  get buffer(): InstancedInterleavedBuffer {
    return this.texels.slots.buffer;
  }

  /** The newest clips as node materials read them where each vertex poses itself. Another one after `resize`. */
  get state(): InstanceTexture {
    return this.texels.slots.state;
  }

  /** The clips that fade out, as both read them. Another one after the first fade, and after `resize`. */
  get fades(): InstanceTexture {
    return this.texels.slots.fades;
  }

  /** All that instances play, as a pass reads it that poses them. Another one after `resize`. */
  get actions(): InstanceTexture {
    return this.texels.actions.texture;
  }

  /** Grows with each change of what shaders read. */
  get version(): number {
    return this.texels.version;
  }

  /** Call before a renderer draws: one that has not got all of a texture must not be sent a part of it. */
  prepare(renderer: object, has: (texture: Texture, renderer: object) => boolean): void {
    this.texels.prepare(renderer, has);
  }

  /** Seconds since the clock last went back to zero. */
  get clock(): number {
    return this.time.time;
  }

  /** Seconds since the beginning. */
  get elapsed(): number {
    return this.time.elapsed;
  }

  isPaused(index: number): boolean {
    return this.time.isPaused(index);
  }

  /** Moves the clock. Call {@link PlaybackState.keepClockSmall} once everything that looks back has been told. */
  advance(delta: number): void {
    this.time.advance(delta);
  }

  /** Puts the clock back to zero when it is due, without a change to what is on screen. */
  keepClockSmall(): void {
    const { time, stack } = this;
    if (!time.isLong) return;
    const { clock } = this;
    for (let i = 0; i < this.capacity; i++) {
      if (this.isPaused(i) || !stack.isMoving(i)) continue;
      stack.endFades(i, clock);
      stack.settle(i, clock, true);
    }
    time.restart();
    for (let i = 0; i < this.capacity; i++) {
      if (stack.isMoving(i)) stack.shift(i, -clock);
      this.texels.write(i);
    }
    this.texels.changedAll();
  }

  /** Makes room for another number of instances; what those play that stay does not change. */
  resize(capacity: number): void {
    this.size = capacity;
    this.time.resize(capacity);
    this.rates.resize(capacity);
    this.stack.resize(capacity);
    this.replaceTexels();
    this.observer?.resized(capacity);
    this.driver?.resized(capacity);
  }

  /** Exchanges what two instances play. */
  swap(i: number, j: number): void {
    this.stack.swap(i, j);
    this.time.swap(i, j);
    this.rates.swap(i, j);
    this.texels.changed(i);
    this.texels.changed(j);
    for (const rows of this.rowsBefore) rows.swap(i, j);
    this.observer?.swapped(i, j);
    this.driver?.swapped(i, j);
  }

  /** Lets an instance play nothing, and forgets what it did. */
  reset(index: number): void {
    this.driver?.released(index);
    this.stack.clear(index);
    if (this.isPaused(index)) this.time.resume(index);
    this.rates.set(index, 0);
    for (const rows of this.rowsBefore) rows.appear(index);
    this.restored(index);
  }

  /** Whether a copy of another crowd would keep its layers; else it gets the other's, and other buffers. */
  hasLayersOf({ layers }: PlaybackState): boolean {
    return layers.options === this.layers.options || layers.count + this.layers.count === 2;
  }

  /** Takes over the layers, and the state of as many instances as both have room for. */
  copy(source: PlaybackState): this {
    const count = Math.min(this.capacity, source.capacity);
    if (!this.hasLayersOf(source)) {
      this.layers.dispose();
      this.layers = new LayerTable(source.layers.options, this.tracks);
      this.stack = new LayerStack(this.size, this.blend, this.layers.initialWeights);
      this.replaceTexels();
    }
    this.time.copy(source.time);
    this.rates.copy(source.rates);
    this.stack.copy(source.stack);
    for (let i = 0; i < count; i++) {
      this.driver?.released(i);
      this.texels.write(i);
    }
    this.texels.changedAll();
    return this;
  }

  /**
   * Lets instances go on in the clips of the same names of another table, as many seconds into them and as fast, with the
   * repetitions so far. Those whose clip is not there, or is not additive on a layer that is, take the rest pose.
   *
   * @returns Names of clips that instances showed, and that are not there.
   */
  changeClips(before: ClipTable, after: ClipTable): Set<string> {
    const lost = new Set<string>();
    const { blend } = this;
    const changed = blend !== this.layer.blend;
    const tables = this.layers.names.map((_, layer) =>
      this.layers.isAdditive(layer)
        ? new ClipTable(after.clips.filter((clip) => this.layers.takes(layer, clip)))
        : after,
    );
    for (let i = 0; i < this.capacity; i++) {
      this.settle(i);
      const clock = this.time.timeOf(i);
      this.stack.changeClips(i, clock, before, tables, lost);
      if (changed) convertFades(this.layer, i, clock);
    }
    this.layer.blend = blend;
    for (let i = 0; i < this.capacity; i++) {
      this.texels.write(i);
      this.observer?.started(i, null);
    }
    this.texels.changedAll();
    this.driver?.clipsChanged();
    return lost;
  }

  /** Call after an instance's slots were set from outside. Events that lie behind them are not dispatched. */
  restored(index: number): void {
    this.texels.changed(index);
    this.observer?.started(index, null);
  }

  /** Lets what lies right where an instance is in a clip be told of yet: it was in that pass when it was put there. */
  restoreBegun(index: number, layer: number, { start }: BakedClip, pass: number): void {
    const slots = this.stack.layers[layer];
    const place = slots.find(index, start);
    if (place < 0) return;
    const at = slots.at(index);
    const found = slots.slotsAt(index, place);
    found[at + SLOT_STARTED] = this.time.elapsedOf(index);
    found[at + SLOT_STARTED_IN] = pass;
    this.restored(index);
  }

  /** Call when an instance has events from now on, or none any more. */
  heardChanged(index: number): void {
    this.observer?.started(index, null);
  }

  /** Call when something about an instance changes that is not part of what it plays: then its pose is due. */
  touch(index: number): void {
    this.texels.changed(index);
  }

  dispose(): void {
    this.texels.dispose();
    this.layers.dispose();
  }

  private get blend(): Blend {
    return this.tracks() === null ? nestedFades : actionWeights;
  }

  private replaceTexels(): void {
    const { texels } = this;
    this.texels = this.createTexels();
    this.texels.version = texels.version + 1;
    // Whoever hears of it finds those that take their place.
    texels.dispose();
  }

  private createTexels(): PlaybackTexels {
    return new PlaybackTexels(this.size, this.stack, this.time, this.rates);
  }

  /** Lets an instance's slots count anew from where they are now; those of one that is paused were settled then. */
  protected settle(index: number): void {
    if (!this.isPaused(index)) this.stack.settle(index, this.clock);
  }
}
