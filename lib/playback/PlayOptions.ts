import type { AnimationActionLoopStyles } from 'three';
import { LoopOnce, LoopPingPong, LoopRepeat } from 'three';
import type { BakedClip, ClipReference } from '../animation/ClipTable.js';
import { LOOP_CLAMP, LOOP_PING_PONG, REPEAT_FOREVER } from '../constants.js';
import { ONCE, ROOT_MOTION } from './actionNumbers.js';

/** A layer by its name, or by its number: 0 is the base, 1 the first of an `AnimationLayers`. */
export type LayerReference = string | number;

/** How an instance plays a clip; the words and defaults of `AnimationAction`. */
export interface PlayOptions {
  /** Name or number of the layer on which the clip plays, see `AnimationLayers`. @default 'base' */
  layer?: LayerReference;
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
  /** Whether the clip starts anew even if it plays already. @default false */
  restart?: boolean;
  /** Seconds in which the clip fades in over whatever the instance shows, or to its weight. @default 0 */
  fade?: number;
  /**
   * How much of the clip shows, 0 to 1. With it the clip plays beside those that the instance plays already on that layer, and
   * is mixed with them as by an `AnimationMixer`; without it, it takes their place. Needs tracks.
   */
  weight?: number;
  /**
   * Whether the clips change speed while they fade, the one that ends towards the length of the one that begins, as in
   * `AnimationAction.crossFadeTo(action, duration, true)`. Not for a clip with a `weight`, beside which nothing fades.
   * @default false
   */
  warp?: boolean;
  /**
   * Whether the clip starts as far into its length as the one that is playing is into its own, and both are warped so
   * that they stay so while they fade: a walk that becomes a run keeps the same foot down. With a `weight`, clips keep
   * their speed: start one whose speed fits.
   * @default false
   */
  sync?: boolean;
  /** Whether `applyRootMotion` moves the instance by the motion that baking took out of the clip. @default false */
  rootMotion?: boolean;
}

/** What `play` knows of. */
export const PLAY_OPTIONS: Record<keyof PlayOptions, 1> = {
  loop: 1,
  repetitions: 1,
  clampWhenFinished: 1,
  timeScale: 1,
  time: 1,
  restart: 1,
  fade: 1,
  weight: 1,
  warp: 1,
  sync: 1,
  layer: 1,
  rootMotion: 1,
};

/** Name or index of a clip or an `AnimationClip`, or what gives one for each instance. */
export type ClipOfInstance = ClipReference | ((index: number) => ClipReference);

/** {@link PlayOptions} of which any may be a function of the instance's index. */
export type PlayOptionsOfInstance = {
  [K in keyof PlayOptions]: PlayOptions[K] | ((index: number) => PlayOptions[K]);
};

/** On which layer something is changed. */
export interface LayerOption {
  /** Name or number of the layer. @default 'base' */
  layer?: LayerReference;
}

/** Which clip of instances is changed. */
export interface ClipOption extends LayerOption {
  /** One of those that play beside each other. @default the one that was last started */
  clip?: ClipReference;
}

/** How a weight of instances changes. */
export interface WeightOptions extends LayerOption {
  /** Seconds that it takes. @default 0 */
  fade?: number;
}

/** What methods know of that take {@link ClipOption}, and {@link WeightOptions}. */
export const CLIP_OPTIONS: Record<keyof ClipOption, 1> = { clip: 1, layer: 1 };
export const WEIGHT_OPTIONS: Record<keyof WeightOptions, 1> = { fade: 1, layer: 1 };

/** What is meant for an instance. */
export const valueFor = <T>(value: T | ((index: number) => T), index: number): T =>
  typeof value === 'function' ? (value as (index: number) => T)(index) : value;

/** A clip and play options in the terms of an action. */
export interface Start {
  /** Null for the rest pose. */
  clip: BakedClip | null;
  /** Frames; NaN where none is said. */
  time: number;
  restart: boolean;
  /** Frames per second. */
  rate: number;
  /** Null where none is said. */
  timeScale: number | null;
  loop: number;
  repetitions: number;
  /** Seconds. */
  fade: number;
  /** NaN for a clip that takes the place of others. */
  weight: number;
  warp: boolean;
  sync: boolean;
  layer: LayerReference | undefined;
}

