import { InstancedInterleavedBuffer } from 'three';
import {
  CLOCK_EPOCH,
  LOOP_CLAMP,
  LOOP_ONCE,
  LOOP_PING_PONG,
  LOOP_ROOT_MOTION,
  REPEAT_FOREVER,
  REST_FRAME,
} from '../constants.js';
import type { BakedClip, ClipTable } from '../poses/ClipTable.js';
import type { FrameMix, PoseMix } from '../texture/PoseMix.js';
import { addRange } from '../utils/addRange.js';
import { changeClip } from './changeClip.js';
import { frameAt } from './frameAt.js';
import { InstanceTexture } from './InstanceTexture.js';
import {
  CLIP_COUNT,
  CLIP_FADE,
  CLIP_FADE_RATE,
  CLIP_LOOP,
  CLIP_RATE,
  CLIP_REPETITIONS,
  CLIP_START,
  CLIP_TIME,
  CLIP_WARP,
  OLDER_STRIDE,
  OLDEST,
  packCount,
  SLOT_STRIDE,
  WARP_IN,
  WARP_OUT,
} from './instanceLayout.js';
import { checkPlay, type PlayOptions, type Start } from './PlayOptions.js';
import {
  clearSlot,
  copyClip,
  cycleOf,
  dropWholeLoops,
  intervalsOf,
  isFinished,
  olderWeight,
  passOf,
  totalAt,
  turnAround,
} from './slots.js';

/** Bits of an instance's flags. */
const PAUSED = 1;
/** Passes are counted in reverse; stays when the time scale goes to zero. */
const REVERSED = 2;
/** Some of the clip has been played: until then its direction is open. */
const MOVED = 4;

/** Instances within this many of each other are uploaded in one go. */
const NEAR = 32;

/** What wants to know when instances play something else than before. */
export interface PlaybackObserver {
  /** A clip begins, or its time was set. */
  started(index: number): void;
  /** The clip goes on, but at another speed, or stands still. */
  retimed(index: number, turned: boolean): void;
  /** What an instance plays came from another one. */
  moved(index: number): void;
  /** Whole stretches of the clip's length were taken off its time. */
  dropped(index: number, cycles: number): void;
}

const _start: Start = { time: 0, rate: 0, loop: 0, repetitions: 0, fade: 0, warp: false, sync: false };

