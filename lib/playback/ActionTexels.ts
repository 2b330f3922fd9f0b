import { createPoseClip, type PoseMix } from '../animation/mixPose.js';
import {
  CLOCK_EPOCH,
  LOOP_BACK,
  LOOP_CLAMP,
  LOOP_ENDS_BACK,
  LOOP_FIRST,
  LOOP_PING_PONG,
  REPEAT_FOREVER,
  REST_FRAME,
} from '../constants.js';
import { InstanceTexture } from '../instances/InstanceTexture.js';
import { repeatItem } from '../utils/attributes.js';
import {
  ACTION_COUNT,
  ACTION_LOOP,
  ACTION_PLACE,
  ACTION_RATE,
  ACTION_SINCE,
  ACTION_START,
  ACTION_WARP,
  ACTION_WEIGHT,
  type Actions,
  basePass,
  FINISHED,
  FIRST,
  frameOf,
  hasBit,
  intervalsOf,
  isReversed,
  isWarping,
  locate,
  type Place,
  passesLeft,
  RAMP_FROM,
  RAMP_RATE,
  RAMP_SIZE,
  RAMP_START,
  RAMP_TO,
  rampAt,
  rampDone,
  rateOf,
  setRamp,
  settle,
  totalAt,
} from './actionNumbers.js';
import type { Clock } from './Clock.js';
import {
  ACTION_LAYER,
  ACTION_TEXELS,
  actionsRowBits,
  actionsTexels,
  CLIP_COUNT,
  CLIP_DRIFT,
  CLIP_DRIFT_REST,
  CLIP_PASSES,
  CLIP_RATE,
  CLIP_START,
  CLIP_TIME,
  CLIP_WARP,
  CLIP_WARP_RATE,
  CLIP_WARP_START,
  CLIP_WEIGHT,
  firstAction,
  HEADER_CHANGED,
  HEADER_EPOCH,
  HEADER_PHASE,
  HEADER_RATE,
  MAX_ACTIONS,
  MAX_AGE,
  packCount,
} from './instanceLayout.js';
import type { LayerActions } from './LayerActions.js';

/** The golden ratio less 1: its multiples lie as evenly between whole numbers as any. */
const GOLDEN = 0.6180339887498949;

/** Shares of less are what rounding leaves of weights. */
const MIN_SHARE = 1e-6;

const _place: Place = { pass: 0, within: 0, finished: false };

/** What instances play as shaders read it; `instanceLayout` says how it lies. */
export class ActionTexels {
  /** Grows with each change. */
  version = 0;
  /** Whether any instance ever had another pose rate than that of the frames. */
  hasRates = false;
  /** Whether an instance was written since this was last set to false in the middle of a fade or a warp. */
  hasFades = false;
  /** Another one after `replace`, and once an instance plays more at once than any has before. */
  texture = new InstanceTexture(0, 4);
  private capacity = 0;
  /** Actions that an instance has room for. */
  private room = 1;

  constructor(
    private layers: readonly LayerActions[],
    private readonly time: Clock,
  ) {}

  /**
   * Call when there is room for another number of instances, or there are other layers: shaders read another texture then.
   *
   * @param kept How many of the instances play what they did, in the same layers.
   */
  replace(capacity: number, layers: readonly LayerActions[], kept: number): void {
    const before = this.texture;
    const isNew = this.capacity === 0;
    const { length } = layers;
    this.room = Math.min(this.room, length * MAX_ACTIONS);
    const stride = actionsTexels(length, this.room) * 4;
    this.texture = new InstanceTexture(capacity, stride, 2 ** actionsRowBits(length));
    this.capacity = capacity;
    this.layers = layers;
    const { data } = this.texture;
    const { data: from, stride: size } = before;
    for (let i = 0; i < kept; i++) for (let k = 0; k < size; k++) data[i * stride + k] = from[i * size + k];
    if (!isNew && kept === 0) for (let i = 0; i < capacity; i++) this.write(i);
    else if (kept < capacity) {
      // None of the others plays anything yet.
      this.write(kept);
      repeatItem(data, kept * stride, stride);
    }
    // Where in the time between two poses its own lies: instances of one rate are spread evenly over frames.
    for (let i = kept; i < capacity; i++)
      this.texture.data[i * this.texture.stride + HEADER_PHASE] = (i * GOLDEN) % 1;
    this.copyRates(before);
    this.version++;
    // Whoever hears of it finds the one that takes its place.
    before.dispose();
  }

