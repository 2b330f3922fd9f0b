import type { BakedClip, ClipTable } from '../animation/ClipTable.js';
import { LOOP_CLAMP, LOOP_PING_PONG } from '../constants.js';
import { resized, swapItems } from '../utils/attributes.js';
import { warnOnce } from '../utils/messages.js';
import {
  ACTION_COUNT,
  ACTION_LOOP,
  ACTION_PASS,
  ACTION_RATE,
  ACTION_REPETITIONS,
  ACTION_SIZE,
  ACTION_START,
  ACTION_STARTED,
  ACTION_STARTED_IN,
  ACTION_TOLD_AGAIN,
  ACTION_TOLD_TIME,
  ACTION_WARP,
  ACTION_WEIGHT,
  type Actions,
  basePass,
  clearAction,
  endWarp,
  FADING_OUT,
  FIRST,
  fadeDone,
  fadeTo,
  hasBit,
  hasMoved,
  intervalsOf,
  isWarping,
  locate,
  ONCE,
  type Place,
  RAMP_FROM,
  RAMP_RATE,
  RAMP_TO,
  REVERSED,
  ROOT_MOTION,
  rampAt,
  rampTo,
  setPlace,
  setRamp,
  settle,
  shiftAction,
  startFadingOut,
  totalAt,
  warpIsOver,
} from './actionNumbers.js';
import { MAX_ACTIONS } from './instanceLayout.js';
import type { Start } from './PlayOptions.js';

/** Name of the layer that all others lie over. */
export const BASE_LAYER = 'base';

/** What `PlayOptions` say in ACTION_LOOP. */
const ASKED_BITS = LOOP_PING_PONG | LOOP_CLAMP | ROOT_MOTION | ONCE;
/** Seconds between calls of a program that calls in each frame, or in each tick of a slower clock of its own. */
const A_MOMENT = 0.15;

const _place: Place = { pass: 0, within: 0, finished: false };

/**
 * What all instances play on one layer: up to `MAX_ACTIONS` clips each, in the order in which they were started, with weights
 * as the actions of a mixer have them. Clips that another one replaces fade out together, each from the weight that it has. What they
 * leave of the weight is the rest pose.
 */
export class LayerActions {
  /** Null for the base, which shows whole everywhere and plays any clip. */
  readonly share: {
    /** Whether it adds to those below it. */
    readonly additive: boolean;
    /** How much of it shows on each node, and behind them on each group of morph targets. */
    readonly mask: Float32Array;
    /** By how much its clips move instances by root motion, or keep those of the layers below from doing so. */
    readonly motionShare: number;
    /** Of each instance the ramp of how much of it shows. */
    readonly ramps: Actions;
    /** How much of it an instance shows, 0 to 1. */
    shareAt(index: number, time: number): number;
    /** Whether it may play a clip. */
    takes(clip: BakedClip): boolean;
  } | null = null;
  /** An array for each place in the order: with the first action of every instance, the second and so on; see `at`. */
  private places: Actions[] = [];
  private counts: Uint8Array;
  /** For each instance the place of the clip that was last started, plus 1; 0 if none was, or it was stopped. */
  private currents: Uint8Array;

  constructor(
    capacity: number,
    readonly name: string = BASE_LAYER,
  ) {
    this.counts = new Uint8Array(capacity);
    this.currents = new Uint8Array(capacity);
  }

  // Actions of an instance.

  /** Where an instance's numbers begin in an array of actions. */
  at(index: number): number {
    return index * ACTION_SIZE;
  }

  /** How many actions an instance has. */
  count(index: number): number {
    return this.counts[index];
  }

  /** The actions that are at a place of the order. */
  actions(place: number): Actions {
    return this.places[place];
  }

  /** Place of the clip that was last started on an instance; -1 if none was, or it was stopped. */
  current(index: number): number {
    return this.currents[index] - 1;
  }

  setCurrent(index: number, place: number): void {
    this.currents[index] = place + 1;
  }

  /** The last place of a clip up to one, -1 if it is not played. */
  find(index: number, start: number, last: number = this.counts[index] - 1): number {
    const at = this.at(index);
    let place = last;
    while (place >= 0 && this.places[place][at + ACTION_START] !== start) place--;
    return place;
  }

  /** Adds an empty action behind the others, which becomes the current one; returns its place. */
  add(index: number): number {
    const place = this.counts[index]++;
    if (place === this.places.length) this.places.push(new Float64Array(this.counts.length * ACTION_SIZE));
    clearAction(this.places[place], this.at(index));
    this.setCurrent(index, place);
    return place;
  }