/**
 * The playback state of every instance and the clock they share.
 *
 * State is written when it changes, and read against the clock in the shader. Every `CLOCK_EPOCH` seconds the clock goes
 * back to zero and all times move along, computed in double precision; nothing else is ever done per instance.
 *
 * Each instance has three slots, see `instanceLayout`: the clip it plays, and two that it may be fading out of. The
 * doubles here are what is true; the floats the GPU reads are written from them.
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

  private readonly slots: Float64Array;
  private readonly flags: Uint8Array;
  /** Seconds since the beginning at which an instance was paused. */
  private readonly pausedAt: Float64Array;
  /** Seconds since the beginning at which an instance's clip was started, or its time set. */
  private readonly startedAt: Float64Array;
  // There is none until something fades.
  private older: Float64Array | null = null;
  private olderState: InstanceTexture | null = null;

  private readonly clips: () => ClipTable;

  /** @param clips The clips that instances play; asked anew each time, since a crowd's bone texture may change. */
  constructor(capacity: number, clips: () => ClipTable) {
    this.capacity = capacity;
    this.clips = clips;
    this.slots = new Float64Array(capacity * SLOT_STRIDE);
    this.flags = new Uint8Array(capacity);
    this.pausedAt = new Float64Array(capacity);
    this.startedAt = new Float64Array(capacity);
    this.state = new InstanceTexture(capacity, SLOT_STRIDE);
    this.buffer = new InstancedInterleavedBuffer(this.state.data, SLOT_STRIDE);
    // three.js forgets the ranges of later uploads, but not those that waited for the first
    this.buffer.onUpload(clearRanges);
    for (let i = 0; i < capacity; i++) {
      clearSlot(this.slots, i * SLOT_STRIDE);
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
    if (this.flags[index] & PAUSED) this.resume(index);

    const { slots, clock } = this;
    const at = index * SLOT_STRIDE;
    const { fade, sync } = _start;
    let { time, warp } = _start;
    let ratio = 1;
    if (clip !== null && _start.rate === 0) time = keptWithin(time, clip.count - 1);
    if ((sync || warp) && clip !== null) {
      const intervals = intervalsOf(slots, at);
      if (intervals < 1 || clip.count < 2) {
        warp = false;
      } else {
        ratio = this.durationRatio(index, clip, sync ? _start.rate : 0);
        warp = ratio > 0 && ratio < Infinity;
        if (sync) time += (this.within(index) / intervals) * (clip.count - 1);
      }
    }

    if (fade > 0) this.pushOlder(index);
    clearSlot(slots, at);
    if (clip !== null) {
      slots[at + CLIP_START] = clip.start;
      slots[at + CLIP_COUNT] = clip.count;
      slots[at + CLIP_LOOP] = _start.loop;
      slots[at + CLIP_REPETITIONS] = _start.repetitions;
      slots[at + CLIP_RATE] = _start.rate;
    }
    this.flags[index] = _start.rate < 0 ? REVERSED : 0;

    if (fade > 0) {
      const older = this.older as Float64Array;
      const o = index * OLDER_STRIDE;
      slots[at + CLIP_FADE_RATE] = 1 / fade;
      slots[at + CLIP_FADE] = 1 + clock / fade;
      older[o + WARP_IN] = 0;
      older[o + WARP_OUT] = 0;
      if (warp) {
        older[o + WARP_IN] = (-_start.rate * (1 / ratio - 1) * fade) / 2;
        older[o + WARP_OUT] = (older[o + CLIP_RATE] * (ratio - 1) * fade) / 2;
      }
    }
    slots[at + CLIP_TIME] = time - clock * slots[at + CLIP_RATE] - this.warpIn(index, clock);
    this.changed(index);
    this.begin(index);
  }

  /** Stops time and fade of an instance. */
  pause(index: number): void {
    if (this.flags[index] & PAUSED) return;
    this.flags[index] |= PAUSED;
    this.pausedAt[index] = this.elapsed;
    this.changed(index);
    this.observer?.retimed(index, false);
  }

  /** Lets a paused instance go on. */
  resume(index: number): void {
    if (!(this.flags[index] & PAUSED)) return;
    const missed = this.elapsed - this.pausedAt[index];
    this.flags[index] &= ~PAUSED;
    this.startedAt[index] += missed;
    this.shift(index, -missed);
    this.changed(index);
    this.observer?.retimed(index, false);
  }

  isPaused(index: number): boolean {
    return (this.flags[index] & PAUSED) !== 0;
  }

  /** Whether no time has passed since an instance's clip was started, or its time set. */
  isFresh(index: number): boolean {
    return this.startedAt[index] === this.localElapsed(index);
  }

  /** Whether time passes for an instance: it plays a clip, is not paused, has a speed and has not finished. */
  isPlaying(index: number): boolean {
    const at = index * SLOT_STRIDE;
    if (this.slots[at + CLIP_START] === REST_FRAME || this.slots[at + CLIP_RATE] === 0) return false;
    return !this.isPaused(index) && !this.isFinished(index);
  }

  isFinished(index: number): boolean {
    return isFinished(this.slots, index * SLOT_STRIDE, this.total(index), this.isReversed(index));
  }

  isReversed(index: number): boolean {
    return (this.flags[index] & REVERSED) !== 0;
  }

  /** The clip that an instance plays; null for the rest pose. */
  clipOf(index: number): BakedClip | null {
    return this.clips().startingAt(this.slots[index * SLOT_STRIDE + CLIP_START]);
  }

  /** Frames per second of the clock. */
  getRate(index: number): number {
    return this.slots[index * SLOT_STRIDE + CLIP_RATE];
  }

  /** Changes an instance's speed from where it is; a warp under way ends. */
  setRate(index: number, rate: number): void {
    const { slots } = this;
    const at = index * SLOT_STRIDE;
    const clock = this.localClock(index);
    let total = this.total(index);
    this.endWarp(index);

    const turned = rate !== 0 && rate < 0 !== this.isReversed(index);
    this.noteMoved(index);
    if (turned) {
      if (this.flags[index] & MOVED) total = turnAround(slots, at, total, rate < 0);
      else if (slots[at + CLIP_LOOP] & LOOP_ONCE) slots[at + CLIP_REPETITIONS] = rate < 0 ? 0 : 1;
      this.flags[index] ^= REVERSED;
    }
    slots[at + CLIP_RATE] = rate;
    slots[at + CLIP_TIME] = total - clock * rate;
    this.changed(index);
    this.observer?.retimed(index, turned);
  }

  /** Frames into the clip, as `AnimationAction.time` counts: from its start, also on the way back of a ping-pong. */
  within(index: number): number {
    const at = index * SLOT_STRIDE;
    const intervals = intervalsOf(this.slots, at);
    if (intervals < 1) return 0;
    const reverse = this.isReversed(index);
    const total = this.total(index);
    if (isFinished(this.slots, at, total, reverse)) return reverse ? 0 : intervals;
    return Math.min(Math.max(total - cycleOf(total, intervals, reverse) * intervals, 0), intervals);
  }

  /** Sets the frames into the clip; the passes so far stay counted. One that has finished runs its last pass again. */
  setWithin(index: number, frames: number): void {
    const { slots } = this;
    const at = index * SLOT_STRIDE;
    const intervals = intervalsOf(slots, at);
    if (intervals < 1) return;

    this.noteMoved(index);
    const reverse = this.isReversed(index);
    const total = this.total(index);
    let cycle = cycleOf(total, intervals, reverse);
    if (isFinished(slots, at, total, reverse)) {
      const passes = Math.max(Math.ceil(slots[at + CLIP_REPETITIONS]), reverse ? 0 : 1) - 1;
      cycle = reverse ? -passes - 1 : passes;
    }
    const still = this.isPaused(index) || slots[at + CLIP_RATE] === 0;
    slots[at + CLIP_TIME] += (still ? keptWithin(frames, intervals) : frames) + cycle * intervals - total;
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
    const { slots, clock } = this;
    this.origin += clock;
    this.clock = 0;
    for (let i = 0; i < this.capacity; i++) {
      const at = i * SLOT_STRIDE;
      const fading = slots[at + CLIP_FADE_RATE] !== 0;
      if (slots[at + CLIP_RATE] === 0 && !fading) continue;
      if (fading && !this.isPaused(i) && olderWeight(slots, at, clock) === 0) this.endFade(i);
      this.shift(i, clock);
      // A paused instance's time is not at the clock, and a warp runs ahead of it.
      if (slots[at + CLIP_FADE_RATE] === 0 && slots[at + CLIP_RATE] !== 0 && !this.isPaused(i)) {
        const cycles = dropWholeLoops(slots, at);
        if (cycles !== 0) this.observer?.dropped(i, cycles);
      }
      this.write(i);
    }
    this.changedAll();
  }

  /** What an instance shows now. */
  pose(index: number, interpolate: boolean, target: PoseMix): PoseMix {
    const { slots, older } = this;
    const at = index * SLOT_STRIDE;
    const clock = this.localClock(index);
    const [newest, second, oldest] = target.layers;
    const faded = olderWeight(slots, at, clock);

    target.count = 1;
    newest.weight = 1 - faded;
    const paused = this.isPaused(index);
    const warp = this.warpIn(index, clock);
    this.showSlot(slots, at, clock, warp, this.isReversed(index), paused, interpolate, newest);
    if (faded === 0 || older === null) return target;

    const o = index * OLDER_STRIDE;
    const olderFaded = olderWeight(older, o, clock);
    target.count = 2;
    second.weight = faded * (1 - olderFaded);
    const warpOut = this.warpOut(index, clock);
    this.showSlot(older, o, clock, warpOut, older[o + CLIP_RATE] < 0, paused, interpolate, second);
    if (olderFaded === 0) return target;

    target.count = 3;
    oldest.weight = faded * olderFaded;
    const last = o + OLDEST;
    this.showSlot(older, last, clock, 0, older[last + CLIP_RATE] < 0, paused, interpolate, oldest);
    return target;
  }

  /**
   * Calls back for each slot in use with its weight, and where it was `before` seconds ago, though not before it was
   * started, and is now.
   */
  forEachSlot(
    index: number,
    before: number,
    callback: (slots: Float64Array, at: number, weight: number, from: number, to: number) => void,
  ): void {
    const { slots, older } = this;
    const at = index * SLOT_STRIDE;
    if (this.isPaused(index)) return;
    const to = this.clock;
    const from = Math.max(to - before, this.startedAt[index] - this.origin);
    const middle = (from + to) / 2;
    const faded = older === null ? 0 : olderWeight(slots, at, middle);
    callback(
      slots,
      at,
      1 - faded,
      totalAt(slots, at, from, this.warpIn(index, from)),
      totalAt(slots, at, to, this.warpIn(index, to)),
    );
    if (faded === 0 || older === null) return;

    const o = index * OLDER_STRIDE;
    const olderFaded = olderWeight(older, o, middle);
    callback(
      older,
      o,
      faded * (1 - olderFaded),
      totalAt(older, o, from, this.warpOut(index, from)),
      totalAt(older, o, to, this.warpOut(index, to)),
    );
    if (olderFaded === 0) return;
    const last = o + OLDEST;
    callback(older, last, faded * olderFaded, totalAt(older, last, from, 0), totalAt(older, last, to, 0));
  }

  /** Whether the newest clip of an instance, or one it fades out of, moves it. */
  wantsRootMotion(index: number): boolean {
    const { slots, older } = this;
    const at = index * SLOT_STRIDE;
    if (slots[at + CLIP_LOOP] & LOOP_ROOT_MOTION) return true;
    if (older === null || slots[at + CLIP_FADE_RATE] === 0) return false;
    const o = index * OLDER_STRIDE;
    return ((older[o + CLIP_LOOP] | older[o + OLDEST + CLIP_LOOP]) & LOOP_ROOT_MOTION) !== 0;
  }

  /**
   * When the newest clip of an instance comes to `total` frames: seconds since the beginning; infinite when it stands
   * still.
   */
  timeOf(index: number, total: number): number {
    const { slots, older } = this;
    const at = index * SLOT_STRIDE;
    const rate = slots[at + CLIP_RATE];
    if (rate === 0 || this.isPaused(index)) return Infinity;
    const frames = total - slots[at + CLIP_TIME];
    const a = older === null || slots[at + CLIP_FADE_RATE] === 0 ? 0 : older[index * OLDER_STRIDE + WARP_IN];
    if (a === 0) return this.origin + frames / rate;

    // While the fade lasts: frames = clock * rate + a * weight², where the weight falls with the clock.
    const fadeRate = slots[at + CLIP_FADE_RATE];
    const end = slots[at + CLIP_FADE] / fadeRate;
    if ((frames - end * rate) * Math.sign(rate) >= 0) return this.origin + frames / rate;
    const b = -rate / fadeRate;
    const c = rate * end - frames;
    const root = Math.sqrt(Math.max(b * b - 4 * a * c, 0));
    const weight = (2 * c) / (-b + (b > 0 ? -root : root));
    return this.origin + end - weight / fadeRate;
  }

  /** Frames that the newest clip of an instance has come to. */
  total(index: number): number {
    const clock = this.localClock(index);
    return totalAt(this.slots, index * SLOT_STRIDE, clock, this.warpIn(index, clock));
  }

  /** The newest slot's numbers, and where they lie for an instance. */
  get newest(): Float64Array {
    return this.slots;
  }

  /** Exchanges what two instances play. */
  swap(i: number, j: number): void {
    swapNumbers(this.slots, i, j, SLOT_STRIDE);
    if (this.older !== null) swapNumbers(this.older, i, j, OLDER_STRIDE);
    swapNumbers(this.flags, i, j, 1);
    swapNumbers(this.pausedAt, i, j, 1);
    swapNumbers(this.startedAt, i, j, 1);
    for (const index of [i, j]) {
      this.changed(index);
      this.observer?.moved(index);
    }
  }

  /** Takes over the state of as many instances as both have room for. */
  copy(source: InstancePlayback): this {
    const count = Math.min(this.capacity, source.capacity);
    this.clock = source.clock;
    this.origin = source.origin;
    this.slots.set(source.slots.subarray(0, count * SLOT_STRIDE));
    this.flags.set(source.flags.subarray(0, count));
    this.pausedAt.set(source.pausedAt.subarray(0, count));
    this.startedAt.set(source.startedAt.subarray(0, count));
    if (source.older !== null) this.needOlder().set(source.older.subarray(0, count * OLDER_STRIDE));
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
    const change = (slots: Float64Array, at: number, clock: number, warp: number, reverse: boolean) =>
      changeClip(slots, at, clock, warp, reverse, before, after, lost);

    for (let i = 0; i < this.capacity; i++) {
      const { slots, older } = this;
      const at = i * SLOT_STRIDE;
      const clock = this.localClock(i);
      if (slots[at + CLIP_FADE_RATE] !== 0 && olderWeight(slots, at, clock) === 0) this.endFade(i);
      const fading = older !== null && slots[at + CLIP_FADE_RATE] !== 0;
      const warpIn = this.warpIn(i, clock);
      const warpOut = fading ? this.warpOut(i, clock) : 0;
      const factor = change(slots, at, clock, warpIn, this.isReversed(i));
      if (fading) {
        const o = i * OLDER_STRIDE;
        older[o + WARP_IN] *= factor;
        older[o + WARP_OUT] *= change(older, o, clock, warpOut, older[o + CLIP_RATE] < 0);
        if (olderWeight(older, o, clock) > 0)
          change(older, o + OLDEST, clock, 0, older[o + OLDEST + CLIP_RATE] < 0);
      }
      this.write(i);
      this.observer?.moved(i);
    }
    this.changedAll();
    return lost;
  }

  /** Everything an instance's state consists of, as of now, independent of the clock; see `restore`. */
  save(index: number): { flags: number; slots: number[] } {
    const clock = this.localClock(index);
    const at = index * SLOT_STRIDE;
    const saved = Array.from(this.slots.subarray(at, at + SLOT_STRIDE));
    if (this.older !== null && olderWeight(this.slots, at, clock) > 0) {
      const o = index * OLDER_STRIDE;
      saved.push(...this.older.subarray(o, o + OLDER_STRIDE));
    } else {
      saved[CLIP_FADE] = 0;
      saved[CLIP_FADE_RATE] = 0;
    }
    for (let slot = 0; slot < saved.length; slot += SLOT_STRIDE) {
      saved[slot + CLIP_TIME] += clock * saved[slot + CLIP_RATE];
      if (slot < 2 * SLOT_STRIDE) saved[slot + CLIP_FADE] -= clock * saved[slot + CLIP_FADE_RATE];
    }
    return { flags: this.flags[index], slots: saved };
  }

  /** Puts back what `save` returned. */
  restore(index: number, flags: number, saved: ArrayLike<number>): void {
    const { slots, clock } = this;
    const at = index * SLOT_STRIDE;
    for (let i = 0; i < SLOT_STRIDE; i++) slots[at + i] = saved[i];
    if (saved.length > SLOT_STRIDE) {
      const older = this.needOlder();
      for (let i = 0; i < OLDER_STRIDE; i++) older[index * OLDER_STRIDE + i] = saved[SLOT_STRIDE + i];
    }
    this.flags[index] = flags;
    this.pausedAt[index] = this.elapsed;
    this.shift(index, -clock);
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

  private noteMoved(index: number): void {
    const now = this.localElapsed(index);
    if (this.slots[index * SLOT_STRIDE + CLIP_RATE] === 0) {
      if (!(this.flags[index] & MOVED)) this.startedAt[index] = now;
    } else if (now !== this.startedAt[index]) {
      this.flags[index] |= MOVED;
    }
  }

  private localClock(index: number): number {
    return this.isPaused(index) ? this.clock - (this.elapsed - this.pausedAt[index]) : this.clock;
  }

  private warpIn(index: number, clock: number): number {
    const at = index * SLOT_STRIDE;
    if (this.older === null || this.slots[at + CLIP_FADE_RATE] === 0) return 0;
    const weight = olderWeight(this.slots, at, clock);
    return this.older[index * OLDER_STRIDE + WARP_IN] * weight * weight;
  }

  private warpOut(index: number, clock: number): number {
    const weight = 1 - olderWeight(this.slots, index * SLOT_STRIDE, clock);
    return (this.older as Float64Array)[index * OLDER_STRIDE + WARP_OUT] * weight * weight;
  }

  /** Lets both clips of a fade go on at the speed that warping has brought them to. */
  private endWarp(index: number): void {
    const { older, slots } = this;
    const at = index * SLOT_STRIDE;
    if (older === null || slots[at + CLIP_FADE_RATE] === 0) return;
    const o = index * OLDER_STRIDE;
    if (older[o + WARP_IN] === 0 && older[o + WARP_OUT] === 0) return;

    const clock = this.localClock(index);
    const weight = olderWeight(slots, at, clock);
    const fadeRate = slots[at + CLIP_FADE_RATE];
    const newest = totalAt(slots, at, clock, this.warpIn(index, clock));
    const second = totalAt(older, o, clock, this.warpOut(index, clock));
    slots[at + CLIP_RATE] -= 2 * older[o + WARP_IN] * weight * fadeRate;
    older[o + CLIP_RATE] += 2 * older[o + WARP_OUT] * (1 - weight) * fadeRate;
    slots[at + CLIP_TIME] = newest - clock * slots[at + CLIP_RATE];
    older[o + CLIP_TIME] = second - clock * older[o + CLIP_RATE];
    older[o + WARP_IN] = 0;
    older[o + WARP_OUT] = 0;
  }

  /** By how much longer the clip now playing is than the one to come; at their speeds, if a rate is given. */
  private durationRatio(index: number, clip: BakedClip, rate: number): number {
    const { slots } = this;
    const at = index * SLOT_STRIDE;
    const intervals = intervalsOf(slots, at);
    if (rate !== 0) return (intervals / Math.abs(slots[at + CLIP_RATE]) / (clip.count - 1)) * Math.abs(rate);
    return (this.clipOf(index)?.duration ?? clip.duration) / clip.duration;
  }

  /** Makes room for a new clip that the instance will fade to. */
  private pushOlder(index: number): void {
    const { slots, clock } = this;
    const older = this.needOlder();
    const at = index * SLOT_STRIDE;
    const o = index * OLDER_STRIDE;
    const faded = olderWeight(slots, at, clock);
    this.endWarp(index);

    if (faded === 0) {
      older.fill(0, o, o + OLDER_STRIDE);
      clearSlot(older, o + OLDEST);
      this.keepClip(index, older, o);
      return;
    }

    const olderFaded = olderWeight(older, o, clock);
    const newest = 1 - faded;
    const second = faded * (1 - olderFaded);
    const oldest = faded * olderFaded;
    // With three clips on screen, the one that shows least makes way for the new one.
    if (olderFaded > 0 && newest <= second && newest <= oldest) return;
    if (olderFaded > 0 && second < oldest) {
      const weight = oldest / (oldest + newest);
      const left = faded / slots[at + CLIP_FADE_RATE];
      older[o + CLIP_FADE_RATE] = weight / left;
      older[o + CLIP_FADE] = weight + (clock * weight) / left;
    } else {
      copyClip(older, o, older, o + OLDEST);
      older[o + CLIP_FADE] = slots[at + CLIP_FADE];
      older[o + CLIP_FADE_RATE] = slots[at + CLIP_FADE_RATE];
    }
    this.keepClip(index, older, o);
  }

  /** Copies the newest slot to an older one; where its time stands still, as what it shows. */
  private keepClip(index: number, to: Float64Array, o: number): void {
    const at = index * SLOT_STRIDE;
    copyClip(this.slots, at, to, o);
    if (this.slots[at + CLIP_RATE] !== 0) return;
    holdSlot(this.slots, at, this.total(index), this.isReversed(index), _held);
    copyClip(_held, 0, to, o);
    to[o + CLIP_TIME] = keptWithin(to[o + CLIP_TIME], intervalsOf(to, o));
  }

  private endFade(index: number): void {
    const at = index * SLOT_STRIDE;
    this.slots[at + CLIP_FADE] = 0;
    this.slots[at + CLIP_FADE_RATE] = 0;
    this.older?.fill(0, index * OLDER_STRIDE, (index + 1) * OLDER_STRIDE);
  }

  /** Moves an instance's times along as the clock goes back by so many seconds. */
  private shift(index: number, seconds: number): void {
    const at = index * SLOT_STRIDE;
    shiftSlot(this.slots, at, seconds);
    shiftFade(this.slots, at, seconds);
    if (this.older === null || this.slots[at + CLIP_FADE_RATE] === 0) return;
    const o = index * OLDER_STRIDE;
    shiftSlot(this.older, o, seconds);
    shiftFade(this.older, o, seconds);
    shiftSlot(this.older, o + OLDEST, seconds);
  }

  private needOlder(): Float64Array {
    if (this.older === null) {
      this.older = new Float64Array(this.capacity * OLDER_STRIDE);
      this.olderState = new InstanceTexture(this.capacity, OLDER_STRIDE);
    }
    return this.older;
  }

  /** Frames that a slot shows. */
  private showSlot(
    slots: Float64Array,
    at: number,
    clock: number,
    warp: number,
    reverse: boolean,
    paused: boolean,
    interpolate: boolean,
    target: FrameMix,
  ): void {
    const still = paused || slots[at + CLIP_RATE] === 0;
    if (still) holdSlot(slots, at, totalAt(slots, at, clock, warp), reverse, _held);
    const source = still ? _held : slots;
    const from = still ? 0 : at;
    frameAt(
      still ? 0 : clock,
      source[from + CLIP_START],
      source[from + CLIP_COUNT],
      source[from + CLIP_TIME] + (still ? 0 : warp),
      source[from + CLIP_LOOP],
      source[from + CLIP_RATE],
      source[from + CLIP_REPETITIONS],
      interpolate,
      target,
    );
  }

  /** Writes what the GPU reads of an instance. */
  private write(index: number): void {
    const { slots, older } = this;
    const at = index * SLOT_STRIDE;
    const clock = this.localClock(index);
    const paused = this.isPaused(index);
    const fading = older !== null && slots[at + CLIP_FADE_RATE] !== 0;
    const o = index * OLDER_STRIDE;
    const { data } = this.state;
    const ahead = fading ? older[o + WARP_IN] : 0;
    writeSlot(slots, at, clock, ahead, this.warpIn(index, clock), paused, this.isReversed(index), data);
    writeFade(slots, at, clock, paused, data);
    if (!fading || this.olderState === null) return;

    const image = this.olderState.data;
    const warp = this.warpOut(index, clock);
    writeSlot(older, o, clock, older[o + WARP_OUT], warp, paused, older[o + CLIP_RATE] < 0, image);
    writeFade(older, o, clock, paused, image);
    const last = o + OLDEST;
    writeSlot(older, last, clock, 0, 0, paused, older[last + CLIP_RATE] < 0, image);
    image[last + CLIP_FADE] = 0;
    image[last + CLIP_FADE_RATE] = 0;
  }

  /** Writes an instance, and marks it for upload. */
  private changed(index: number): void {
    this.write(index);
    addRange(this.buffer.updateRanges, index * SLOT_STRIDE, SLOT_STRIDE, NEAR * SLOT_STRIDE);
    this.buffer.needsUpdate = true;
    this.state.changed(index);
    if (this.slots[index * SLOT_STRIDE + CLIP_FADE_RATE] !== 0) this.olderState?.changed(index);
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

/** Where a clip stands still, its end is not the beginning of the next pass. */
function keptWithin(frames: number, intervals: number): number {
  return Math.min(Math.max(frames, 0), intervals * (1 - 1e-9));
}

function shiftSlot(slots: Float64Array, at: number, seconds: number): void {
  slots[at + CLIP_TIME] += seconds * slots[at + CLIP_RATE];
}

function shiftFade(slots: Float64Array, at: number, seconds: number): void {
  slots[at + CLIP_FADE] -= seconds * slots[at + CLIP_FADE_RATE];
}

/** Writes a slot as the GPU reads it; `ahead` as `CLIP_WARP` says, `warp` is what it comes to at `clock`. */
function writeSlot(
  slots: Float64Array,
  at: number,
  clock: number,
  ahead: number,
  warp: number,
  paused: boolean,
  reverse: boolean,
  out: Float32Array,
): void {
  const still = paused || slots[at + CLIP_RATE] === 0;
  if (still) holdSlot(slots, at, totalAt(slots, at, clock, warp), reverse, _held);
  const source = still ? _held : slots;
  const from = still ? 0 : at;
  out[at + CLIP_START] = source[from + CLIP_START];
  out[at + CLIP_COUNT] = packCount(source[from + CLIP_COUNT], source[from + CLIP_LOOP]);
  out[at + CLIP_TIME] = source[from + CLIP_TIME];
  out[at + CLIP_WARP] = still ? 0 : ahead;
  out[at + CLIP_RATE] = source[from + CLIP_RATE];
  out[at + CLIP_REPETITIONS] = source[from + CLIP_REPETITIONS];
}

const _held = /*@__PURE__*/ new Float64Array(SLOT_STRIDE);

/** Writes a slot whose clip stands still: the one place in it, which time scale zero leaves as it is from the start. */
function holdSlot(slots: Float64Array, at: number, total: number, reverse: boolean, out: Float64Array): void {
  const intervals = intervalsOf(slots, at);
  const finished = isFinished(slots, at, total, reverse);
  const loop = slots[at + CLIP_LOOP];
  const cycle = intervals < 1 ? 0 : cycleOf(total, intervals, reverse);
  let within = Math.min(Math.max(total - cycle * intervals, 0), intervals);
  let pass = passOf(cycle, reverse);
  if (finished) {
    within = reverse ? 0 : intervals;
    pass = slots[at + CLIP_REPETITIONS] - 1;
  }
  if ((loop & LOOP_PING_PONG) !== 0 && (pass & 1) !== 0) within = intervals - within;
  const rest = finished && (loop & LOOP_CLAMP) === 0;
  out[CLIP_START] = rest ? REST_FRAME : slots[at + CLIP_START];
  out[CLIP_COUNT] = rest ? 1 : slots[at + CLIP_COUNT];
  out[CLIP_TIME] = within;
  out[CLIP_LOOP] = LOOP_CLAMP;
  out[CLIP_RATE] = 0;
  out[CLIP_REPETITIONS] = REPEAT_FOREVER;
}

function writeFade(slots: Float64Array, at: number, clock: number, paused: boolean, out: Float32Array): void {
  out[at + CLIP_FADE] = paused ? olderWeight(slots, at, clock) : slots[at + CLIP_FADE];
  out[at + CLIP_FADE_RATE] = paused ? 0 : slots[at + CLIP_FADE_RATE];
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
