import { InstancedInterleavedBuffer } from 'three';
import { CLOCK_EPOCH, LOOP_PING_PONG, REPEAT_FOREVER, REST_FRAME } from '../constants.js';
import { InstanceTexture } from '../instances/InstanceTexture.js';
import type { BakedClip, ClipTable } from '../poses/ClipTable.js';
import type { PoseMix } from '../poses/PoseMix.js';
import { addRange } from '../utils/addRange.js';
import { changeClip } from './changeClip.js';
import { drawFade, drawSlot, showSlot } from './drawSlot.js';
import { easeIn, easeOut, lengthRatio, pushOlder, startWarp } from './fades.js';
import { CLIP_FADE, CLIP_FADE_RATE, OLDER_STRIDE, OLDEST, SLOT_STRIDE } from './instanceLayout.js';
import { checkPlay, type PlayOptions, type Start } from './PlayOptions.js';
import {
  AN_INSTANT,
  basePass,
  changeRate,
  clearSlot,
  FINISHED,
  hasBit,
  hasMoved,
  intervalsOf,
  locate,
  OLDER_SIZE,
  olderWeight,
  type Place,
  passesLeft,
  REVERSED,
  ROOT_MOTION,
  SLOT_COUNT,
  SLOT_FADE,
  SLOT_FADE_RATE,
  SLOT_LOOP,
  SLOT_PASS,
  SLOT_PLACE,
  SLOT_RATE,
  SLOT_REPETITIONS,
  SLOT_SINCE,
  SLOT_SIZE,
  SLOT_START,
  SLOT_WARP,
  type Slots,
  setPlace,
  settle,
  standsStill,
  totalAt,
} from './slots.js';

/** Bits of an instance's flags. */
const PAUSED = 1;

/** Instances within this many of each other are uploaded in one go. */
const NEAR = 32;

/** What wants to know when instances play something else than before. */
export interface PlaybackObserver {
  /** A clip begins, or its time was set. */
  started(index: number): void;
  /** The clip goes on, but at another speed, or stands still. */
  retimed(index: number, turned: boolean): void;
  /** Two instances were exchanged. */
  swapped(i: number, j: number): void;
}

/** Calls back with a slot, its weight, and the totals that it had come to at two times. */
export type SlotCallback = (slots: Slots, at: number, weight: number, from: number, to: number) => void;

const _start: Start = { time: 0, rate: 0, loop: 0, repetitions: 0, fade: 0, warp: false, sync: false };
const _place: Place = { pass: 0, within: 0, finished: false };

/**
 * The playback state of every instance and the clock they share.
 *
 * State is written when it changes, and read against the clock in the shader. Every `CLOCK_EPOCH` seconds the clock goes
 * back to zero and all times move along, computed in double precision; nothing else is ever done per instance.
 *
 * Each instance has three slots: the clip it plays, and two that it may be fading out of. The doubles here, see
 * `slots.ts`, are what is true; the floats the GPU reads, see `instanceLayout`, are written from them.
 */
export class InstancePlayback {
  readonly capacity: number;
  /** The newest slots as WebGL reads them. */
  readonly buffer: InstancedInterleavedBuffer;
  /** The newest slots as node materials read them. */
  readonly state: InstanceTexture;
  /** Seconds since the clock last went back to zero. */
  clock = 0;
  /** What the clock had come to whenever it went back to zero; with it, the seconds since the beginning. */
  origin = 0;
  observer: PlaybackObserver | null = null;

  private readonly slots: Slots;
  private readonly flags: Uint8Array;
  /** Seconds since the beginning at which an instance was paused. */
  private readonly pausedAt: Float64Array;
  /** Seconds since the beginning at which an instance's clip was started, or its time set. */
  private readonly startedAt: Float64Array;
  /** Number of the pass it was in before that; NaN if it came from JSON, and has been in its place before. */
  private readonly startedIn: Float64Array;
  // There is none until something fades.
  private older: Slots | null = null;
  private olderState: InstanceTexture | null = null;

  private readonly clips: () => ClipTable;

