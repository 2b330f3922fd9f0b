import type { AnimationActionLoopStyles } from 'three';
import {
  DataTexture,
  FloatType,
  InstancedInterleavedBuffer,
  LoopOnce,
  LoopPingPong,
  LoopRepeat,
  RGBAFormat,
} from 'three';
import { CLOCK_EPOCH, LOOP_CLAMP, LOOP_PING_PONG, REPEAT_FOREVER, REST_FRAME } from '../constants.js';
import type { BakedClip } from '../poses/ClipTable.js';
import { type FrameMix, frameAt } from './frameAt.js';
import {
  CLIP_COUNT,
  CLIP_LOOP,
  CLIP_RATE,
  CLIP_REPETITIONS,
  CLIP_START,
  CLIP_TIME,
  INSTANCE_STRIDE,
  INSTANCES_PER_ROW,
} from './instanceLayout.js';

/** How an instance plays a clip; the words and defaults of `AnimationAction`. */
export interface PlayOptions {
  /** @default LoopRepeat */
  loop?: AnimationActionLoopStyles;
  /** How often the clip runs under LoopRepeat and LoopPingPong. @default Infinity */
  repetitions?: number;
  /** Whether a clip that has finished stays on its last frame; else the rest pose returns. @default false */
  clampWhenFinished?: boolean;
  /** 1 is the clip's own speed, negative plays in reverse. @default 1 */
  timeScale?: number;
  /** Seconds into the clip at which to start. @default 0 */
  time?: number;
}

/**
 * The playback state of every instance and the clock they share.
 *
 * State is written when it changes, and read against the clock in the shader. Every `CLOCK_EPOCH` seconds the clock goes
 * back to zero and all times move along, computed in double precision; nothing else is ever done per instance.
 */
export class InstancePlayback {
  readonly capacity: number;
  /** What the GPU reads; see `instanceLayout`. */
  readonly buffer: InstancedInterleavedBuffer;
  /** Seconds since the clock last went back to zero. */
  clock = 0;
  /** What the clock had come to whenever it went back to zero; with it, the seconds since the beginning. */
  origin = 0;

  private readonly state: Float32Array<ArrayBuffer>;
  private readonly rows: number;
  private dataTexture: DataTexture | null = null;
  // Frames at clock 0 and frames per second, in double: rounded ones would drift apart over days.
  private readonly time: Float64Array;
  private readonly rate: Float64Array;

  constructor(capacity: number) {
    this.capacity = capacity;
    this.rows = Math.max(1, Math.ceil(capacity / INSTANCES_PER_ROW));
    this.state = new Float32Array(this.rows * INSTANCES_PER_ROW * INSTANCE_STRIDE);
    this.time = new Float64Array(capacity);
    this.rate = new Float64Array(capacity);
    this.buffer = new InstancedInterleavedBuffer(this.state, INSTANCE_STRIDE);
    // three.js forgets the ranges of later uploads, but not those that waited for the first
    this.buffer.onUpload(() => this.buffer.clearUpdateRanges());

    for (let i = 0; i < this.state.length; i += INSTANCE_STRIDE) {
      this.state[i + CLIP_START] = REST_FRAME;
      this.state[i + CLIP_COUNT] = 1;
    }
  }

  /** The same state as a texture, for node materials: `INSTANCES_PER_ROW` instances of two texels a row. */
  get texture(): DataTexture {
    if (this.dataTexture === null) {
      const width = (INSTANCES_PER_ROW * INSTANCE_STRIDE) / 4;
      this.dataTexture = new DataTexture(this.state, width, this.rows, RGBAFormat, FloatType);
      this.dataTexture.needsUpdate = true;
    }
    return this.dataTexture;
  }

  dispose(): void {
    this.dataTexture?.dispose();
  }

