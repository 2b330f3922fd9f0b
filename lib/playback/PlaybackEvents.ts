import { TimeHeap } from '../utils/TimeHeap.js';
import type { InstancePlayback, PlaybackObserver } from './InstancePlayback.js';
import { NextEvents } from './NextEvents.js';
import type { MarkerEvent, PlaybackEvent, PlaybackEventType } from './playbackEventTypes.js';

/**
 * Announces what happens to the clips of instances. The times of their next events are in a heap, so that instances to
 * which nothing happens are not looked at. Only the newest clip of an instance has events, not those that fade out.
 *
 * As from an `AnimationAction`, an instance has one `loop` event for all the passes that begin in one update, when the
 * last of them does, and none if it finishes in that update. Markers are told of as they are passed, but in a long update
 * only those of its last passes.
 */
export class PlaybackEvents implements PlaybackObserver {
  private readonly heap: TimeHeap;
  private readonly next: NextEvents;
  /** Instances up to this one have their events in the heap. */
  private known = 0;

  private dispatching = false;
  /** Instances started by listeners: their events wait for the next update, or a listener could start them for ever. */
  private late: number[] = [];
  /** Whether a listener began to listen, or changed markers, while events were dispatched. */
  private stale = false;

  /**
   * @param wanted Types that someone listens to; others are not looked for.
   * @param crowd Has as many instances as events are told of.
   */
  constructor(
    private readonly playback: InstancePlayback,
    private readonly wanted: ReadonlySet<PlaybackEventType>,
    private readonly crowd: { readonly count: number },
  ) {
    this.heap = new TimeHeap(playback.capacity);
    this.next = new NextEvents(playback, wanted);
  }

  /** Looks at every instance: when someone begins to listen, or markers were changed. */
  restart(): void {
    if (this.dispatching) {
      this.stale = true;
      return;
    }
    this.heap.clear();
    this.known = 0;
    this.lookAfter();
  }

  /** Call before time passes: instances may have been added. */
  lookAfter(): void {
    if (this.dispatching) return;
    const { known } = this;
    this.known = Math.min(this.crowd.count, this.playback.capacity);
    for (let i = known; i < this.known; i++) this.started(i);
  }

  started(index: number): void {
    if (index >= this.known) return;
    this.next.begin(index);
    this.schedule(index);
  }

  retimed(index: number, turned: boolean): void {
    if (turned) this.next.turn(index);
    this.schedule(index);
  }

  swapped(i: number, j: number): void {
    if (Math.max(i, j) >= this.known) {
      this.started(i);
      this.started(j);
      return;
    }
    this.next.swap(i, j);
    const time = this.heap.timeOf(i);
    this.heap.set(i, this.heap.timeOf(j));
    this.heap.set(j, time);
    for (let k = 0; k < this.late.length; k++) {
      if (this.late[k] === i) this.late[k] = j;
      else if (this.late[k] === j) this.late[k] = i;
    }
  }

  resized(capacity: number): void {
    this.known = Math.min(this.known, capacity);
    this.late = this.late.filter((index) => index < capacity);
    this.heap.resize(capacity);
    this.next.resize(capacity);
  }

  /** Dispatches what is due, in the order it happened. */
  dispatch(dispatch: (event: PlaybackEvent) => void): void {
    const now = this.playback.elapsed;
    // A listener that updates the crowd gets no events within events.
    if (this.dispatching || this.heap.firstTime > now) return;

    this.dispatching = true;
    try {
      while (this.heap.firstTime <= now) {
        const event = this.take(this.heap.first, now);
        if (event?.type === 'marker') this.dispatchMarker(event, dispatch);
        else if (event !== null) dispatch(event);
      }
    } finally {
      this.dispatching = false;
      const { late } = this;
      this.late = [];
      for (const index of late) this.schedule(index);
    }
    // After an error this is not reached: what is still due is told of in the next update.
    if (!this.stale) return;
    this.stale = false;
    this.restart();
  }

  /** Dispatches a marker's event under its name and under its former one, to who listens. */
  private dispatchMarker(event: MarkerEvent, dispatch: (event: PlaybackEvent) => void): void {
    const { instanceId, clip, name, time, direction } = event;
    if (this.wanted.has('marker')) dispatch(event);
    if (this.wanted.has('mark')) dispatch({ type: 'mark', instanceId, clip, name, time, direction });
  }

  /** The event that is due for an instance, null if nobody listens to it; moves on to its next. */
  private take(index: number, now: number): PlaybackEvent | null {
    const { count } = this.crowd;
    if (index >= count || this.wanted.size === 0) {
      this.known = Math.min(this.known, count);
      this.heap.set(index, Infinity);
      return null;
    }
    // A listener may have removed the marker that was due, or all that listen to markers.
    const due = this.timeOf(index);
    const event = due > now ? null : this.next.take(index, now);
    this.heap.set(index, this.timeOf(index));
    return event;
  }

  /** Puts an instance's next event where it belongs in time. */
  private schedule(index: number): void {
    const time = this.timeOf(index);
    if (this.dispatching && time <= this.playback.elapsed) {
      this.heap.set(index, Infinity);
      this.late.push(index);
    } else {
      this.heap.set(index, time);
    }
  }

  private timeOf(index: number): number {
    return index >= this.known ? Infinity : this.next.timeOf(index);
  }
}