  /** @param clips The clips that instances play; asked anew each time, since a crowd's bone texture may change. */
  constructor(capacity: number, clips: () => ClipTable) {
    this.capacity = capacity;
    this.clips = clips;
    this.slots = new Float64Array(capacity * SLOT_SIZE);
    this.flags = new Uint8Array(capacity);
    this.pausedAt = new Float64Array(capacity);
    this.startedAt = new Float64Array(capacity);
    this.startedIn = new Float64Array(capacity);
    this.state = new InstanceTexture(capacity, SLOT_STRIDE);
    this.buffer = new InstancedInterleavedBuffer(this.state.data, SLOT_STRIDE);
    // three.js forgets the ranges of later uploads, but not those that waited for the first
    this.buffer.onUpload(clearRanges);
    for (let i = 0; i < capacity; i++) {
      clearSlot(this.slots, i * SLOT_SIZE);
      this.write(i);
    }
  }

  /** Seconds since the beginning. */
  get elapsed(): number {
    return this.origin + this.clock;
  }

  /** The slots that fade out, as shaders read them. */
  get fades(): InstanceTexture {
    return this.olderState ?? nothingFades();
  }

  dispose(): void {
    this.state.dispose();
    this.olderState?.dispose();
  }

  /** Starts a clip on an instance, or the rest pose. */
  play(index: number, clip: BakedClip | null, options: PlayOptions, caller: string): void {
    checkPlay(clip, options, caller, _start);
    if (this.isPaused(index)) this.resume(index);

    const { slots, clock } = this;
    const at = index * SLOT_SIZE;
    const { rate, fade, sync } = _start;
    let { time } = _start;
    let ratio = 0;
    const intervals = intervalsOf(slots, at);
    if ((sync || _start.warp) && clip !== null && intervals >= 1 && clip.count >= 2) {
      if (sync && rate !== 0) ratio = lengthRatio(slots, at, clip.count - 1, rate);
      else ratio = (this.clipOf(index)?.duration ?? clip.duration) / clip.duration;
      if (sync) time += (this.within(index) / intervals) * (clip.count - 1);
    }

    const older = fade > 0 ? this.needOlder() : null;
    const o = index * OLDER_SIZE;
    if (older !== null) pushOlder(slots, at, older, o, clock);
    clearSlot(slots, at);
    if (older !== null) {
      slots[at + SLOT_FADE_RATE] = 1 / fade;
      slots[at + SLOT_FADE] = 1 + clock / fade;
      older[o + SLOT_WARP] = 0;
      if (ratio > 0 && ratio < Infinity) startWarp(slots, at, older, o, ratio, fade);
    }
    if (clip !== null) {
      slots[at + SLOT_START] = clip.start;
      slots[at + SLOT_COUNT] = clip.count;
      slots[at + SLOT_LOOP] = _start.loop | (rate < 0 ? REVERSED : 0);
      slots[at + SLOT_REPETITIONS] = _start.repetitions;
      slots[at + SLOT_RATE] = rate;
      slots[at + SLOT_PASS] = -1;
      this.startedIn[index] = basePass(slots, at);
      setPlace(slots, at, clock, 1, time, rate === 0);
    }
    this.changed(index);
    this.begin(index);
  }

  /** Stops time and fade of an instance. */
  pause(index: number): void {
    if (this.isPaused(index)) return;
    this.settle(index);
    this.flags[index] |= PAUSED;
    this.pausedAt[index] = this.elapsed;
    this.changed(index);
    this.observer?.retimed(index, false);
  }

  /** Lets a paused instance go on. */
  resume(index: number): void {
    if (!this.isPaused(index)) return;
    const missed = this.elapsed - this.pausedAt[index];
    this.flags[index] &= ~PAUSED;
    this.startedAt[index] += missed;
    this.shift(index, missed);
    this.changed(index);
    this.observer?.retimed(index, false);
  }

  isPaused(index: number): boolean {
    return (this.flags[index] & PAUSED) !== 0;
  }

  /** Whether no time has passed since an instance's clip was started, or its time set. */
  isFresh(index: number): boolean {
    const since = this.localElapsed(index) - this.startedAt[index];
    return Math.abs(since) < AN_INSTANT && !Number.isNaN(this.startedIn[index]);
  }

  /** Number of the pass that an instance was in before its clip was started, or its time set. */
  passBefore(index: number): number {
    return this.startedIn[index];
  }

  /** Whether time passes for an instance: it plays a clip, is not paused, has a speed and has not finished. */
  isPlaying(index: number): boolean {
    const at = index * SLOT_SIZE;
    if (this.slots[at + SLOT_START] === REST_FRAME || this.slots[at + SLOT_RATE] === 0) return false;
    return !this.isPaused(index) && !this.where(index).finished;
  }

