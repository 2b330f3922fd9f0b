import type { AnimationActionLoopStyles } from 'three';
import { checkTime, checkTimeScale } from '../playback/PlayOptions.js';
import { checkFinite } from '../utils/messages.js';
import type { PlayedAction } from './ActionState.js';

/**
 * What of an action of an instance is read and set as a property.
 *
 * @category Instances as objects
 */
export abstract class ActionProperties {
  constructor(
    protected readonly played: PlayedAction,
    protected readonly mixer: {
      /** @internal */
      readonly elapsed: number;
      /** @internal */
      sync(played: PlayedAction): void;
      /** @internal */
      changed(played: PlayedAction): void;
    },
  ) {}

  /** Seconds into the clip, counted from its start also on the way back of a ping-pong. @default 0 */
  get time(): number {
    return this.read().time;
  }

  /** A time beyond the clip counts as passes of it, with the next update. */
  set time(value: number) {
    checkTime(value);
    this.write((played) => played.beginAt(value, this.mixer.elapsed));
  }

  /** How fast the clip plays; 1 is its own speed, negative runs in reverse. A warp is a factor of it. @default 1 */
  get timeScale(): number {
    return this.read().timeScale;
  }

  /** A warp under way goes on, in proportion. */
  set timeScale(value: number) {
    checkTimeScale(value);
    this.set({ timeScale: value });
  }

  /** How much of the clip shows. A fade is a factor of it. @default 1 */
  get weight(): number {
    return this.read().weight;
  }

  /** A fade under way goes on, in proportion. */
  set weight(value: number) {
    checkFinite(value, 'weight');
    this.set({ weight: value });
  }

  /** `LoopRepeat`, `LoopOnce` or `LoopPingPong`. @default LoopRepeat */
  get loop(): AnimationActionLoopStyles {
    return this.played.loop;
  }

  /** Passes so far stay counted. */
  set loop(value: AnimationActionLoopStyles) {
    this.set({ loop: value });
  }

  /** How often the clip runs under `LoopRepeat` and `LoopPingPong`. @default Infinity */
  get repetitions(): number {
    return this.played.repetitions;
  }

  /** Passes so far stay counted. */
  set repetitions(value: number) {
    this.set({ repetitions: value ?? Infinity });
  }

  /** Whether the clip's time stands still. It is set when the clip has finished and stays on its end. @default false */
  get paused(): boolean {
    return this.read().paused;
  }

  /** Fades go on. */
  set paused(value: boolean) {
    this.set({ paused: value });
  }

  /** Whether the action does anything. It is set to false when the clip has finished, or faded out. @default true */
  get enabled(): boolean {
    return this.read().enabled;
  }

  /** A disabled action shows nothing; its time and fades stand still. */
  set enabled(value: boolean) {
    this.set({ enabled: value });
  }

  /** Whether the clip stays on its last frame when it has finished, and shows no more otherwise. @default false */
  get clampWhenFinished(): boolean {
    return this.played.clampWhenFinished;
  }

  /** Counts when the clip finishes. */
  set clampWhenFinished(value: boolean) {
    this.set({ clampWhenFinished: value });
  }

  /** The action as it is now. */
  protected read(): PlayedAction {
    this.mixer.sync(this.played);
    return this.played;
  }

  /** Changes some of it. */
  protected set(values: Partial<PlayedAction>): this {
    return this.write((played) => void Object.assign(played, values));
  }

  /** Changes the action as it is now. */
  protected write(change: (played: PlayedAction) => void): this {
    change(this.read());
    this.mixer.changed(this.played);
    return this;
  }
}
