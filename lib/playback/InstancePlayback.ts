import type { InstancedInterleavedBuffer, Texture } from 'three';
import type { InstanceData } from '../instances/InstanceData.js';
import type { InstanceTexture } from '../instances/InstanceTexture.js';
import type { BakedClip, ClipTable } from '../poses/ClipTable.js';
import type { PoseMix } from '../poses/PoseMix.js';
import { actionWeights, changeWeight } from './actionWeights.js';
import { Clock } from './Clock.js';
import { changeRate, setPlace } from './changeSlot.js';
import { convertFades } from './convertFades.js';
import { LayerSlots } from './LayerSlots.js';
import { basePass, type Place } from './loops.js';
import { nestedFades } from './nestedFades.js';
import type { PlaybackObserver } from './PlaybackObserver.js';
import { PlaybackTexels } from './PlaybackTexels.js';
import { checkPlay, type PlayOptions, type Start } from './PlayOptions.js';
import { readPose } from './readPose.js';
import {
  intervalsOf,
  isReversed,
  SLOT_RATE,
  SLOT_START,
  SLOT_STARTED,
  SLOT_STARTED_IN,
  type Slots,
} from './slots.js';
import { startClip } from './startClip.js';

const _start: Start = {
  time: 0,
  rate: 0,
  loop: 0,
  repetitions: 0,
  fade: 0,
  weight: 0,
  warp: false,
  sync: false,
};
const _place: Place = { pass: 0, within: 0, finished: false };

/**
 * What every instance of a crowd plays.
 *
 * State is written when it changes, and read against the clock in shaders. Now and then the clock goes back to zero and
 * all times are moved along; nothing else is ever done per instance.
 */
export class InstancePlayback implements InstanceData {
  readonly time: Clock;
  readonly layer: LayerSlots;
  observer: PlaybackObserver | null = null;
  private texels: PlaybackTexels;
  private size: number;