  remove(index: number, place: number): void {
    const { places } = this;
    const at = this.at(index);
    const last = --this.counts[index];
    for (let i = place; i < last; i++) {
      for (let k = at; k < at + ACTION_SIZE; k++) places[i][k] = places[i + 1][k];
    }
    const current = this.current(index);
    if (current >= place) this.setCurrent(index, current === place ? -1 : current - 1);
  }

  /** Lets an instance play nothing here. */
  clear(index: number): void {
    this.counts[index] = this.currents[index] = 0;
  }

  /** The same, and forgets what else was said of it. */
  reset(index: number): void {
    this.clear(index);
  }

  /** Where the clip of an action is. */
  locate(index: number, place: number, time: number, paused: boolean, target: Place): Place {
    const actions = this.places[place];
    const at = this.at(index);
    return locate(actions, at, totalAt(actions, at, time), paused || !hasMoved(actions, at, time), target);
  }

  /** Weight of an action, as `AnimationAction.getEffectiveWeight()`. */
  weightOf(index: number, place: number, time: number): number {
    return rampAt(this.places[place], this.at(index) + ACTION_WEIGHT, time);
  }

  /** The weight to which an action fades, or that it has. */
  goalOf(index: number, place: number): number {
    return this.places[place][this.at(index) + ACTION_WEIGHT + RAMP_TO];
  }

  /** Whether an instance is in the middle of a fade or a warp. */
  isFading(index: number): boolean {
    const at = this.at(index);
    for (let place = 0; place < this.counts[index]; place++) {
      const actions = this.places[place];
      if (isWarping(actions, at) || actions[at + ACTION_WEIGHT + RAMP_RATE] !== 0) return true;
    }
    return false;
  }

  /** Ends fades and warps of an instance that are done, and what has faded out. Returns whether there were any. */
  endFades(index: number, time: number): boolean {
    const at = this.at(index);
    let ended = false;
    for (let place = this.counts[index] - 1; place >= 0; place--) {
      const actions = this.places[place];
      if (warpIsOver(actions, at, time) && !this.locate(index, place, time, false, _place).finished) {
        endWarp(actions, at, time);
        ended = true;
      }
      if (fadeDone(actions, at, time) < 1) continue;
      if (hasBit(actions, at, FADING_OUT)) {
        this.remove(index, place);
        ended = true;
      } else {
        ended ||= actions[at + ACTION_WEIGHT + RAMP_RATE] !== 0;
        setRamp(actions, at + ACTION_WEIGHT, this.goalOf(index, place));
      }
    }
    return ended;
  }

  /** Lets an instance's actions count anew from where they are. */
  settle(index: number, time: number): void {
    for (let place = 0; place < this.counts[index]; place++) {
      settle(this.places[place], this.at(index), time);
    }
  }

  /** Lets an instance go on as if all it does had begun so many seconds later. */
  delay(index: number, seconds: number): void {
    const at = this.at(index);
    for (let place = 0; place < this.counts[index]; place++) {
      shiftAction(this.places[place], at, seconds);
      this.places[place][at + ACTION_STARTED] += seconds;
    }
  }

  // What instances are told to play.

  /**
   * Whether what is to start plays already, and goes on as an `AnimationAction` does that is told to play again. A clip that has
   * finished does not, unless it was told so a moment ago: then it is told in each frame, by a program that wants it to stay so.
   */
  goesOn(index: number, time: number, start: Readonly<Start>): boolean {
    const { clip, weight } = start;
    const at = this.at(index);
    if (clip === null) return start.fade > 0 ? this.isAlone(index, -1) : this.counts[index] === 0;
    const instead = Number.isNaN(weight);
    const place = instead ? this.current(index) : this.find(index, clip.start);
    if (place < 0 || (instead && !this.isAlone(index, place))) return false;
    const actions = this.places[place];
    if (actions[at + ACTION_START] !== clip.start || hasBit(actions, at, FADING_OUT)) return false;
    if (
      (instead && this.goalOf(index, place) !== 1) ||
      (actions[at + ACTION_LOOP] & ASKED_BITS) !== start.loop ||
      actions[at + ACTION_REPETITIONS] !== start.repetitions ||
      (!Number.isNaN(start.time) && actions[at + ACTION_TOLD_TIME] !== start.time)
    )
      return false;
    const { finished } = this.locate(index, place, time, false, _place);
    if (finished && !(time - actions[at + ACTION_TOLD_AGAIN] < A_MOMENT)) return false;
    actions[at + ACTION_TOLD_AGAIN] = time;
    return true;
  }