  /** Makes room for so many actions of each instance, and for some that are likely to come: all is copied and sent again. */
  makeRoom(actions: number): void {
    const { room, layers } = this;
    if (actions <= room) return;
    this.room = Math.min(Math.max(actions, 2 * room), layers.length * MAX_ACTIONS);
    this.replace(this.capacity, layers, this.capacity);
  }

  /** How many poses an instance is to have each second; 0 for one in every frame. */
  rateOf(index: number): number {
    const { data, stride } = this.texture;
    return data[index * stride + HEADER_RATE];
  }

  setRate(index: number, rate: number): void {
    const { data, stride } = this.texture;
    data[index * stride + HEADER_RATE] = rate;
    this.hasRates ||= rate > 0;
  }

  copyRates({ data, stride }: InstanceTexture): void {
    const end = Math.min(data.length / stride, this.capacity);
    for (let i = 0; i < end; i++) this.setRate(i, data[i * stride + HEADER_RATE]);
  }

  /**
   * Whether an instance has changed since it was posed, or it is time for its next pose.
   *
   * @param posedAt Seconds of the clock in the present epoch, and `clock` now, as numbers of 32 bits.
   * @param levelRate Poses a second at the level of detail at which it is drawn; the lower of both rates holds.
   */
  isDue(index: number, posedAt: number, clock: number, levelRate: number): boolean {
    const { data, stride } = this.texture;
    const at = index * stride;
    const own = data[at + HEADER_RATE];
    const rate = own > 0 && levelRate > 0 ? Math.min(own, levelRate) : Math.max(own, levelRate);
    const changed = data[at + HEADER_CHANGED] - (this.time.epoch - data[at + HEADER_EPOCH]) * CLOCK_EPOCH;
    if (rate === 0 || changed >= posedAt) return true;
    const phase = data[at + HEADER_PHASE];
    return Math.floor(clock * rate + phase) !== Math.floor(posedAt * rate + phase);
  }

  /** Writes an instance, without marking it for upload. */
  write(index: number): void {
    const { layers, time } = this;
    let actions = 0;
    for (const layer of layers) actions += layer.count(index);
    this.makeRoom(actions);
    const { data, stride } = this.texture;
    const now = time.timeOf(index);
    const paused = time.isPaused(index);
    const at = index * stride;
    data[at + HEADER_CHANGED] = time.time;
    data[at + HEADER_EPOCH] = time.epoch;
    let to = at + firstAction(layers.length) * 4;
    for (let number = 0; number < layers.length; number++) {
      const layer = layers[number];
      this.hasFades ||= !paused && layer.isFading(index);
      if (layer.share !== null) {
        const { ramps } = layer.share;
        const ramp = index * RAMP_SIZE;
        this.encodeRamp(ramps, ramp, now, paused, at + number * 4);
        // It shows nothing, and will not by itself.
        if (ramps[ramp + RAMP_TO] === 0 && rampDone(ramps, ramp, now) === 1) continue;
      }
      const first = layer.at(index);
      for (let place = 0; place < layer.count(index); place++) {
        const actions = layer.actions(place);
        const age = Math.abs(now - actions[first + ACTION_SINCE]);
        // What counts from long ago is too large a number for a float32. Root motion still has to see the last frames of what has finished.
        if (!paused && age > CLOCK_EPOCH && !layer.locate(index, place, now, false, _place).finished)
          settle(actions, first, now);
        this.encodeClip(actions, first, now, paused, to);
        if (data[to + CLIP_START] === REST_FRAME) continue;
        data[to + CLIP_START] += number * ACTION_LAYER;
        this.encodeRamp(actions, first + ACTION_WEIGHT, now, paused, to + CLIP_WEIGHT);
        to += ACTION_TEXELS * 4;
      }
    }
    if (to < at + stride) data[to + CLIP_START] = 0;
  }