  /** Whether an instance's clip has finished for good, however the time is that has passed. */
  isOver(index: number): boolean {
    return hasBit(this.slots, index * SLOT_SIZE, FINISHED);
  }

  /** Whether a pass of an instance shows the clip from its other end: every second one of a ping-pong. */
  isMirrored(index: number, pass: number): boolean {
    return pass % 2 !== 0 && hasBit(this.slots, index * SLOT_SIZE, LOOP_PING_PONG);
  }

  isReversed(index: number): boolean {
    return hasBit(this.slots, index * SLOT_SIZE, REVERSED);
  }

  /** The clip that an instance plays; null for the rest pose. */
  clipOf(index: number): BakedClip | null {
    return this.clips().startingAt(this.slots[index * SLOT_SIZE + SLOT_START]);
  }

  /** Frames per second of the clock. */
  getRate(index: number): number {
    return this.slots[index * SLOT_SIZE + SLOT_RATE];
  }

  /** Changes an instance's speed from where it is; a warp under way goes on, in proportion. */
  setRate(index: number, rate: number): void {
    const { slots } = this;
    const at = index * SLOT_SIZE;
    const clock = this.localClock(index);
    const reversed = this.isReversed(index);
    this.settle(index);
    changeRate(slots, at, clock, easeIn(slots, at, clock), rate, slots[at + SLOT_WARP]);
    this.changed(index);
    this.observer?.retimed(index, this.isReversed(index) !== reversed);
  }

  /** Where the newest clip of an instance is. The object is the same for all calls. */
  where(index: number): Readonly<Place> {
    const { slots } = this;
    const at = index * SLOT_SIZE;
    const clock = this.localClock(index);
    const total = totalAt(slots, at, clock, easeIn(slots, at, clock));
    return locate(slots, at, total, this.isPaused(index) || !hasMoved(slots, at, clock), _place);
  }

  /** Frames into the clip, as `AnimationAction.time` counts: from its start, also on the way back of a ping-pong. */
  within(index: number): number {
    return this.where(index).within;
  }

  /** Sets the frames into the clip; the passes so far stay counted. One that has finished runs its last pass again. */
  setWithin(index: number, frames: number): void {
    const { slots } = this;
    const at = index * SLOT_SIZE;
    if (intervalsOf(slots, at) < 1) return;
    const clock = this.localClock(index);
    this.settle(index);
    this.startedIn[index] = basePass(slots, at);
    setPlace(slots, at, clock, easeIn(slots, at, clock), frames, this.isPaused(index));
    this.changed(index);
    this.begin(index);
  }

  /** Moves the clock. Call {@link InstancePlayback.keepClockSmall} once everything that looks back has been told. */
  advance(delta: number): void {
    this.clock += delta;
  }

  /** Puts the clock back to zero when it is due, without a change to what is on screen. */
  keepClockSmall(): void {
    if (Math.abs(this.clock) < CLOCK_EPOCH) return;
    const { clock } = this;
    for (let i = 0; i < this.capacity; i++) {
      if (this.isPaused(i) || !this.isMoving(i)) continue;
      if (olderWeight(this.slots, i * SLOT_SIZE, clock) === 0) this.endFade(i);
      // Root motion still has to see the last frames of what finished in this very update.
      if (!this.where(i).finished) this.settle(i);
    }
    this.origin += clock;
    this.clock = 0;
    for (let i = 0; i < this.capacity; i++) {
      if (this.isMoving(i)) this.shift(i, -clock);
      this.write(i);
    }
    this.changedAll();
  }

  /** What an instance shows now. */
  pose(index: number, interpolate: boolean, target: PoseMix): PoseMix {
    const { slots, older } = this;
    const at = index * SLOT_SIZE;
    const clock = this.localClock(index);
    const held = this.isPaused(index);
    const [newest, second, oldest] = target.layers;
    const faded = olderWeight(slots, at, clock);

    target.count = 1;
    newest.weight = 1 - faded;
    showSlot(slots, at, clock, easeIn(slots, at, clock), held, interpolate, newest);
    if (faded === 0 || older === null) return target;

    const o = index * OLDER_SIZE;
    const olderFaded = olderWeight(older, o, clock);
    target.count = 2;
    second.weight = faded * (1 - olderFaded);
    showSlot(older, o, clock, easeOut(slots, at, clock), held, interpolate, second);
    if (olderFaded === 0) return target;

    target.count = 3;
    oldest.weight = faded * olderFaded;
    showSlot(older, o + SLOT_SIZE, clock, 0, held, interpolate, oldest);
    return target;
  }

