import { type AnimationActionLoopStyles, type AnimationClip, LoopOnce, LoopRepeat } from 'three';
import type { BakedClip } from '../animation/ClipTable.js';

/**
 * A factor that goes evenly from one number to another while the time of a mixer passes: the fade or the warp of an action,
 * for which three.js has an interpolant.
 */
export interface ControlRamp {
  /** Seconds of the mixer's time. */
  start: number;
  end: number;
  /** Before the start, and from the end on. */
  from: number;
  to: number;
}

/** Seconds of a clip that are lost in sums of its ways. */
const ROUNDING = 1e-12;

/** What the factor is. */
export function rampValue({ start, end, from, to }: ControlRamp, time: number): number {
  if (time >= end) return to;
  return time < start ? from : from + ((to - from) * (time - start)) / (end - start);
}

/** The sum of the factor over a stretch of time; negative when that leads back. */
export function rampSum(ramp: ControlRamp, begin: number, time: number): number {
  return sumFromStart(ramp, time) - sumFromStart(ramp, begin);
}

function sumFromStart({ start, end, from, to }: ControlRamp, time: number): number {
  const length = Math.max(end - start, 0);
  const within = Math.min(Math.max(time - start, 0), length);
  const before = Math.min(time - start, 0) * from;
  const after = Math.max(time - start - length, 0) * to;
  const slope = length > 0 ? (to - from) / length : 0;
  return before + within * (from + (slope * within) / 2) + after;
}

function ignore(): void {}

/** What an action tells while its time passes; three.js's mixer dispatches the same. */
export type ActionReport =
  | { type: 'finished'; direction: 1 | -1 }
  | {
      type: 'loop';
      /** How many passes began; negative in reverse. */
      loopDelta: number;
    };

/**
 * Where an action is, as three.js's `AnimationAction` keeps it and with its arithmetic, but for the time: it may be brought up to
 * a time at any moment, not in each frame. What it comes to does not depend on how often that is done, as long as nothing
 * changes by itself meanwhile; `nextChange` says when that will be.
 */
export class ActionState {
  /** Seconds into the clip. */
  time = 0;
  timeScale = 1;
  weight = 1;
  loop: AnimationActionLoopStyles = LoopRepeat;
  repetitions = Infinity;
  paused = false;
  enabled = true;
  clampWhenFinished = false;
  effectiveWeight = 1;
  effectiveTimeScale = 1;

  /** Number of the pass; -1 until the clip has moved. */
  loopCount = -1;
  /** The mixer's time at which the clip is to begin; null if nothing was said. */
  startTime: number | null = null;
  /** A factor of the weight, and one of the time scale. */
  fade: ControlRamp | null = null;
  warp: ControlRamp | null = null;
  /** The time scale once the warp is done, if it is another than the warp leads to. */
  restoreTimeScale: number | null = null;

  /** Whether its mixer, which has a clock of its own, has just moved it in reverse. */
  runsBack = false;
  /** The mixer's time up to which all of this was brought. */
  at = 0;

  /** @param duration Of the clip, in seconds. */
  constructor(public duration: number) {}

  /** The time scale at a time of the mixer, as long as nothing changes by itself. */
  scaleAt(time: number): number {
    if (this.paused) return 0;
    return this.warp === null ? this.timeScale : this.timeScale * rampValue(this.warp, time);
  }

  /** The weight at a time of the mixer, as long as nothing changes by itself. */
  weightAt(time: number): number {
    if (!this.enabled) return 0;
    return this.fade === null ? this.weight : this.weight * rampValue(this.fade, time);
  }

  /** Puts it back to its start. */
  reset(): void {
    this.paused = false;
    this.enabled = true;
    this.time = 0;
    this.loopCount = -1;
    this.startTime = null;
    this.stopFading();
    this.stopWarping();
  }

  /** Forgets a fade under way. */
  stopFading(): void {
    this.fade = null;
  }

  /** Forgets a warp under way. */
  stopWarping(): void {
    this.warp = null;
    this.restoreTimeScale = null;
  }

  /** Brings it up to a time of the mixer. */
  update(time: number, report: (what: ActionReport) => void): void {
    let begin = this.at;
    this.at = time;
    if (!this.enabled) {
      this.effectiveWeight = 0;
      return;
    }
    let moves = true;
    if (this.startTime !== null) {
      const direction = Math.sign(time - begin);
      moves = direction !== 0 && (time - this.startTime) * direction >= 0;
      if (moves) {
        begin = this.startTime;
        this.startTime = null;
      }
    }
    const seconds = this.passWarp(begin, time);
    this.move(moves ? seconds : 0, report);
    this.passFade(time);
  }

  /** Seconds of the clip that pass, and what becomes of the time scale. */
  private passWarp(begin: number, time: number): number {
    const { paused, timeScale, warp } = this;
    this.effectiveTimeScale = paused ? 0 : timeScale;
    if (paused) return 0;
    if (warp === null) return timeScale * (time - begin);
    this.effectiveTimeScale = this.scaleAt(time);
    if (time <= warp.end) {
      const seconds = timeScale * rampSum(warp, begin, time);
      // Back where the clip began, less than that is rounding, and no pass before it.
      return Math.abs(this.time + seconds) < ROUNDING ? -this.time : seconds;
    }

    const end = Math.max(begin, warp.end);
    const seconds = timeScale * rampSum(warp, begin, end);
    if (this.effectiveTimeScale === 0) {
      this.paused = true;
    } else {
      if (this.restoreTimeScale !== null) this.effectiveTimeScale = this.restoreTimeScale;
      this.timeScale = this.effectiveTimeScale;
    }
    this.stopWarping();
    return seconds + this.effectiveTimeScale * (time - end);
  }