  /** Starts a clip on an instance. */
  play(index: number, clip: BakedClip, options: PlayOptions, caller: string): void {
    const loop = options.loop ?? LoopRepeat;
    const timeScale = options.timeScale ?? 1;
    const time = options.time ?? 0;
    const repetitions = options.repetitions ?? Infinity;

    checkFinite(timeScale, 'timeScale', caller);
    checkFinite(time, 'time', caller);
    if (!(repetitions >= 0))
      throw new Error(`${caller}: repetitions is ${repetitions}; use a number from 0, or Infinity.`);
    if (loop !== LoopRepeat && loop !== LoopOnce && loop !== LoopPingPong) {
      throw new Error(`${caller}: loop is ${loop}; use LoopOnce, LoopRepeat or LoopPingPong.`);
    }

    const at = index * INSTANCE_STRIDE;
    const rate = clip.fps * timeScale;
    const { state } = this;
    state[at + CLIP_START] = clip.start;
    state[at + CLIP_COUNT] = clip.count;
    state[at + CLIP_LOOP] =
      (loop === LoopPingPong ? LOOP_PING_PONG : 0) + (options.clampWhenFinished === true ? LOOP_CLAMP : 0);
    // In reverse three.js does not count the first pass through the start, but LoopOnce does stop there.
    if (loop === LoopOnce) state[at + CLIP_REPETITIONS] = rate < 0 ? 0 : 1;
    else state[at + CLIP_REPETITIONS] = Math.min(repetitions, REPEAT_FOREVER);

    this.rate[index] = rate;
    this.time[index] = time * clip.fps - this.clock * rate;
    this.writeTime(index);
    this.changed(index, 1);
  }

  /** Moves the clock. */
  advance(delta: number): void {
    this.clock += delta;
    if (Math.abs(this.clock) >= CLOCK_EPOCH) this.rebase();
  }

  /** What an instance shows now. */
  frame(index: number, interpolate: boolean, target: FrameMix): FrameMix {
    const { state } = this;
    const at = index * INSTANCE_STRIDE;
    return frameAt(
      this.clock,
      state[at + CLIP_START],
      state[at + CLIP_COUNT],
      this.time[index],
      state[at + CLIP_LOOP],
      this.rate[index],
      state[at + CLIP_REPETITIONS],
      interpolate,
      target,
    );
  }

  /** Takes over the state of as many instances as both have room for. */
  copy(source: InstancePlayback): this {
    const count = Math.min(this.capacity, source.capacity);
    this.clock = source.clock;
    this.origin = source.origin;
    this.state.set(source.state.subarray(0, count * INSTANCE_STRIDE));
    this.time.set(source.time.subarray(0, count));
    this.rate.set(source.rate.subarray(0, count));
    this.changed(0, count);
    return this;
  }

  /** Puts the clock back to zero without a change to what is on screen. */
  private rebase(): void {
    for (let i = 0; i < this.capacity; i++) {
      if (this.rate[i] === 0) continue;
      this.time[i] += this.clock * this.rate[i];
      this.dropWholeLoops(i);
      this.writeTime(i);
    }
    this.origin += this.clock;
    this.clock = 0;
    this.changed(0, this.capacity);
  }

  /** Keeps an instance's time near its clip's start, where float32 is fine-grained. */
  private dropWholeLoops(index: number): void {
    const { state, time } = this;
    const at = index * INSTANCE_STRIDE;
    const intervals = state[at + CLIP_COUNT] - 1;
    const repetitions = state[at + CLIP_REPETITIONS];
    if (intervals < 1) {
      time[index] = 0;
      return;
    }

    const reverse = this.rate[index] < 0;
    let cycle = Math.floor(time[index] / intervals);
    if (reverse) cycle = Math.min(cycle, 0);
    const passes = reverse ? -cycle - 1 : cycle;

    if (cycle !== 0 && passes >= repetitions) {
      // Finished: half a pass beyond the end, for ever.
      time[index] = (reverse ? -repetitions - 0.5 : repetitions + 0.5) * intervals;
      return;
    }
    // An even number, so that ping stays ping.
    const dropped = Math.trunc(cycle / 2) * 2;
    time[index] -= dropped * intervals;
    if (repetitions < REPEAT_FOREVER) state[at + CLIP_REPETITIONS] -= Math.abs(dropped);
  }

  private writeTime(index: number): void {
    const at = index * INSTANCE_STRIDE;
    this.state[at + CLIP_TIME] = this.time[index];
    this.state[at + CLIP_RATE] = this.rate[index];
  }

  /** Marks instances for upload: one range that grows until three.js has sent it. */
  private changed(first: number, count: number): void {
    const { buffer } = this;
    const start = first * INSTANCE_STRIDE;
    const end = start + count * INSTANCE_STRIDE;
    const range = buffer.updateRanges[0];
    if (range === undefined) {
      buffer.addUpdateRange(start, end - start);
    } else {
      const last = Math.max(range.start + range.count, end);
      range.start = Math.min(range.start, start);
      range.count = last - range.start;
    }
    buffer.needsUpdate = true;
    if (this.dataTexture !== null) this.dataTexture.needsUpdate = true;
  }
}

function checkFinite(value: number, what: string, caller: string): void {
  if (!Number.isFinite(value)) throw new Error(`${caller}: ${what} is ${value}; use a finite number.`);
}
