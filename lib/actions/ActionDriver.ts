import type { Crowd } from '../core/Crowd.js';
import { TimeHeap } from '../utils/TimeHeap.js';
import type { ActionReport, PlayedAction } from './ActionState.js';

/**
 * Steers the instances of a crowd by the actions of their objects. It knows when something about the actions of each changes by
 * itself, and looks at no other instance in an update.
 */
export class ActionDriver {
  /** Whether passes are told of. */
  loops = false;
  /** By instance. */
  private readonly mixers: (Parameters<ActionDriver['schedule']>[1] | undefined)[] = [];
  /** Seconds since the crowd's beginning at which something changes next, for each instance. */
  private readonly heap: TimeHeap;
  private due: number[] = [];

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
  schedule(
    index: number,
    mixer: {
      /** Whether its instance exists no more. */
      readonly isLost: boolean;
      steers(layer: number): boolean;
      release(layer?: number): void;
      delay(seconds: number): void;
      clipsChanged(): void;
      bringBefore(): void;
      run(): void;
    },
    time: number,
  ): void {
    this.mixers[index] = mixer;
    if (this.heap.timeOf(index) !== time) this.heap.set(index, time);
  }

  /** Runs what is due of an instance: a listener may ask for its actions in the middle of an update. */
  catchUp(index: number): void {
    if (index >= 0 && this.heap.timeOf(index) < this.crowd.playback.elapsed) this.run(index);
  }

  /** Dispatches an event of an action. */
  notify(index: number, { clip, layer }: PlayedAction, action: object, what: ActionReport): void {
    const { events, playback, announce } = this.crowd;
    if (index < 0 || !events.isListenedTo(what.type)) return;
    const about = { instanceId: index, clip: clip.name, layer: playback.layers[layer].name, action };
    announce({ ...what, ...about });
  }

  advanced(): void {
    const { heap } = this;
    this.listen();
    const now = this.crowd.playback.elapsed;
    // The heap knows what happens next in forward time only; when time runs backwards all mixers are run.
    if (this.crowd.playback.time.step < 0) this.runAll();
    // Each is run once: a listener could start something that is due again and again.
    for (; heap.firstTime <= now; heap.set(heap.first, Infinity)) this.due.push(heap.first);
    const { due } = this;
    this.due = [];
    let at = 0;
    try {
      for (; at < due.length; at++) this.run(due[at]);
    } finally {
      // Where a listener threw, the others' turn comes with the next update.
      for (at++; at < due.length; at++) heap.set(due[at], now);
    }
  }

  steers(index: number, layer: number): boolean {
    return this.mixers[index]?.steers(layer) === true;
  }

  released(index: number, layer?: number): void {
    const mixer = this.mixers[index];
    if (mixer === undefined) return;
    mixer.release(layer);
    if (!mixer.isLost) return;
    this.mixers[index] = undefined;
    this.heap.set(index, Infinity);
  }

  resumed(index: number, missed: number): void {
    this.mixers[index]?.delay(missed);
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

  private run(index: number): void {
    this.heap.set(index, Infinity);
    // One that is paused goes on when it is resumed.
    if (!this.crowd.playback.isPaused(index)) this.mixers[index]?.run();
  }

  /** Looks at every instance when somebody begins to listen to passes: those before are not told of. */
  private listen(): void {
    const loops = this.crowd.events.isListenedTo('loop');
    if (loops && !this.loops) {
      for (const mixer of this.mixers) mixer?.bringBefore();
      this.runAll();
    }
    this.loops = loops;
  }

  /** Has the actions of all instances run in this update. */
  private runAll(): void {
    this.mixers.forEach((mixer, index) => {
      if (mixer !== undefined) this.heap.set(index, this.crowd.playback.elapsed);
    });
  }
}