  /** Whether an instance was written so long ago that its times will not be exact for long. */
  isOld(index: number): boolean {
    const { data, stride } = this.texture;
    return Math.abs(this.time.epoch - data[index * stride + HEADER_EPOCH]) > MAX_AGE / 2;
  }

  /** Writes an instance, and marks it for upload. */
  changed(index: number): void {
    this.write(index);
    this.version++;
    this.texture.changed(index);
  }

  /** Marks all instances for upload. */
  changedAll(): void {
    this.version++;
    this.texture.changedAll();
  }

  /**
   * What an instance shows: the CPU twin of what shaders make of its actions, but in doubles.
   *
   * @param interpolate Whether two frames are mixed; else the nearest is shown.
   */
  readPose(index: number, interpolate: boolean, target: PoseMix): PoseMix {
    const { layers, time } = this;
    const now = time.timeOf(index);
    const paused = time.isPaused(index);
    target.count = 0;
    target.layers.length = layers.length;
    let left = 1;
    for (let number = layers.length - 1; number >= 0; number--) {
      const layer = layers[number];
      target.layers[number] ??= { weight: 1, mask: null };
      target.layers[number].weight = layer.share?.shareAt(index, now) ?? 1;
      target.layers[number].mask = layer.share?.mask ?? null;
      const at = layer.at(index);
      for (let place = layer.count(index) - 1; place >= 0; place--) {
        const actions = layer.actions(place);
        const weight = layer.weightOf(index, place, now);
        if (weight <= 0) continue;
        if (number === 0) left -= weight;
        const clip = nextClip(target);
        clip.layer = number;
        clip.weight = weight;
        const shown = layer.locate(index, place, now, paused, _place);
        const isOver = shown.finished && !hasBit(actions, at, LOOP_CLAMP);
        const start = isOver ? REST_FRAME : actions[at + ACTION_START];
        const intervals = intervalsOf(actions, at);
        const frame = isOver ? 0 : frameOf(actions, at, shown);
        const whole = interpolate
          ? Math.min(Math.floor(frame), Math.max(intervals - 1, 0))
          : Math.round(frame);
        clip.start = start;
        clip.frame0 = start + whole;
        clip.frame1 = interpolate && !isOver ? start + Math.min(whole + 1, intervals) : clip.frame0;
        clip.alpha = interpolate ? frame - whole : 0;
      }
    }
    // What the clips of the base leave is the rest pose.
    if (left < MIN_SHARE) return target;
    const rest = nextClip(target);
    rest.start = rest.frame0 = rest.frame1 = REST_FRAME;
    rest.alpha = rest.layer = 0;
    rest.weight = left;
    return target;
  }

  dispose(): void {
    this.texture.dispose();
  }

