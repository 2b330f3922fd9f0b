import type { InstancedInterleavedBuffer } from 'three';
import { REST_FRAME } from '../constants.js';
import type { InstanceData } from '../instances/InstanceData.js';
import type { InstanceTexture } from '../instances/InstanceTexture.js';
import type { BakedClip, ClipTable } from '../poses/ClipTable.js';
import type { PoseMix } from '../poses/PoseMix.js';
import { Clock } from './Clock.js';
import { changeRate, setPlace } from './changeSlot.js';
import { lengthRatio, startWarp } from './fades.js';
import { LayerSlots } from './LayerSlots.js';
import { basePass, locate, type Place, totalAt } from './loops.js';
import { PlaybackTexels } from './PlaybackTexels.js';
import { checkPlay, type PlayOptions, type Start } from './PlayOptions.js';
import { readPose } from './readPose.js';
import {
  hasMoved,
  intervalsOf,
  isReversed,
  REVERSED,
  SLOT_COUNT,
  SLOT_LOOP,
  SLOT_PASS,
  SLOT_RATE,
  SLOT_REPETITIONS,
  SLOT_START,
  SLOT_STARTED,
  SLOT_STARTED_IN,
  SLOT_WARP,
} from './slots.js';

/** What wants to know when instances play something else than before. */
export interface PlaybackObserver {
  /** A clip begins, or its time was set. */
  started(index: number): void;
  /** The clip goes on, but at another speed, or stands still. */
  retimed(index: number, turned: boolean): void;
  /** Two instances were exchanged. */
  swapped(i: number, j: number): void;
  /** There is room for another number of instances. */
  resized(capacity: number): void;
}

