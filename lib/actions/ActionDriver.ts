import type { Crowd } from '../core/Crowd.js';
import type { DrivenMixer } from '../playback/InstancePlayback.js';
import { DueTimes } from '../playback/PlaybackEvents.js';

/** Seconds that clocks which pass alike may be apart: sums of their steps are rounded. */
const ROUNDING = 1e-7;

/**
 * Steers the instances of a crowd by the actions of their objects. It knows when something about the actions of each changes by
 * itself, and looks at no other instance in an update.
 */
export class ActionDriver {
  /** Whether passes were told of in the last update. */
  private loops = false;
  /** By instance. */
  readonly mixers: (DrivenMixer | undefined)[] = [];
  /** When something about the actions of each changes by itself. */
  private readonly due: DueTimes;
  /** Updates of the crowd's clock that are known. */
  private updates = 0;

  /** The driver of a crowd, which is made when it is first asked for. */
  static of(crowd: Crowd): ActionDriver {
    const { playback } = crowd;
    if (!(playback.driver instanceof ActionDriver)) playback.driver = new ActionDriver(crowd);
    return playback.driver as ActionDriver;
  }

  private constructor(private readonly crowd: Crowd) {
    this.due = new DueTimes(crowd.playback.capacity);
  }

  /** Looks at a mixer again when it is due. */
  waitFor({ owner: { instanceId }, due }: DrivenMixer): void {
    if (instanceId >= 0) this.due.set(instanceId, due);
  }

  advanced(): void {
    const { crowd, mixers } = this;
    const { time } = crowd.playback;
    const loops = crowd.events.isListenedTo('loop');
    // Whose time runs backwards, or are to tell of passes from now on, did not know.
    const all = time.step < 0 || (loops && !this.loops);
    this.loops = loops;
    const due = this.due.take(time.elapsed);
    const errors: unknown[] = [];
    // Each is run once: a listener could start something that is due again and again.
    for (const mixer of all ? [...mixers] : due.map((index) => mixers[index])) {
      const index = mixer?.owner.instanceId ?? -1;
      // One that is paused goes on when it is resumed. What a listener was told may have ended it.
      if (index < 0 || time.own[index] !== undefined || time.isPaused(index)) continue;
      try {
        mixer?.run();
      } catch (error) {
        // A listener that throws silences nobody else.
        errors.push(error);
      }
    }
    if (errors.length > 0) throw errors[0];
  }

  /**
   * Has all drawn where their clocks are: shaders know of the crowd's clock alone, and on that what an instance plays goes on by itself.
   * Where all have clocks of their own, and the crowd was not updated since this was last called, it is updated with them.
   */
  meetAll(mesh: { readonly count: number; update(delta: number): unknown }): void {
    const { playback } = this.crowd;
    const { time } = playback;
    const { own } = time;
    const last = own[mesh.count - 1];
    if (last !== undefined && last !== time.elapsed && this.updates === time.updates) {
      let i = 0;
      while (i < mesh.count && own[i] !== undefined) i++;
      if (i >= mesh.count) mesh.update(last - time.elapsed);
    }
    this.updates = time.updates;
    const { elapsed } = time;
    for (let i = 0; i < own.length; i++) {
      const seconds = elapsed - (own[i] ?? elapsed);
      if (!(Math.abs(seconds) > ROUNDING) || time.isPaused(i)) continue;
      own[i] = elapsed;
      playback.delay(i, seconds);
    }
  }

  released(index: number, layer?: number): void {
    const mixer = this.mixers[index];
    mixer?.release(layer);
    if (mixer !== undefined && mixer.owner.instanceId < 0) this.mixers[index] = undefined;
  }

  swap(i: number, j: number): void {
    const { mixers } = this;
    [mixers[i], mixers[j]] = [mixers[j], mixers[i]];
    this.due.swap(i, j);
  }

  resize(capacity: number): void {
    this.mixers.length = Math.min(this.mixers.length, capacity);
    this.due.resize(capacity);
  }
}