  /**
   * Calls back for each slot in use with its weight, and where it was `before` seconds ago, though not before it was
   * started, and is now.
   */
  forEachSlot(index: number, before: number, callback: SlotCallback): void {
    const { slots, older } = this;
    const at = index * SLOT_SIZE;
    if (this.isPaused(index)) return;
    const to = this.clock;
    const from = Math.max(to - before, this.startedAt[index] - this.origin);
    const middle = (from + to) / 2;
    const faded = older === null ? 0 : olderWeight(slots, at, middle);
    callback(
      slots,
      at,
      1 - faded,
      totalAt(slots, at, from, easeIn(slots, at, from)),
      totalAt(slots, at, to, easeIn(slots, at, to)),
    );
    if (faded === 0 || older === null) return;

    const o = index * OLDER_SIZE;
    const olderFaded = olderWeight(older, o, middle);
    callback(
      older,
      o,
      faded * (1 - olderFaded),
      totalAt(older, o, from, easeOut(slots, at, from)),
      totalAt(older, o, to, easeOut(slots, at, to)),
    );
    if (olderFaded === 0) return;
    const last = o + SLOT_SIZE;
    callback(older, last, faded * olderFaded, totalAt(older, last, from, 0), totalAt(older, last, to, 0));
  }

  /** Whether the newest clip of an instance, or one it fades out of, moves it. */
  wantsRootMotion(index: number): boolean {
    const { slots, older } = this;
    const at = index * SLOT_SIZE;
    if (hasBit(slots, at, ROOT_MOTION)) return true;
    if (older === null || slots[at + SLOT_FADE_RATE] === 0) return false;
    const o = index * OLDER_SIZE;
    return hasBit(older, o, ROOT_MOTION) || hasBit(older, o + SLOT_SIZE, ROOT_MOTION);
  }

  /** Number of the pass in which the newest clip of an instance finishes; infinite if it never does. */
  lastPass(index: number): number {
    const at = index * SLOT_SIZE;
    const left = passesLeft(this.slots, at);
    return left >= REPEAT_FOREVER ? Infinity : basePass(this.slots, at) + left - 1;
  }

  /**
   * When the newest clip of an instance comes to a place of a pass: seconds since the beginning; infinite when it stands
   * still.
   *
   * @param within Frames from the clip's start, as `AnimationAction.time` counts them.
   */
  timeOf(index: number, pass: number, within: number): number {
    const { slots } = this;
    const at = index * SLOT_SIZE;
    const rate = slots[at + SLOT_RATE];
    if (standsStill(slots, at) || this.isPaused(index)) return Infinity;
    const passes = (pass - basePass(slots, at)) * intervalsOf(slots, at);
    const total = within + (rate < 0 ? -passes : passes);
    const since = this.origin + slots[at + SLOT_SINCE];
    const seconds = (total - slots[at + SLOT_PLACE]) / rate;
    const warp = slots[at + SLOT_WARP];
    const fadeRate = slots[at + SLOT_FADE_RATE];
    if (warp === 0 || fadeRate === 0) return since + seconds;

    // While the fade lasts, the weight of what fades out falls from 1 to 0, and seconds = time - since + warp * weight².
    const end = slots[at + SLOT_FADE] / fadeRate;
    const left = end - slots[at + SLOT_SINCE] - seconds;
    if (left <= 0) return since + seconds;
    // With time = end - weight / fadeRate, that is warp * weight² - weight / fadeRate + left = 0.
    const b = 1 / fadeRate;
    const weight = (2 * left) / (b + Math.sqrt(Math.max(b * b - 4 * warp * left, 0)));
    return this.origin + end - weight / fadeRate;
  }

  /** Exchanges what two instances play. */
  swap(i: number, j: number): void {
    swapNumbers(this.slots, i, j, SLOT_SIZE);
    if (this.older !== null) swapNumbers(this.older, i, j, OLDER_SIZE);
    swapNumbers(this.flags, i, j, 1);
    swapNumbers(this.pausedAt, i, j, 1);
    swapNumbers(this.startedAt, i, j, 1);
    swapNumbers(this.startedIn, i, j, 1);
    this.changed(i);
    this.changed(j);
    this.observer?.swapped(i, j);
  }