const _start: Start = { time: 0, rate: 0, loop: 0, repetitions: 0, fade: 0, warp: false, sync: false };
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

  /** @param clips The clips that instances play; asked anew each time, since a crowd's bone texture may change. */
  constructor(
    capacity: number,
    private readonly clips: () => ClipTable,
  ) {
    this.size = capacity;
    this.time = new Clock(capacity);
    this.layer = new LayerSlots(capacity);
    this.texels = new PlaybackTexels(capacity, this.layer);
    for (let i = 0; i < capacity; i++) this.write(i);
  }

  /** Instances that there is room for. */
  get capacity(): number {
    return this.size;
  }

  /** The newest slots as WebGL reads them. Another one after `resize`. */
  get buffer(): InstancedInterleavedBuffer {
    return this.texels.buffer;
  }

  /** The newest slots as node materials read them. Another one after `resize`. */
  get state(): InstanceTexture {
    return this.texels.state;
  }

  /** The slots that fade out, as shaders read them. Another one after the first fade, and after `resize`. */
  get fades(): InstanceTexture {
    return this.texels.fades;
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
    if (this.isPaused(index)) this.resume(index);

    const { layer } = this;
    const { newest } = layer;
    const { clock } = this;
    const at = layer.at(index);
    const { rate, fade, sync } = _start;
    let { time } = _start;
    let ratio = 0;
    const intervals = intervalsOf(newest, at);
    if ((sync || _start.warp) && clip !== null && intervals >= 1 && clip.count >= 2) {
      if (sync && rate !== 0) ratio = lengthRatio(newest, at, clip.count - 1, rate);
      else ratio = (this.clipOf(index)?.duration ?? clip.duration) / clip.duration;
      if (sync) time += (this.within(index) / intervals) * (clip.count - 1);
    }

    layer.makeRoom(index, clock, fade);
    if (fade > 0) {
      const second = layer.slots[1];
      second[at + SLOT_WARP] = 0;
      if (ratio > 0 && ratio < Infinity) startWarp(newest, second, at, ratio, fade);
    }
    if (clip !== null) {
      newest[at + SLOT_START] = clip.start;
      newest[at + SLOT_COUNT] = clip.count;
      newest[at + SLOT_LOOP] = _start.loop | (rate < 0 ? REVERSED : 0);
      newest[at + SLOT_REPETITIONS] = _start.repetitions;
      newest[at + SLOT_RATE] = rate;
      newest[at + SLOT_PASS] = -1;
      newest[at + SLOT_STARTED_IN] = basePass(newest, at);
      setPlace(newest, at, clock, 1, time, rate === 0);
    }
    this.changed(index);
    this.begin(index);
  }

  /** Stops time and fade of an instance. */
  pause(index: number): void {
    if (this.isPaused(index)) return;
    this.layer.settle(index, this.clock);
    this.time.pause(index);
    this.changed(index);
    this.observer?.retimed(index, false);
  }

  /** Lets a paused instance go on. */
  resume(index: number): void {
    if (!this.isPaused(index)) return;
    const missed = this.time.resume(index);
    this.layer.newest[this.layer.at(index) + SLOT_STARTED] += missed;
    this.layer.shift(index, missed);
    this.changed(index);
    this.observer?.retimed(index, false);
  }

  isPaused(index: number): boolean {
    return this.time.isPaused(index);
  }

  /** Whether time passes for an instance: it plays a clip, is not paused, has a speed and has not finished. */
  isPlaying(index: number): boolean {
    const { newest } = this.layer;
    const at = this.layer.at(index);
    if (newest[at + SLOT_START] === REST_FRAME || newest[at + SLOT_RATE] === 0) return false;
    return !this.isPaused(index) && !this.where(index).finished;
  }

  /** The clip that an instance plays; null for the rest pose. */
  clipOf(index: number): BakedClip | null {
    return this.clips().startingAt(this.layer.newest[this.layer.at(index) + SLOT_START]);
  }

  /** Frames per second of the clock. */
  getRate(index: number): number {
    return this.layer.newest[this.layer.at(index) + SLOT_RATE];
  }

  /** Changes an instance's speed from where it is; a warp under way goes on, in proportion. */
  setRate(index: number, rate: number): void {
    const { layer } = this;
    const { newest } = layer;
    const at = layer.at(index);
    const clock = this.time.timeOf(index);
    const reversed = isReversed(newest, at);
    this.settle(index);
    changeRate(newest, at, clock, layer.easeOf(index, 0, clock), rate, newest[at + SLOT_WARP]);
    this.changed(index);
    this.observer?.retimed(index, isReversed(newest, at) !== reversed);
  }

  /** Where the newest clip of an instance is. The object is the same for all calls. */
  where(index: number): Readonly<Place> {
    const { layer } = this;
    const { newest } = layer;
    const at = layer.at(index);
    const clock = this.time.timeOf(index);
    const total = totalAt(newest, at, clock, layer.easeOf(index, 0, clock));
    return locate(newest, at, total, this.isPaused(index) || !hasMoved(newest, at, clock), _place);
  }

  /** Frames into the clip, as `AnimationAction.time` counts: from its start, also on the way back of a ping-pong. */
  within(index: number): number {
    return this.where(index).within;
  }

  /** Sets the frames into the clip; the passes so far stay counted. One that has finished runs its last pass again. */
  setWithin(index: number, frames: number): void {
    const { layer } = this;
    const { newest } = layer;
    const at = layer.at(index);
    if (intervalsOf(newest, at) < 1) return;
    const clock = this.time.timeOf(index);
    this.settle(index);
    newest[at + SLOT_STARTED_IN] = basePass(newest, at);
    setPlace(newest, at, clock, layer.easeOf(index, 0, clock), frames, this.isPaused(index));
    this.changed(index);
    this.begin(index);
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
      layer.endFade(i, clock);
      // What finished in this very update is left as it is: root motion still has to see its last frames.
      if (!this.where(i).finished) this.settle(i);
    }
    time.restart();
    for (let i = 0; i < this.capacity; i++) {
      if (layer.isMoving(i)) layer.shift(i, -clock);
      this.write(i);
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
    this.texels = new PlaybackTexels(capacity, this.layer);
    for (let i = 0; i < capacity; i++) this.write(i);
    this.observer?.resized(capacity);
  }

  /** Exchanges what two instances play. */
  swap(i: number, j: number): void {
    this.layer.swap(i, j);
    this.time.swap(i, j);
    this.changed(i);
    this.changed(j);
    this.observer?.swapped(i, j);
  }

  /** Takes over the state of as many instances as both have room for. */
  copy(source: InstancePlayback): this {
    const count = Math.min(this.capacity, source.capacity);
    this.time.copy(source.time);
    this.layer.copy(source.layer);
    for (let i = 0; i < count; i++) this.write(i);
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
    for (let i = 0; i < this.capacity; i++) {
      this.settle(i);
      this.layer.changeClips(i, this.time.timeOf(i), before, after, lost);
      this.write(i);
      this.observer?.started(i);
    }
    this.texels.changedAll();
    return lost;
  }

  /** Call after numbers of an instance's slots were set from outside; what it has come past is not told of again. */
  restored(index: number): void {
    this.layer.newest[this.layer.at(index) + SLOT_STARTED_IN] = Number.NaN;
    this.changed(index);
    this.begin(index);
  }

  dispose(): void {
    this.texels.dispose();
  }

  private begin(index: number): void {
    this.layer.newest[this.layer.at(index) + SLOT_STARTED] = this.time.elapsedOf(index);
    this.observer?.started(index);
  }

  /** Lets an instance's slots count anew from where they are now; those of one that is paused were settled then. */
  private settle(index: number): void {
    if (!this.isPaused(index)) this.layer.settle(index, this.clock);
  }

  private write(index: number): void {
    this.texels.write(index, this.time.timeOf(index), this.isPaused(index));
  }

  /** Writes what shaders read of an instance, and marks it for upload. */
  private changed(index: number): void {
    this.write(index);
    this.texels.changed(index);
  }
}
