import { MIXED_POSES } from '../constants.js';
import type { BakedClip } from '../poses/ClipTable.js';
import type { PoseMix } from '../poses/PoseMix.js';
import { actionWeights, changeWeight, plays } from './actionWeights.js';
import { changeRate, setPlace } from './changeSlot.js';
import { basePass, type Place } from './loops.js';
import { PlaybackState } from './PlaybackState.js';
import { checkPlay, type PlayOptions, type Start } from './PlayOptions.js';
import { readPose } from './readPose.js';
import { MAX_ACTIONS } from './SlotOrder.js';
import {
  FIRST,
  intervalsOf,
  isReversed,
  SLOT_LOOP,
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

/** What every instance of a crowd plays, and what it can be told to play. Where no layer is said, the base is meant. */
export class InstancePlayback extends PlaybackState {
  /** Starts a clip on a layer of an instance, or stops what plays there. */
  play(index: number, clip: BakedClip | null, options: PlayOptions, caller: string): void {
    checkPlay(clip, options, caller, _start);
    const number = this.layers.indexOf(options.layer, caller);
    if (!Number.isNaN(_start.weight)) this.checkMixes('weight', caller);
    if (clip !== null) this.layers.checkClip(number, clip, caller);
    if (this.isPaused(index)) this.resume(index);
    this.driver?.released(index, number);
    const layer = this.stack.layers[number];
    const slots = startClip(layer, index, this.clock, clip, this.clips(), _start);
    this.texels.changed(index);
    if (slots === null) return;
    slots[layer.at(index) + SLOT_STARTED] = this.elapsed;
    this.observer?.started(index, this.currentSlot(index, number));
  }

  /** Stops time and fades of an instance. */
  pause(index: number): void {
    if (this.isPaused(index)) return;
    this.stack.settle(index, this.clock);
    this.time.pause(index);
    this.texels.changed(index);
    this.observer?.retimed(index, null, false);
  }

  /** Lets a paused instance go on. */
  resume(index: number): void {
    if (!this.isPaused(index)) return;
    const missed = this.time.resume(index);
    this.stack.delay(index, missed);
    this.texels.changed(index);
    this.observer?.retimed(index, null, false);
    this.driver?.resumed(index, missed);
  }

  /** Whether time passes for a clip: it is there, the instance is not paused, it has a speed and has not finished. */
  isPlaying(index: number, layer = 0): boolean {
    if (this.clipOf(index, layer) === null || this.getRate(index, layer) === 0) return false;
    return !this.isPaused(index) && !this.where(index, layer).finished;
  }

  /** The clip that was last started on a layer of an instance; null if none was, or it was stopped. */
  clipOf(index: number, layer = 0): BakedClip | null {
    const slots = this.stack.layers[layer].current(index);
    return slots === null ? null : this.clipIn(index, slots);
  }

  /** The clip in one of an instance's slots; null for the rest pose. */
  clipIn(index: number, slots: Slots): BakedClip | null {
    return this.clips().startingAt(slots[this.layer.at(index) + SLOT_START]);
  }

  /** Frames per second of the clock. */
  getRate(index: number, layer = 0): number {
    const slots = this.stack.layers[layer].current(index);
    return slots === null ? 0 : slots[this.layer.at(index) + SLOT_RATE];
  }

  /** Changes the speed of an instance's clip from where it is; a warp under way goes on, in proportion. */
  setRate(index: number, rate: number, layer = 0): void {
    const slots = this.stack.layers[layer].current(index);
    if (slots === null) return;
    const at = this.layer.at(index);
    const reversed = isReversed(slots, at);
    this.driver?.released(index, layer);
    this.settle(index);
    changeRate(slots, at, this.time.timeOf(index), rate);
    this.texels.changed(index);
    this.observer?.retimed(index, this.currentSlot(index, layer), isReversed(slots, at) !== reversed);
  }

  /** Where an instance's clip is. The object is the same for all calls. */
  where(index: number, layer = 0): Readonly<Place> {
    const slots = this.stack.layers[layer].current(index);
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
  within(index: number, layer = 0): number {
    return this.where(index, layer).within;
  }

  /** Sets the frames into the clip; the passes so far stay counted. One that has finished runs its last pass again. */
  setWithin(index: number, frames: number, layer = 0): void {
    const { time } = this;
    const slots = this.stack.layers[layer].current(index);
    const at = this.layer.at(index);
    if (slots === null || intervalsOf(slots, at) < 1) return;
    this.driver?.released(index, layer);
    this.settle(index);
    slots[at + SLOT_LOOP] |= FIRST;
    slots[at + SLOT_STARTED_IN] = basePass(slots, at);
    setPlace(slots, at, time.timeOf(index), frames, this.isPaused(index));
    this.texels.changed(index);
    slots[at + SLOT_STARTED] = time.elapsedOf(index);
    this.observer?.started(index, this.currentSlot(index, layer));
  }

  /** Weight of a clip that an instance plays, as `AnimationAction.getEffectiveWeight()`; 0 if it does not play it. */
  getWeight(index: number, clip: BakedClip, layer = 0): number {
    const slots = this.stack.layers[layer];
    const place = slots.find(index, clip.start);
    return place < 0 ? 0 : slots.weightOf(index, place, this.time.timeOf(index));
  }

  /**
   * Changes the weight of a clip that an instance plays.
   *
   * @param fade Seconds that it takes.
   */
  setWeight(index: number, clip: BakedClip, weight: number, fade: number, caller: string, layer = 0): void {
    this.checkMixes('weight', caller);
    const slots = this.stack.layers[layer];
    const clock = this.time.timeOf(index);
    if (!plays(slots, index, clock, clip.start)) {
      const where = layer === 0 ? '' : ` on layer "${this.layers.names[layer]}"`;
      throw new Error(
        `${caller}: instance ${index} does not play "${clip.name}"${where}; play it with a weight first.`,
      );
    }
    this.driver?.released(index, layer);
    const cameBack = (slot: number) => this.observer?.started(index, layer * MAX_ACTIONS + slot);
    changeWeight(slots, index, clock, clip.start, weight, fade, cameBack);
    this.texels.changed(index);
  }

  /**
   * Lets actions of an object be what an instance plays on a layer, in the order in which they are mixed. Call
   * `restored` once all layers are written.
   *
   * @param actions The first `count` of these are slots of one action each; `MAX_ACTIONS` at most.
   */
  setActions(index: number, layer: number, actions: readonly Slots[], count: number): void {
    const slots = this.stack.layers[layer];
    slots.order.clear(index);
    for (let i = 0; i < count; i++) slots.add(index).set(actions[i], slots.at(index));
  }

  /** How much of a layer shows on an instance, 0 to 1. */
  getLayerWeight(index: number, layer: number): number {
    return this.stack.weights.weightOf(layer, index, this.time.timeOf(index));
  }

  /**
   * Changes how much of a layer over the base shows on an instance.
   *
   * @param fade Seconds that it takes.
   */
  setLayerWeight(index: number, layer: number, weight: number, fade: number): void {
    this.stack.weights.set(layer, index, this.time.timeOf(index), weight, fade);
    this.texels.changed(index);
  }

  /** How many poses an instance is to have each second; 0 for one in every frame. */
  getPoseRate(index: number): number {
    return this.rates.get(index);
  }

  setPoseRate(index: number, rate: number): void {
    this.rates.set(index, rate);
    this.texels.changed(index);
  }

  /** What an instance shows now. */
  pose(index: number, interpolate: boolean, target: PoseMix): PoseMix {
    const { stack, layers, time } = this;
    return readPose(stack, layers, index, time.timeOf(index), time.isPaused(index), interpolate, target);
  }

  /** Number of the slot of the clip that was last started on a layer, counted over all layers. */
  private currentSlot(index: number, layer: number): number {
    return layer * MAX_ACTIONS + this.stack.layers[layer].order.current(index);
  }

  /** Whether shaders can mix clips by any weights. */
  get mixes(): boolean {
    return this.layer.blend === actionWeights;
  }

  /** @throws If shaders cannot mix clips by any weights. */
  checkMixes(what: string, caller: string): void {
    if (this.mixes) return;
    throw new Error(`${caller}: ${what} needs ${MIXED_POSES}`);
  }
}