  /** Whether all that an instance plays but what is at a place fades out. */
  private isAlone(index: number, alone: number): boolean {
    const at = this.at(index);
    for (let place = 0; place < this.counts[index]; place++)
      if (place !== alone && !hasBit(this.places[place], at, FADING_OUT)) return false;
    return true;
  }

  /**
   * Starts a clip on an instance that is not paused, or has all fade out.
   *
   * @param clips The clips that the crowd plays.
   * @returns The place of the clip; -1 for none.
   */
  start(index: number, time: number, clips: ClipTable, start: Readonly<Start>): number {
    const { clip, rate, fade, weight, sync, warp } = start;
    if (clip === null) return this.stop(index, time, fade);
    const at = this.at(index);
    const before = sync || warp ? this.leading(index) : -1;
    let within = start.time || 0;
    let ratio = 0;
    const shown = before < 0 ? 0 : this.places[before][at + ACTION_START];
    if (clip.count >= 2 && before >= 0 && intervalsOf(this.places[before], at) >= 1) {
      const actions = this.places[before];
      const intervals = intervalsOf(actions, at);
      const { duration } = clips.startingAt(shown);
      // How many times as long the clip before takes: each at its speed, or as crossFadeTo has it.
      ratio =
        sync && rate !== 0
          ? (intervals / Math.abs(actions[at + ACTION_RATE]) / (clip.count - 1)) * Math.abs(rate)
          : duration / clip.duration;
      const place = this.locate(index, before, time, false, _place);
      if (sync) within += (place.within / intervals) * (clip.count - 1);
    }

    const place = Number.isNaN(weight)
      ? this.startInstead(index, time, fade)
      : this.startBeside(index, time, clip.start, clips);
    const actions = this.places[place];
    if (!Number.isNaN(weight)) fadeTo(actions, at, time, weight, fade);
    else if (fade > 0 && ratio > 0 && ratio < Infinity) {
      // As `AnimationAction.crossFadeTo` has it: both at the speed of the first one's length, and at the end of the second one's.
      warpTo(actions, at, time, 1 / ratio, 1, fade);
      // It may have made way.
      const fading = this.find(index, shown, place - 1);
      if (fading >= 0) warpTo(this.places[fading], at, time, 1, ratio, fade);
    }
    actions[at + ACTION_START] = clip.start;
    actions[at + ACTION_COUNT] = clip.count;
    actions[at + ACTION_LOOP] = start.loop | FIRST | (rate < 0 ? REVERSED : 0);
    actions[at + ACTION_REPETITIONS] = start.repetitions;
    actions[at + ACTION_RATE] = rate;
    actions[at + ACTION_TOLD_TIME] = start.time;
    actions[at + ACTION_TOLD_AGAIN] = -Infinity;
    actions[at + ACTION_PASS] = -1;
    actions[at + ACTION_STARTED] = time;
    actions[at + ACTION_STARTED_IN] = basePass(actions, at);
    setPlace(actions, at, time, within, rate === 0);
    return place;
  }

  /**
   * Place of the clip that a new one takes over from: the one last started on an instance, or if its weight was set to 0, the
   * last one whose weight was not.
   */
  private leading(index: number): number {
    const current = this.current(index);
    const at = this.at(index);
    if (current < 0 || this.goalOf(index, current) > 0) return current;
    for (let place = this.counts[index] - 1; place >= 0; place--) {
      if (this.goalOf(index, place) > 0 && !hasBit(this.places[place], at, FADING_OUT)) return place;
    }
    return current;
  }

  /** Lets all actions of an instance fade out together; returns -1. */
  private stop(index: number, time: number, fade: number): number {
    if (fade === 0) {
      this.clear(index);
      return -1;
    }
    this.endFades(index, time);
    const at = this.at(index);
    for (let place = this.counts[index] - 1; place >= 0; place--) {
      const actions = this.places[place];
      if (this.weightOf(index, place, time) <= 0) {
        this.remove(index, place);
        continue;
      }
      startFadingOut(actions, at, time);
      fadeTo(actions, at, time, 0, fade);
    }
    this.setCurrent(index, -1);
    return -1;
  }

  /** An empty action in place of all that an instance plays. If there is no room for it, the one that shows least makes way. */
  private startInstead(index: number, time: number, fade: number): number {
    this.stop(index, time, fade);
    if (this.counts[index] === MAX_ACTIONS) this.makeWay(index, time);
    const place = this.add(index);
    const ramp = this.at(index) + ACTION_WEIGHT;
    setRamp(this.places[place], ramp, 0);
    rampTo(this.places[place], ramp, time, 1, fade);
    return place;
  }

