import type { Crowd } from '../core/Crowd.js';
import { TimeHeap } from '../utils/TimeHeap.js';
import type { PlayedAction } from './PlayedAction.js';

/** What an action tells its mixer, as three.js's do. */
export type ActionReport = { action: PlayedAction } & (
  | { type: 'finished'; direction: 1 | -1 }
  | {
      type: 'loop';
      /** How many passes began; negative in reverse. */
      loopDelta: number;
    }
);

/** A mixer, as its driver needs it. */
type DrivenMixer = {
  readonly owner: { readonly instanceId: number };
  ownTime: number | undefined;
  steers(layer: number): boolean;
  release(layer?: number): void;
  delay(seconds: number): void;
  settle(): void;
  clipsChanged(): void;
  run(): void;
};

/** Seconds that clocks which pass alike may be apart: sums of their steps are rounded. */
const ROUNDING = 1e-7;

/**
 * Steers the instances of a crowd by the actions of their objects. It knows when something about the actions of each changes by
 * itself, and looks at no other instance in an update.
 */
export class ActionDriver {
  /** Whether passes are told of. */
  loops = false;
  /** By instance. */
  private readonly mixers: (DrivenMixer | undefined)[] = [];
  /** Seconds since the crowd's beginning at which something changes next, for each instance. */
  private readonly heap: TimeHeap;
  /** Mixers that code has changed since the last update. */
  private touched: DrivenMixer[] = [];
  /** The mixer that was last updated by itself, and updates of the crowd's clock that are known. */
  private leader: DrivenMixer | null = null;
  private updates = 0;

  /** The driver of a crowd, which is made when it is first asked for. */
  static of(crowd: Crowd): ActionDriver {
    const { playback } = crowd;
    if (!(playback.driver instanceof ActionDriver)) playback.driver = new ActionDriver(crowd);
    return playback.driver as ActionDriver;
  }

  private constructor(private readonly crowd: Crowd) {
    this.heap = new TimeHeap(crowd.capacity);
  }

  /** Says when something about the actions of an instance changes next. */
  schedule(index: number, mixer: DrivenMixer, time: number): void {
    this.mixers[index] = mixer;
    if (this.heap.timeOf(index) !== time) this.heap.set(index, time);
  }

  /** Has a mixer run in the next update. */
  touch(index: number, mixer: DrivenMixer): void {
    this.mixers[index] = mixer;
    this.touched.push(mixer);
  }

  /** Dispatches an event of an action. */
  notify(index: number, report: ActionReport): void {
    const { events, playback, announce } = this.crowd;
    if (index < 0 || !events.isListenedTo(report.type)) return;
    const { clip, layer } = report.action;
    announce({ ...report, instanceId: index, clip: clip.name, layer: playback.layers[layer].name });
  }

  advanced(): void {
    const { crowd, heap, mixers, touched } = this;
    const { elapsed, time } = crowd.playback;
    const loops = crowd.events.isListenedTo('loop');
    // Whose time runs backwards, or are to tell of passes from now on, did not know.
    const all = time.step < 0 || (loops && !this.loops);
    this.loops = loops;
    // Each is run once: a listener could start something that is due again and again.
    const due = all ? [...mixers.keys()] : [];
    for (; heap.firstTime <= elapsed; heap.set(heap.first, Infinity)) if (!all) due.push(heap.first);
    this.touched = [];
    for (const { owner } of touched) due.push(owner.instanceId);
    const errors: unknown[] = [];
    for (const index of due) {
      try {
        // One that is paused goes on when it is resumed.
        if (!time.isPaused(index)) mixers[index]?.run();
      } catch (error) {
        // A listener that throws silences nobody else.
        errors.push(error);
      }
    }
    if (errors.length > 0) throw errors[0];
  }

  /** Call when a mixer was updated by itself. */
  led(leader: DrivenMixer): void {
    const { time } = this.crowd.playback;
    this.leader = leader;
    if (time.own === null) this.updates = time.updates;
    time.own = this;
  }

  /**
   * Has all drawn where their clocks are: shaders know of the crowd's clock alone, and on that what an instance plays goes on by itself.
   * Where all have clocks of their own, and the crowd was not updated since this was last called, it is updated with them.
   */
  meetAll(mesh: { readonly count: number; update(delta: number): unknown }): void {
    const { leader, mixers, crowd } = this;
    const { playback } = crowd;
    const ahead = (leader?.ownTime ?? playback.elapsed) - playback.elapsed;
    if (ahead !== 0 && this.updates === playback.time.updates) {
      let all = true;
      for (let i = 0; i < mesh.count && all; i++) all = mixers[i]?.ownTime !== undefined;
      if (all) mesh.update(ahead);
    }
    this.updates = playback.time.updates;
    const { elapsed } = playback;
    for (let i = 0; i < mixers.length; i++) {
      const mixer = mixers[i];
      if (mixer?.ownTime === undefined || playback.isPaused(i)) continue;
      const seconds = elapsed - mixer.ownTime;
      if (!(Math.abs(seconds) > ROUNDING)) continue;
      mixer.ownTime = elapsed;
      playback.delay(i, seconds);
    }
  }

  timeOf(index: number): number | undefined {
    return this.mixers[index]?.ownTime;
  }

  meet(index: number): void {
    const mixer = this.mixers[index];
    if (mixer?.ownTime !== undefined) mixer.ownTime = this.crowd.playback.elapsed;
  }

  clear(): void {
    for (const mixer of this.mixers) if (mixer !== undefined) mixer.ownTime = undefined;
  }

  steers(index: number, layer: number): boolean {
    return this.mixers[index]?.steers(layer) === true;
  }

  released(index: number, layer?: number): void {
    const mixer = this.mixers[index];
    if (mixer === undefined) return;
    mixer.release(layer);
    if (mixer.owner.instanceId >= 0) return;
    this.mixers[index] = undefined;
    this.heap.set(index, Infinity);
  }

  resumed(index: number, missed: number): void {
    this.mixers[index]?.delay(missed);
  }

  settle(index: number): void {
    this.mixers[index]?.settle();
  }

  clipsChanged(): void {
    for (const mixer of this.mixers) mixer?.clipsChanged();
  }

  swapped(i: number, j: number): void {
    const { heap, mixers } = this;
    [mixers[i], mixers[j]] = [mixers[j], mixers[i]];
    const time = heap.timeOf(i);
    heap.set(i, heap.timeOf(j));
    heap.set(j, time);
  }

  resized(capacity: number): void {
    this.heap.resize(capacity);
    if (this.mixers.length > capacity) this.mixers.length = capacity;
  }
}
