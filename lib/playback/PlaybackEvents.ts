import { TimeHeap } from '../utils/TimeHeap.js';
import type { InstancePlayback } from './InstancePlayback.js';
import { NextEvents } from './NextEvents.js';
import type { PlaybackObserver } from './PlaybackObserver.js';
import type { MarkerEvent, PlaybackEvent, PlaybackEventType } from './playbackEventTypes.js';

/**
 * Announces what happens to the clips of instances. The times of their next events are in a heap, so that instances to
 * which nothing happens are not looked at. Clips that fade out have no events.
 *
 * As from an `AnimationAction`, an instance has one `loop` event for all the passes that begin in one update, when the
 * last of them does, and none if it finishes in that update. Markers are told of as they are passed, but in a long update
 * only those of its last passes. What is due already, as where a clip was begun beyond its end, is told of in the next update,
 * even in one of 0 seconds, in which a mixer tells nothing.
 */
export class PlaybackEvents implements PlaybackObserver {
  private readonly heap: TimeHeap;
  private readonly next: NextEvents;
  /** Instances up to this one have their events in the heap. */
  private known = 0;

  private dispatching = false;
  /** Slots that listeners started: their events wait for the next update, or a listener could start them for ever. */
  private postponed: number[] = [];
  /** Whether a listener began to listen, or changed markers, while events were dispatched. */
  private stale = false;

  /**
   * @param wanted Types that someone listens to; others are not looked for.
   * @param crowd Events are told of its first `count` instances, but not of those that are hidden.
   */
  constructor(
    private readonly playback: InstancePlayback,
    private readonly wanted: ReadonlySet<PlaybackEventType>,
    private readonly crowd: { readonly count: number; isVisible(index: number): boolean },
  ) {
    this.next = new NextEvents(playback, wanted);
    this.heap = new TimeHeap(playback.capacity * this.next.perInstance);
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
    for (let i = known; i < this.known; i++) this.started(i, null);
  }

  started(index: number, slot: number | null): void {
    if (index >= this.known) return;
    const { perInstance } = this.next;
    const started = slot === null ? null : this.next.keyOf(index, slot);
    for (let key = index * perInstance; key < (index + 1) * perInstance; key++) {
      if (started === null || started === key) {
        this.next.begin(key);
        this.schedule(key);
      } else if (this.timeOf(key) === Infinity) {
        // What was started may have taken its place.
        this.setTime(key, Infinity);
      }
    }
  }

  retimed(index: number, slot: number | null, turned: boolean): void {
    const { perInstance } = this.next;
    const retimed = slot === null ? null : this.next.keyOf(index, slot);
    for (let key = index * perInstance; key < (index + 1) * perInstance; key++) {
      if (retimed !== null && retimed !== key) continue;
      if (turned) this.next.turn(key);
      this.schedule(key);
    }
  }

  swapped(i: number, j: number): void {
    if (Math.max(i, j) >= this.known) {
      this.started(i, null);
      this.started(j, null);
      return;
    }
    const { perInstance } = this.next;
    this.next.swap(i, j);
    for (let slot = 0; slot < perInstance; slot++) {
      const [a, b] = [i * perInstance + slot, j * perInstance + slot];
      const time = this.heap.timeOf(a);
      this.setTime(a, this.heap.timeOf(b));
      this.setTime(b, time);
    }
    this.postponed = this.postponed.map((key) => {
      const index = this.next.instanceOf(key);
      const other = index === i ? j : index === j ? i : index;
      return key + (other - index) * perInstance;
    });
  }

  resized(capacity: number): void {
    this.known = Math.min(this.known, capacity);
    this.postponed = this.postponed.filter((key) => this.next.instanceOf(key) < capacity);
    this.heap.resize(capacity * this.next.perInstance);
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
      const { postponed } = this;
      this.postponed = [];
      for (const key of postponed) this.schedule(key);
    }
    // An error of a listener skips this; the next update then dispatches what is still due.
    if (!this.stale) return;
    this.stale = false;
    this.restart();
  }

  /** Dispatches a marker's event under its name and under its former one, to who listens. */
  private dispatchMarker(event: MarkerEvent, dispatch: (event: PlaybackEvent) => void): void {
    if (this.wanted.has('marker')) dispatch(event);
    if (this.wanted.has('mark')) dispatch({ ...event, type: 'mark' });
  }

  /** The event of a slot that is due, null if nobody listens to it; moves on to its next. */
  private take(key: number, now: number): PlaybackEvent | null {
    const { count } = this.crowd;
    if (this.next.instanceOf(key) >= count || this.wanted.size === 0) {
      this.known = Math.min(this.known, count);
      this.heap.set(key, Infinity);
      return null;
    }
    // A listener may have removed the marker that was due, or all that listen to markers.
    const due = this.timeOf(key);
    const event = due > now ? null : this.next.take(key, now);
    this.heap.set(key, this.timeOf(key));
    return event;
  }

  /** Puts the next event of a slot where it belongs in time. */
  private schedule(key: number): void {
    const time = this.timeOf(key);
    if (this.dispatching && time <= this.playback.elapsed) {
      this.setTime(key, Infinity);
      this.postponed.push(key);
    } else {
      this.setTime(key, time);
    }
  }

  private setTime(key: number, time: number): void {
    if (time !== Infinity || this.heap.timeOf(key) !== Infinity) this.heap.set(key, time);
  }

  private timeOf(key: number): number {
    const index = this.next.instanceOf(key);
    return index >= this.known || !this.crowd.isVisible(index) ? Infinity : this.next.timeOf(key);
  }
}