  /** Removes the action that shows least; what it showed goes to the others. */
  private makeWay(index: number, time: number): void {
    const from = this.at(index) + ACTION_WEIGHT + RAMP_FROM;
    let sum = 0;
    for (let place = 0; place < this.counts[index]; place++) sum += this.places[place][from];
    const least = this.leastShown(index, time);
    const factor = sum / (sum - this.places[least][from]);
    this.remove(index, least);
    // No weight is more than 1.
    for (let place = 0; place < this.counts[index]; place++)
      this.places[place][from] = Math.min(this.places[place][from] * factor, 1);
  }

  /**
   * An action for a clip that plays beside the others: the one that it has already, or an empty one with weight 0. If there is
   * no room for it, the clip that shows least makes way.
   */
  private startBeside(index: number, time: number, start: number, clips: ClipTable): number {
    this.endFades(index, time);
    const at = this.at(index);
    let place = this.find(index, start);
    let weight = 0;
    if (place >= 0) {
      weight = this.weightOf(index, place, time);
      clearAction(this.places[place], at);
      this.setCurrent(index, place);
    } else {
      if (this.counts[index] === MAX_ACTIONS) this.dropLeast(index, time, clips);
      place = this.add(index);
    }
    setRamp(this.places[place], at + ACTION_WEIGHT, weight);
    return place;
  }

  private dropLeast(index: number, time: number, clips: ClipTable): void {
    const at = this.at(index);
    const least = this.leastShown(index, time);
    const actions = this.places[least];
    if (!hasBit(actions, at, FADING_OUT)) {
      const { name } = clips.startingAt(actions[at + ACTION_START]);
      warnOnce(
        `SkinnedInstancedMesh.play: an instance plays ${MAX_ACTIONS} clips at most on a layer; "${name}", which showed least, was dropped.`,
      );
    }
    this.remove(index, least);
  }

  /** The place of the action with the least weight; of those with the same, the one that was started last. */
  private leastShown(index: number, time: number): number {
    let least = 0;
    let weight = Infinity;
    for (let place = 0; place < this.counts[index]; place++) {
      const other = this.weightOf(index, place, time);
      if (other > weight) continue;
      least = place;
      weight = other;
    }
    return least;
  }

  /** Whether an instance plays a clip, and it has not faded out. */
  plays(index: number, time: number, start: number): boolean {
    const at = this.at(index);
    const actions = this.places[this.find(index, start)];
    return actions !== undefined && !(hasBit(actions, at, FADING_OUT) && fadeDone(actions, at, time) === 1);
  }

  /**
   * Changes the weight of a clip that an instance plays.
   *
   * @param start First frame of the clip.
   * @returns Its place if it was fading out, and now stays; else -1.
   */
  changeWeight(index: number, time: number, start: number, weight: number, fade: number): number {
    this.endFades(index, time);
    const place = this.find(index, start);
    const at = this.at(index);
    const actions = this.places[place];
    fadeTo(actions, at, time, weight, fade);
    if (!hasBit(actions, at, FADING_OUT)) return -1;
    endWarp(actions, at, time);
    actions[at + ACTION_LOOP] &= ~FADING_OUT;
    actions[at + ACTION_STARTED_IN] = Number.NaN;
    return place;
  }

  // Instances as a whole.

  resize(capacity: number): void {
    this.counts = resized(this.counts, capacity);
    this.currents = resized(this.currents, capacity);
    this.places = this.places.map((actions) => resized(actions, capacity * ACTION_SIZE));
  }

  swap(i: number, j: number): void {
    swapItems(this.counts, i, j, 1);
    swapItems(this.currents, i, j, 1);
    for (const actions of this.places) swapItems(actions, i, j, ACTION_SIZE);
  }

  /** Takes over what as many instances play. */
  copy({ counts, currents, places }: LayerActions): void {
    this.counts = counts.slice();
    this.currents = currents.slice();
    this.places = places.map((actions) => actions.slice());
  }
}

/** Lets an action go from one speed evenly to another, both as factors. */
function warpTo(actions: Actions, at: number, time: number, from: number, to: number, seconds: number): void {
  settle(actions, at, time);
  setRamp(actions, at + ACTION_WARP, from);
  rampTo(actions, at + ACTION_WARP, time, to, seconds);
}