  /**
   * Both are asked anew each time, since a crowd's bone texture may change.
   *
   * @param clips The clips that instances play.
   * @param posedByPass Whether a pass poses the instances, which can mix clips by any weights.
   */
  constructor(
    capacity: number,
    private readonly clips: () => ClipTable,
    private readonly posedByPass: () => boolean = () => false,
  ) {
    this.size = capacity;
    this.time = new Clock(capacity);
    this.layer = new LayerSlots(capacity, posedByPass() ? actionWeights : nestedFades);
    this.texels = new PlaybackTexels(capacity, this.layer, this.time);
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
  prepare(renderer: object, has: (texture: Texture) => boolean): void {
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

  /** Starts a clip on an instance, or the rest pose. */
  play(index: number, clip: BakedClip | null, options: PlayOptions, caller: string): void {
    checkPlay(clip, options, caller, _start);
    if (!Number.isNaN(_start.weight)) this.checkMixes('weight', caller);
    if (this.isPaused(index)) this.resume(index);
    const { layer } = this;
    const slots = startClip(layer, index, this.clock, clip, this.clips(), _start);
    slots[layer.at(index) + SLOT_STARTED] = this.elapsed;
    this.texels.changed(index);
    this.observer?.started(index, layer.order.current(index));
  }

  /** Stops time and fades of an instance. */
  pause(index: number): void {
    if (this.isPaused(index)) return;
    this.layer.settle(index, this.clock);
    this.time.pause(index);
    this.texels.changed(index);
    this.observer?.retimed(index, null, false);
  }

  /** Lets a paused instance go on. */
  resume(index: number): void {
    if (!this.isPaused(index)) return;
    this.layer.delay(index, this.time.resume(index));
    this.texels.changed(index);
    this.observer?.retimed(index, null, false);
  }

  isPaused(index: number): boolean {
    return this.time.isPaused(index);
  }

  /** Whether time passes for an instance: it plays a clip, is not paused, has a speed and has not finished. */
  isPlaying(index: number): boolean {
    if (this.clipOf(index) === null || this.getRate(index) === 0) return false;
    return !this.isPaused(index) && !this.where(index).finished;
  }

  /** The clip that was last started on an instance; null for the rest pose. */
  clipOf(index: number): BakedClip | null {
    const slots = this.layer.current(index);
    return slots === null ? null : this.clipIn(index, slots);
  }

  /** The clip in one of an instance's slots; null for the rest pose. */
  clipIn(index: number, slots: Slots): BakedClip | null {
    return this.clips().startingAt(slots[this.layer.at(index) + SLOT_START]);
  }

  /** Frames per second of the clock. */
  getRate(index: number): number {
    const slots = this.layer.current(index);
    return slots === null ? 0 : slots[this.layer.at(index) + SLOT_RATE];
  }

  /** Changes the speed of an instance's clip from where it is; a warp under way goes on, in proportion. */
  setRate(index: number, rate: number): void {
    const { layer } = this;
    const slots = layer.current(index);
    if (slots === null) return;
    const at = layer.at(index);
    const reversed = isReversed(slots, at);
    this.settle(index);
    changeRate(slots, at, this.time.timeOf(index), rate);
    this.texels.changed(index);
    this.observer?.retimed(index, layer.order.current(index), isReversed(slots, at) !== reversed);
  }

  /** Where an instance's clip is. The object is the same for all calls. */
  where(index: number): Readonly<Place> {
    const slots = this.layer.current(index);
    if (slots !== null) return this.locate(index, slots, _place);
    _place.pass = _place.within = 0;
    _place.finished = false;
    return _place;
  }

  /** Where the clip in one of an instance's slots is. */
  locate(index: number, slots: Slots, target: Place): Place {
    return this.layer.locate(slots, index, this.time.timeOf(index), this.isPaused(index), target);
  }

  /** Frames into the clip, as `AnimationAction.time` counts: from its start, also on the way back of a ping-pong. */
  within(index: number): number {
    return this.where(index).within;
  }

  /** Sets the frames into the clip; the passes so far stay counted. One that has finished runs its last pass again. */
  setWithin(index: number, frames: number): void {
    const { layer, time } = this;
    const slots = layer.current(index);
    const at = layer.at(index);
    if (slots === null || intervalsOf(slots, at) < 1) return;
    this.settle(index);
    slots[at + SLOT_STARTED_IN] = basePass(slots, at);
    setPlace(slots, at, time.timeOf(index), frames, this.isPaused(index));
    this.texels.changed(index);
    slots[at + SLOT_STARTED] = time.elapsedOf(index);
    this.observer?.started(index, layer.order.current(index));
  }

  /** Weight of a clip that an instance plays, as `AnimationAction.getEffectiveWeight()`; 0 if it does not play it. */
  getWeight(index: number, clip: BakedClip): number {
    const { layer } = this;
    const place = layer.find(index, clip.start);
    return place < 0 ? 0 : layer.weightOf(index, place, this.time.timeOf(index));
  }

  /**
   * Changes the weight of a clip that an instance plays.
   *
   * @param fade Seconds that it takes.
   */
  setWeight(index: number, clip: BakedClip, weight: number, fade: number, caller: string): void {
    this.checkMixes('weight', caller);
    const { layer } = this;
    const cameBack = (slot: number) => this.observer?.started(index, slot);
    if (!changeWeight(layer, index, this.time.timeOf(index), clip.start, weight, fade, cameBack)) {
      throw new Error(
        `${caller}: instance ${index} does not play "${clip.name}"; play it with a weight first.`,
      );
    }
    this.texels.changed(index);
  }

  /** Moves the clock. Call {@link InstancePlayback.keepClockSmall} once everything that looks back has been told. */
  advance(delta: number): void {
    this.time.advance(delta);
  }

  /** Puts the clock back to zero when it is due, without a change to what is on screen. */
  keepClockSmall(): void {
    const { time, layer } = this;
    if (!time.isLong) return;
    const { clock } = this;
    for (let i = 0; i < this.capacity; i++) {
      if (this.isPaused(i) || !layer.isMoving(i)) continue;
      layer.endFades(i, clock);
      layer.settle(i, clock, true);
    }
    time.restart();
    for (let i = 0; i < this.capacity; i++) {
      if (layer.isMoving(i)) layer.shift(i, -clock);
      this.texels.write(i);
    }
    this.texels.changedAll();
  }

  /** What an instance shows now. */
  pose(index: number, interpolate: boolean, target: PoseMix): PoseMix {
    const { layer, time } = this;
    return readPose(layer, index, time.timeOf(index), time.isPaused(index), interpolate, target);
  }

  /** Makes room for another number of instances; what those play that stay does not change. */
  resize(capacity: number): void {
    this.size = capacity;
    this.time.resize(capacity);
    this.layer.resize(capacity);
    this.texels.dispose();
    const { version } = this.texels;
    this.texels = new PlaybackTexels(capacity, this.layer, this.time);
    this.texels.version = version + 1;
    this.observer?.resized(capacity);
  }

  /** Exchanges what two instances play. */
  swap(i: number, j: number): void {
    this.layer.swap(i, j);
    this.time.swap(i, j);
    this.texels.changed(i);
    this.texels.changed(j);
    this.observer?.swapped(i, j);
  }

  /** Takes over the state of as many instances as both have room for. */
  copy(source: InstancePlayback): this {
    const count = Math.min(this.capacity, source.capacity);
    this.time.copy(source.time);
    this.layer.copy(source.layer);
    for (let i = 0; i < count; i++) this.texels.write(i);
    this.texels.changedAll();
    return this;
  }

  /**
   * Lets instances go on in the clips of the same names of another table, as many seconds into them and as fast, with the
   * repetitions so far. Those whose clip is not there take the rest pose.
   *
   * @returns Names of clips that instances showed, and that are not there.
   */
  changeClips(before: ClipTable, after: ClipTable): Set<string> {
    const lost = new Set<string>();
    const blend = this.posedByPass() ? actionWeights : nestedFades;
    const changed = blend !== this.layer.blend;
    for (let i = 0; i < this.capacity; i++) {
      this.settle(i);
      const clock = this.time.timeOf(i);
      this.layer.changeClips(i, clock, before, after, lost);
      if (changed) convertFades(this.layer, i, clock);
    }
    this.layer.blend = blend;
    for (let i = 0; i < this.capacity; i++) {
      this.texels.write(i);
      this.observer?.started(i, null);
    }
    this.texels.changedAll();
    return lost;
  }

  /** Call after an instance's slots were set from outside. Events that lie behind them are not dispatched. */
  restored(index: number): void {
    this.texels.changed(index);
    this.observer?.started(index, null);
  }

  dispose(): void {
    this.texels.dispose();
  }

  /** Lets an instance's slots count anew from where they are now; those of one that is paused were settled then. */
  private settle(index: number): void {
    if (!this.isPaused(index)) this.layer.settle(index, this.clock);
  }

  /** @throws If shaders cannot mix clips by any weights. */
  private checkMixes(what: string, caller: string): void {
    if (this.layer.blend === actionWeights) return;
    throw new Error(
      `${caller}: ${what} needs poses that are mixed before they are drawn; bake with encoding "tracks".`,
    );
  }
}