/**
 * Checks play options for an instance and puts them in the terms of an action.
 *
 * @param clip Null for the rest pose.
 * @throws If an option is out of range.
 */
export function checkPlay(
  index: number,
  clip: BakedClip | null,
  options: PlayOptionsOfInstance,
  target: Start,
): Start {
  const loop = valueFor(options.loop, index) ?? LoopRepeat;
  const timeScale = valueFor(options.timeScale, index) ?? null;
  const time = valueFor(options.time, index);
  const repetitions = valueFor(options.repetitions, index) ?? Infinity;
  const fade = valueFor(options.fade, index) ?? 0;
  const weight = valueFor(options.weight, index);
  const rootMotion = valueFor(options.rootMotion, index) === true;

  if (timeScale !== null) checkTimeScale(timeScale);
  if (time !== undefined) checkTime(time);
  if (!(repetitions >= 0)) refuse('repetitions', repetitions, 'a number from 0, or Infinity');
  checkFade(fade);
  if (weight !== undefined) checkWeight(weight);
  if (rootMotion && clip?.rootMotion === null) {
    throw new Error(
      `Clip "${clip.name}" has no root motion; bake it with rootMotion: extractRootMotion(), and among its clips if you name any.`,
    );
  }

  const fps = clip?.fps ?? 0;
  target.clip = clip;
  target.time = (time ?? Number.NaN) * fps;
  target.restart = valueFor(options.restart, index) === true;
  target.rate = (timeScale ?? 1) * fps;
  target.timeScale = timeScale;
  target.loop =
    (loop === LoopPingPong ? LOOP_PING_PONG : 0) +
    (valueFor(options.clampWhenFinished, index) === true ? LOOP_CLAMP : 0) +
    (rootMotion ? ROOT_MOTION : 0) +
    (loop === LoopOnce ? ONCE : 0);
  target.repetitions = Math.min(repetitions, REPEAT_FOREVER);
  target.fade = fade;
  target.weight = weight ?? Number.NaN;
  target.sync = valueFor(options.sync, index) === true;
  target.warp = target.sync || valueFor(options.warp, index) === true;
  target.layer = valueFor(options.layer, index);
  return target;
}

/** Shaders count passes in an int: at this speed, those of the shortest clip fit that an epoch takes. */
const MAX_TIME_SCALE = 1e6;
/** Seconds: in larger numbers, a double has no room for half a second. */
const MAX_TIME = 1e15;

/** @throws If that is no speed to play at. */
export function checkTimeScale(timeScale: number): void {
  if (Math.abs(timeScale) <= MAX_TIME_SCALE) return;
  refuse('timeScale', timeScale, `a number from ${-MAX_TIME_SCALE} to ${MAX_TIME_SCALE}`);
}

/** @throws If that is no time to set a clip to. */
export function checkTime(time: number): void {
  if (Math.abs(time) <= MAX_TIME) return;
  refuse('time', time, `a number of seconds from ${-MAX_TIME} to ${MAX_TIME}`);
}

/** @throws If that is no time for a fade to take. */
export function checkFade(fade: number): void {
  if (!(fade >= 0 && fade < Infinity)) refuse('fade', fade, 'a number of seconds from 0');
}

/** @throws If that is no weight. */
export function checkWeight(weight: number): void {
  if (!(weight >= 0 && weight <= 1)) refuse('weight', weight, 'a number from 0 to 1');
}

/** @throws If that is no number of poses a second. */
export function checkPoseRate(rate: number): void {
  if (!(rate >= 0)) refuse('rate', rate, 'a number of poses a second, or 0 for one in every frame');
}

function refuse(what: string, value: number, expected: string): never {
  throw new Error(`The ${what} is ${value}; use ${expected}.`);
}