  /** Takes over the state of as many instances as both have room for. */
  copy(source: InstancePlayback): this {
    const count = Math.min(this.capacity, source.capacity);
    this.clock = source.clock;
    this.origin = source.origin;
    this.slots.set(source.slots.subarray(0, count * SLOT_SIZE));
    this.flags.set(source.flags.subarray(0, count));
    this.pausedAt.set(source.pausedAt.subarray(0, count));
    this.startedAt.set(source.startedAt.subarray(0, count));
    this.startedIn.set(source.startedIn.subarray(0, count));
    if (source.older !== null) this.needOlder().set(source.older.subarray(0, count * OLDER_SIZE));
    for (let i = 0; i < count; i++) this.write(i);
    this.changedAll();
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
    const { slots, older } = this;
    for (let i = 0; i < this.capacity; i++) {
      const at = i * SLOT_SIZE;
      const clock = this.localClock(i);
      if (slots[at + SLOT_FADE_RATE] !== 0 && olderWeight(slots, at, clock) === 0) this.endFade(i);
      this.settle(i);
      changeClip(slots, at, easeIn(slots, at, clock), before, after, lost);
      if (older !== null && slots[at + SLOT_FADE_RATE] !== 0) {
        const o = i * OLDER_SIZE;
        changeClip(older, o, easeOut(slots, at, clock), before, after, lost);
        if (olderWeight(older, o, clock) > 0) changeClip(older, o + SLOT_SIZE, 0, before, after, lost);
      }
      this.write(i);
      this.observer?.started(i);
    }
    this.changedAll();
    return lost;
  }

  /**
   * What an instance plays, as of now and for another clock to go on from: its slots one after the other, the first alone
   * or all three. The array is the same for all calls.
   */
  save(index: number): { paused: boolean; slots: Slots } {
    const clock = this.localClock(index);
    const at = index * SLOT_SIZE;
    const fading = this.older !== null && olderWeight(this.slots, at, clock) > 0;
    const slots = _saved.subarray(0, fading ? 3 * SLOT_SIZE : SLOT_SIZE);
    slots.set(this.slots.subarray(at, at + SLOT_SIZE));
    if (fading && this.older !== null) {
      const o = index * OLDER_SIZE;
      slots.set(this.older.subarray(o, o + OLDER_SIZE), SLOT_SIZE);
    }
    if (!this.isPaused(index)) settleAll(slots, 0, fading ? slots : null, SLOT_SIZE, clock);
    if (!fading) slots[SLOT_FADE] = slots[SLOT_FADE_RATE] = 0;
    for (let slot = 0; slot < slots.length; slot += SLOT_SIZE) {
      slots[slot + SLOT_SINCE] = clock;
      shiftSlot(slots, slot, -clock);
    }
    return { paused: this.isPaused(index), slots };
  }

  /** Puts back what `save` returned; what it has come past is not told of again. */
  restore(index: number, paused: boolean, slots: ArrayLike<number>): void {
    const at = index * SLOT_SIZE;
    const fading = slots.length > SLOT_SIZE;
    for (let i = 0; i < SLOT_SIZE; i++) this.slots[at + i] = slots[i];
    if (fading) {
      const older = this.needOlder();
      for (let i = 0; i < OLDER_SIZE; i++) older[index * OLDER_SIZE + i] = slots[SLOT_SIZE + i];
    }
    this.flags[index] = paused ? PAUSED : 0;
    this.pausedAt[index] = this.elapsed;
    this.shift(index, this.clock);
    this.startedIn[index] = Number.NaN;
    this.changed(index);
    this.begin(index);
  }

  private begin(index: number): void {
    this.startedAt[index] = this.localElapsed(index);
    this.observer?.started(index);
  }

  private localElapsed(index: number): number {
    return this.isPaused(index) ? this.pausedAt[index] : this.elapsed;
  }

  private localClock(index: number): number {
    return this.isPaused(index) ? this.clock - (this.elapsed - this.pausedAt[index]) : this.clock;
  }

  /** Whether anything about an instance changes with the clock. */
  private isMoving(index: number): boolean {
    const at = index * SLOT_SIZE;
    return !standsStill(this.slots, at) || this.slots[at + SLOT_FADE_RATE] !== 0;
  }

  /** Lets an instance's slots count anew from where they are now; those of one that is paused were settled then. */
  private settle(index: number): void {
    if (this.isPaused(index)) return;
    settleAll(this.slots, index * SLOT_SIZE, this.older, index * OLDER_SIZE, this.localClock(index));
  }