  private passFade(time: number): void {
    this.effectiveWeight = this.weightAt(time);
    if (!this.enabled || this.fade === null || time <= this.fade.end) return;
    // An action that has faded out is disabled from now on.
    if (this.fade.to === 0) this.enabled = false;
    this.fade = null;
  }

  private move(seconds: number, report: (what: ActionReport) => void): void {
    this.runsBack = seconds < 0;
    if (seconds === 0) return;
    const { duration } = this;
    const reverse = seconds < 0;
    const time = this.time + seconds;
    if (this.loop === LoopOnce) {
      if (this.loopCount === -1) this.loopCount = 0;
      this.time = Math.min(Math.max(time, 0), duration);
      if (time >= duration || time < 0) this.finish(reverse, report);
      return;
    }
    // A pose has no passes.
    if (duration <= 0) return;
    // In reverse, the first pass is not counted until it has ended.
    let loopCount = this.loopCount === -1 && !reverse ? 0 : this.loopCount;
    if (time < duration && time >= 0) {
      this.loopCount = loopCount;
      this.time = time;
      return;
    }
    const loopDelta = Math.floor(time / duration);
    loopCount += Math.abs(loopDelta);
    if (this.repetitions - loopCount <= 0) {
      this.time = reverse ? 0 : duration;
      this.finish(reverse, report);
      return;
    }
    this.loopCount = loopCount;
    this.time = time - duration * loopDelta;
    report({ type: 'loop', loopDelta });
  }

  private finish(reverse: boolean, report: (what: ActionReport) => void): void {
    if (this.clampWhenFinished) this.paused = true;
    else this.enabled = false;
    report({ type: 'finished', direction: reverse ? -1 : 1 });
  }
}

/** An action of an instance: which clip it plays on which layer, and where it is in it. */
export class PlayedAction extends ActionState {
  /** Seconds since the crowd's beginning at which it was started, or its time was set. */
  begun = 0;
  /** How many updates of the crowd it has seen. */
  updates = 0;
  /** Told of what happens to it. */
  report: (what: ActionReport) => void = ignore;

  /**
   * @param clip Another one of the same name when the crowd has another bone texture.
   * @param source The clip that was passed for it, if one was.
   * @param layer Number of the layer.
   */
  constructor(
    public clip: BakedClip,
    public source: AnimationClip | null,
    readonly layer: number,
  ) {
    super(clip.duration);
  }

  /** Goes on in another baking of the clip. */
  setClip(clip: BakedClip): void {
    this.clip = clip;
    this.duration = clip.duration;
  }

  /** Goes to a place of the clip; a marker right there is still to come. */
  beginAt(time: number, elapsed: number): void {
    this.time = time;
    this.begun = elapsed;
  }
}

/**
 * After how many seconds of the mixer's time something about an action changes by itself, other than evenly: a fade or a warp is
 * done, it begins, it turns around, it finishes. Until then, shaders know all of it.
 *
 * @param direction 1, or -1 if the mixer's time runs backwards.
 * @param loops Whether passes count too.
 * @returns 0 if it does with the very next update; infinite if nothing does.
 */
export function nextChange(state: ActionState, direction: number, loops: boolean): number {
  const { at, fade, warp, startTime, paused } = state;
  if (!state.enabled) return Infinity;
  let next = fade === null ? Infinity : untilDone(fade, at, direction);
  if (startTime !== null) next = Math.min(next, (startTime - at) * direction);
  if (paused) return Math.max(next, 0);
  let slope = 0;
  const speed = state.scaleAt(at) * direction;
  if (warp !== null) {
    next = Math.min(next, untilDone(warp, at, direction));
    const begin = (warp.start - at) * direction;
    // Backwards, the speed from before a warp that takes no time counts at once.
    if (begin > 0 || (direction < 0 && at === warp.end && begin === 0)) next = Math.min(next, begin);
    if (warp.end > warp.start) slope = (state.timeScale * (warp.to - warp.from)) / (warp.end - warp.start);
    // Before its start and after its end, a warp changes nothing.
    if (at < warp.start || at > warp.end || (direction < 0 && at === warp.start)) slope = 0;
    const turn = -speed / slope;
    if (turn > 0) next = Math.min(next, turn);
  }
  if (startTime === null)
    next = Math.min(next, timeToMove(untilEnd(state, speed || slope, loops), speed, slope));
  return Math.max(next, 0);
}

/** A fade or warp is done in the first update that is past its end; backwards only one that is so by now. */
function untilDone({ end }: ControlRamp, at: number, direction: number): number {
  return direction > 0 || at > end ? Math.max(end - at, 0) : Infinity;
}

/** Seconds of the clip until a pass ends that counts; 0 if the time is not within the clip. */
function untilEnd(state: ActionState, speed: number, loops: boolean): number {
  const { time, duration, loop, repetitions } = state;
  if (speed === 0) return Infinity;
  if (loop === LoopOnce) return time >= duration || time < 0 ? 0 : speed > 0 ? duration - time : time;
  if (duration <= 0) return Infinity;
  if (time >= duration || time < 0) return 0;
  const reverse = speed < 0;
  const count = state.loopCount === -1 && !reverse ? 0 : state.loopCount;
  const passes = loops ? 1 : Math.max(Math.ceil(repetitions - count), 1);
  return (reverse ? time : duration - time) + (passes - 1) * duration;
}

/** When a way is done at a speed that grows evenly. */
function timeToMove(way: number, speed: number, slope: number): number {
  if (way === 0) return 0;
  const forward = (speed || slope) < 0 ? -1 : 1;
  const fast = speed * forward;
  const under = fast * fast + 2 * slope * forward * way;
  if (way === Infinity || under < 0) return Infinity;
  return (2 * way) / (fast + Math.sqrt(under));
}