  /**
   * Writes an action's clip as shaders read it: the fields of `instanceLayout` up to its weight.
   *
   * @param paused Whether the instance is paused.
   */
  private encodeClip(actions: Actions, at: number, now: number, paused: boolean, to: number): void {
    const { data: out } = this.texture;
    const bits = actions[at + ACTION_LOOP] | 0;
    if (paused || rateOf(actions, at) === 0 || (bits & FINISHED) !== 0) {
      // The one frame that it shows.
      const place = locate(actions, at, totalAt(actions, at, now), true, _place);
      const rest = place.finished && !hasBit(actions, at, LOOP_CLAMP);
      out.fill(0, to, to + CLIP_WEIGHT);
      out[to + CLIP_START] = rest ? REST_FRAME : actions[at + ACTION_START];
      out[to + CLIP_COUNT] = packCount(rest ? 1 : actions[at + ACTION_COUNT], LOOP_CLAMP);
      if (!rest) out[to + CLIP_TIME] = frameOf(actions, at, place);
      out[to + CLIP_PASSES] = REPEAT_FOREVER;
      return;
    }
    const left = passesLeft(actions, at);
    let loop = bits & (LOOP_PING_PONG | LOOP_CLAMP);
    if (bits & FIRST) loop |= LOOP_FIRST;
    if (loop & LOOP_PING_PONG) {
      const base = basePass(actions, at);
      const last = base + left - 1;
      if (base % 2 !== 0) loop |= LOOP_BACK;
      // A ping-pong that finishes before its first pass was counted ends at the other end, as in three.js.
      if (last > 0 && last % 2 !== 0) loop |= LOOP_ENDS_BACK;
    }
    out[to + CLIP_START] = actions[at + ACTION_START];
    out[to + CLIP_COUNT] = packCount(actions[at + ACTION_COUNT], loop);
    out[to + CLIP_PASSES] = left;
    this.encodeSpeed(actions, at, to);
  }

  /**
   * Writes where a clip is and how it moves. A warp puts it ahead of where the speed at its end leads, or if it comes to a stop, the
   * speed at its start: what follows is written then.
   */
  private encodeSpeed(actions: Actions, at: number, to: number): void {
    const { data: out } = this.texture;
    const { origin } = this.time;
    const ramp = at + ACTION_WARP;
    const since = actions[at + ACTION_SINCE];
    const goal = actions[at + ACTION_RATE] * actions[ramp + RAMP_TO];
    const first = actions[at + ACTION_RATE] * actions[ramp + RAMP_FROM];
    const stops = goal === 0 || goal < 0 !== isReversed(actions, at);
    const rate = stops ? first : goal;
    const ahead = isWarping(actions, at) ? (goal - first) / (2 * actions[ramp + RAMP_RATE]) : 0;
    const done = rampDone(actions, ramp, since);
    const share = stops ? done : 1 - done;
    out[to + CLIP_TIME] = actions[at + ACTION_PLACE] - ahead * share * share - (since - origin) * rate;
    out[to + CLIP_WARP] = ahead;
    out[to + CLIP_RATE] = rate;
    if (ahead === 0) {
      encodeDrift(rate, intervalsOf(actions, at), out, to);
    } else {
      out[to + CLIP_WARP_START] = actions[ramp + RAMP_START] - origin;
      out[to + CLIP_WARP_RATE] = (stops ? 1 : -1) * actions[ramp + RAMP_RATE];
    }
  }

  /** Writes a ramp as shaders read it. */
  private encodeRamp(ramps: Actions, at: number, now: number, paused: boolean, to: number): void {
    const { data: out } = this.texture;
    out[to + RAMP_FROM] = ramps[at + RAMP_FROM];
    out[to + RAMP_TO] = ramps[at + RAMP_TO];
    out[to + RAMP_START] = ramps[at + RAMP_START] - this.time.origin;
    out[to + RAMP_RATE] = ramps[at + RAMP_RATE];
    if (paused) setRamp(out, to, rampAt(ramps, at, now));
  }
}

/** Writes how far a clip drifts in an epoch. */
function encodeDrift(rate: number, intervals: number, out: Float32Array, to: number): void {
  const turn = 2 * intervals;
  let drift = intervals < 1 ? 0 : (rate * CLOCK_EPOCH) % turn;
  if (Math.abs(drift) > intervals) drift -= Math.sign(drift) * turn;
  // Of at most 2 ** 11 steps either way: times an age they are fewer than a float32 has.
  const step = 2 ** (Math.ceil(Math.log2(Math.max(turn, 1))) - Math.log2(MAX_AGE));
  out[to + CLIP_DRIFT] = Math.round(drift / step) * step;
  out[to + CLIP_DRIFT_REST] = drift - out[to + CLIP_DRIFT];
}

function nextClip(target: PoseMix): PoseMix['clips'][number] {
  target.clips[target.count] ??= createPoseClip();
  return target.clips[target.count++];
}