  private endFade(index: number): void {
    const at = index * SLOT_SIZE;
    this.slots[at + SLOT_FADE] = 0;
    this.slots[at + SLOT_FADE_RATE] = 0;
    this.older?.fill(0, index * OLDER_SIZE, (index + 1) * OLDER_SIZE);
  }

  /** Moves an instance's times by so many seconds of the clock. */
  private shift(index: number, seconds: number): void {
    const at = index * SLOT_SIZE;
    shiftSlot(this.slots, at, seconds);
    if (this.older === null || this.slots[at + SLOT_FADE_RATE] === 0) return;
    const o = index * OLDER_SIZE;
    shiftSlot(this.older, o, seconds);
    shiftSlot(this.older, o + SLOT_SIZE, seconds);
  }

  private needOlder(): Slots {
    if (this.older === null) {
      this.older = new Float64Array(this.capacity * OLDER_SIZE);
      this.olderState = new InstanceTexture(this.capacity, OLDER_STRIDE);
    }
    return this.older;
  }

  /** Writes what the GPU reads of an instance. */
  private write(index: number): void {
    const { slots, older } = this;
    const at = index * SLOT_SIZE;
    const to = index * SLOT_STRIDE;
    const clock = this.localClock(index);
    const held = this.isPaused(index);
    const { data } = this.state;
    drawSlot(slots, at, clock, easeIn(slots, at, clock), held, data, to);
    drawFade(slots, at, clock, held, data, to);
    if (older === null || this.olderState === null || slots[at + SLOT_FADE_RATE] === 0) return;

    const o = index * OLDER_SIZE;
    const olderTo = index * OLDER_STRIDE;
    const image = this.olderState.data;
    drawSlot(older, o, clock, easeOut(slots, at, clock), held, image, olderTo);
    drawFade(older, o, clock, held, image, olderTo);
    drawSlot(older, o + SLOT_SIZE, clock, 0, held, image, olderTo + OLDEST);
    image[olderTo + OLDEST + CLIP_FADE] = 0;
    image[olderTo + OLDEST + CLIP_FADE_RATE] = 0;
  }

  /** Writes an instance, and marks it for upload. */
  private changed(index: number): void {
    this.write(index);
    addRange(this.buffer.updateRanges, index * SLOT_STRIDE, SLOT_STRIDE, NEAR * SLOT_STRIDE);
    this.buffer.needsUpdate = true;
    this.state.changed(index);
    if (this.slots[index * SLOT_SIZE + SLOT_FADE_RATE] !== 0) this.olderState?.changed(index);
  }

  private changedAll(): void {
    this.buffer.clearUpdateRanges();
    this.buffer.addUpdateRange(0, this.capacity * SLOT_STRIDE);
    this.buffer.needsUpdate = true;
    this.state.changedAll();
    this.olderState?.changedAll();
  }
}

/**
 * Called on a buffer that was uploaded. It must not hold the playback: WebGLRenderer keeps buffers it has drawn for as
 * long as it lives, also of crowds that were never disposed.
 */
function clearRanges(this: InstancedInterleavedBuffer): void {
  this.clearUpdateRanges();
}

const _saved = /*@__PURE__*/ new Float64Array(3 * SLOT_SIZE);

/** Lets a slot, and those it fades out of, count anew from where they are at `clock`. */
function settleAll(slots: Slots, at: number, older: Slots | null, o: number, clock: number): void {
  settle(slots, at, clock, easeIn(slots, at, clock));
  if (older === null || slots[at + SLOT_FADE_RATE] === 0) return;
  settle(older, o, clock, easeOut(slots, at, clock));
  settle(older, o + SLOT_SIZE, clock, 0);
}

function shiftSlot(slots: Slots, at: number, seconds: number): void {
  slots[at + SLOT_SINCE] += seconds;
  slots[at + SLOT_FADE] += seconds * slots[at + SLOT_FADE_RATE];
}

function swapNumbers(numbers: Float64Array | Uint8Array, i: number, j: number, stride: number): void {
  for (let k = 0; k < stride; k++) {
    const kept = numbers[i * stride + k];
    numbers[i * stride + k] = numbers[j * stride + k];
    numbers[j * stride + k] = kept;
  }
}

let nothing: InstanceTexture | null = null;

/** Bound where a crowd never faded. */
function nothingFades(): InstanceTexture {
  nothing ??= new InstanceTexture(1, OLDER_STRIDE);
  return nothing;
}
