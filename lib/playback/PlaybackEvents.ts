import type { BakedClip } from '../poses/ClipTable.js';
import { TimeHeap } from '../utils/TimeHeap.js';
import type { InstancePlayback, PlaybackObserver } from './InstancePlayback.js';

/** What happened to an instance's clip; the first two as `AnimationMixer` has them. */
export type PlaybackEvent = FinishedEvent | LoopEvent | MarkEvent;

/** A clip ran its last repetition. */
export interface FinishedEvent {
  /** For telling events apart. */
  type: 'finished';
  /** Index of the instance. */
  instanceId: number;
  /** Name of the clip. */
  clip: string;
  /** 1, or -1 when played in reverse. */
  direction: 1 | -1;
}

/** A clip came to its end and begins anew, or in a ping-pong turns around; at most one for each update. */
export interface LoopEvent {
  /** For telling events apart. */
  type: 'loop';
  /** Index of the instance. */
  instanceId: number;
  /** Name of the clip. */
  clip: string;
  /** How often it did so in this update, as a rule 1; negative when played in reverse. */
  loopDelta: number;
}

/** An instance played past a mark, see `BoneTexture.addMark`. */
export interface MarkEvent {
  /** For telling events apart. */
  type: 'mark';
  /** Index of the instance. */
  instanceId: number;
  /** Name of the clip. */
  clip: string;
  /** What the mark is called. */
  name: string;
  /** Seconds into the clip at which the mark is. */
  time: number;
  /** 1, or -1 when the clip ran backwards here: in reverse, or on the way back of a ping-pong. */
  direction: 1 | -1;
}

export type PlaybackEventType = PlaybackEvent['type'];

/** Frames by which a place counts as passed already, where playing goes on from it. */
const PASSED = 1e-9;

/** Seconds by which time must have passed: a clip that was set to its very end comes past it when it moves. */
const MOVED = 1e-9;

/** Passes whose marks are told of when one update runs through more of them. */
const MOST_PASSES = 8;

/** The next event lies ahead. */
const AHEAD = 0;
/** Passes have begun that nobody was told of. */
const OWES_LOOPS = 1;
/** There is nothing left to tell. */
const DONE = 2;

/**
 * Announces what happens to the clips of instances, without looking at instances to which nothing happens: each has the
 * time of its next event in a heap. Only the newest clip of an instance has events, not those that fade out.
 *
 * As from an `AnimationAction`, an instance has one `loop` event for all the passes that begin in one update, when the
 * last of them does, and none if it finishes in that update. Marks are told of as they are passed, but only those of the
 * last `MOST_PASSES` passes.
 */
export class PlaybackEvents implements PlaybackObserver {
  /** Types that someone listens to; others are not looked for. */
  private readonly wanted: ReadonlySet<PlaybackEventType>;
  private readonly playback: InstancePlayback;
  private readonly crowd: { readonly count: number };
  private readonly heap: TimeHeap;
  /** The pass of each instance in which its next event lies. */
  private readonly pass: Float64Array;
  /** Which mark there it is, in the order they are passed; beyond them it is the end of the pass. */
  private readonly mark: Int32Array;
  /** The pass up to which loops were told of. */
  private readonly told: Float64Array;
  private readonly state: Uint8Array;
  /** Instances that are looked after; those from `count` on are not there. */
  private known = 0;

  private dispatching = false;
  /** Instances started by listeners: their events wait for the next update, or a listener could start them for ever. */
  private late: number[] = [];
  /** Whether a listener began to listen, or changed marks, while events were dispatched. */
  private stale = false;

  /** @param crowd Has as many instances as events are told of. */
  constructor(
    playback: InstancePlayback,
    wanted: ReadonlySet<PlaybackEventType>,
    crowd: { readonly count: number },
  ) {
    this.playback = playback;
    this.wanted = wanted;
    this.crowd = crowd;
    this.heap = new TimeHeap(playback.capacity);
    this.pass = new Float64Array(playback.capacity);
    this.mark = new Int32Array(playback.capacity);
    this.told = new Float64Array(playback.capacity);
    this.state = new Uint8Array(playback.capacity);
  }

  /** Looks at every instance: when someone begins to listen, or marks were changed. */
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
    for (let i = known; i < this.known; i++) this.begin(i);
  }

  started(index: number): void {
    this.begin(index);
  }

  retimed(index: number, turned: boolean): void {
    if (turned && this.state[index] !== DONE && !this.playback.isOver(index)) {
      this.state[index] = AHEAD;
      this.seek(index, false);
    }
    this.schedule(index);
  }

  swapped(i: number, j: number): void {
    if (Math.max(i, j) >= this.known) {
      this.begin(i);
      this.begin(j);
      return;
    }
    for (const numbers of [this.pass, this.mark, this.told, this.state]) {
      const kept = numbers[i];
      numbers[i] = numbers[j];
      numbers[j] = kept;
    }
    const time = this.heap.timeOf(i);
    this.heap.set(i, this.heap.timeOf(j));
    this.heap.set(j, time);
    for (let k = 0; k < this.late.length; k++) {
      if (this.late[k] === i) this.late[k] = j;
      else if (this.late[k] === j) this.late[k] = i;
    }
  }

  /** Dispatches what is due, in the order it happened. */
  dispatch(dispatch: (event: PlaybackEvent) => void): void {
    const now = this.playback.elapsed;
    // A listener that updates the crowd gets no events within events.
    if (this.dispatching || this.heap.firstTime > now) return;

    this.dispatching = true;
    try {
      while (this.heap.firstTime <= now) {
        const index = this.heap.first;
        const event = this.take(index, now);
        if (event !== null) dispatch(event);
      }
    } finally {
      this.dispatching = false;
      const { late } = this;
      this.late = [];
      for (const index of late) this.schedule(index);
    }
    // Not after an error: what is due still is told of in the next update.
    if (!this.stale) return;
    this.stale = false;
    this.restart();
  }

  /** The event that is due for an instance; moves on to its next. Null if nobody listens to it. */
  private take(index: number, now: number): PlaybackEvent | null {
    const { count } = this.crowd;
    if (index >= count || this.wanted.size === 0) {
      this.known = Math.min(this.known, count);
      this.heap.set(index, Infinity);
      return null;
    }
    // A listener may have removed the mark that was due, or all that listen to marks.
    const due = this.nextTime(index);
    if (due > now) {
      this.heap.set(index, due);
      return null;
    }
    const clip = this.playback.clipOf(index) as BakedClip;
    const marks = this.marksOf(clip);
    if (this.state[index] === OWES_LOOPS) {
      this.state[index] = AHEAD;
      if (this.endOf(index, clip, this.pass[index]) > now) return this.tellLoops(index, clip);
      // More of them begin in this very update; all are told of in one event.
      this.schedule(index, true);
      return null;
    }
    if (this.playback.isOver(index)) return this.tellFinished(index, clip);
    if (this.mark[index] < marks.length) {
      const back = this.runsBack(index);
      const place = this.mark[index]++;
      const { time, name } = marks[back ? marks.length - 1 - place : place];
      this.schedule(index, true);
      return { type: 'mark', instanceId: index, clip: clip.name, name, time, direction: back ? -1 : 1 };
    }

    // The pass that lasts now, or one after the last.
    const last = this.playback.lastPass(index);
    const goal = Math.min(this.pass[index] + this.passesDue(index, clip, now), last + 1);
    this.mark[index] = 0;
    if (this.pass[index] < goal - 1) {
      this.pass[index] = marks.length === 0 ? goal - 1 : Math.max(this.pass[index] + 1, goal - MOST_PASSES);
      this.schedule(index, true);
      return null;
    }
    if (goal > last) return this.tellFinished(index, clip);
    this.pass[index] = goal;
    return this.tellLoops(index, clip);
  }

  /** The `loop` event for the passes that have begun, and on to the next event. */
  private tellLoops(index: number, clip: BakedClip): LoopEvent | null {
    const passes = this.pass[index] - this.told[index];
    this.told[index] = this.pass[index];
    this.schedule(index, true);
    if (passes === 0 || !this.wanted.has('loop')) return null;
    const loopDelta = this.playback.isReversed(index) ? -passes : passes;
    return { type: 'loop', instanceId: index, clip: clip.name, loopDelta };
  }

  private tellFinished(index: number, clip: BakedClip): FinishedEvent | null {
    this.state[index] = DONE;
    this.heap.set(index, Infinity);
    if (!this.wanted.has('finished')) return null;
    const direction = this.playback.isReversed(index) ? -1 : 1;
    return { type: 'finished', instanceId: index, clip: clip.name, direction };
  }

  /** Finds an instance's next event, of a clip that has just begun or that nothing is known of. */
  private begin(index: number): void {
    if (index >= this.known) return;
    const { playback } = this;
    const fresh = playback.isFresh(index);
    const { pass, finished } = playback.where(index);
    this.told[index] = fresh ? playback.passBefore(index) : pass;
    this.state[index] = finished && !fresh ? DONE : AHEAD;
    if (!finished) this.seek(index, fresh);
    this.schedule(index);
  }

  /** Finds the next mark from where an instance is; `from` tells whether one right there is still to come. */
  private seek(index: number, from: boolean): void {
    const { playback } = this;
    const clip = playback.clipOf(index);
    if (clip === null) return;
    const { pass, within } = playback.where(index);
    const reverse = playback.isReversed(index);
    // Forward there is no pass -1, and from it to pass 0 there is no loop.
    this.pass[index] = reverse ? pass : Math.max(pass, 0);
    if (pass < 0) this.told[index] = this.pass[index];
    else if (!reverse) this.told[index] = Math.max(this.told[index], 0);
    if (this.told[index] < this.pass[index]) this.state[index] = OWES_LOOPS;

    const marks = this.marksOf(clip);
    const slack = from ? PASSED : -PASSED;
    this.mark[index] = 0;
    while (this.mark[index] < marks.length) {
      const ahead = (this.placeOf(index, clip, marks) - within) * (reverse ? -1 : 1);
      if (ahead + slack >= 0) break;
      this.mark[index]++;
    }
  }

  /** Puts the instance's next event where it belongs in time; `taken` if one has just been dispatched for it. */
  private schedule(index: number, taken = false): void {
    const time = this.nextTime(index);
    if (this.dispatching && !taken && time <= this.playback.elapsed) {
      this.heap.set(index, Infinity);
      this.late.push(index);
      return;
    }
    this.heap.set(index, time);
  }

  /** When the instance's next event is due, in seconds since the beginning; infinite if there is none. */
  private nextTime(index: number): number {
    const { playback, wanted } = this;
    if (wanted.size === 0 || index >= this.known || this.state[index] === DONE) return Infinity;
    const clip = playback.clipOf(index);
    if (clip === null || clip.count < 2) return Infinity;
    // Beyond, one pass more is not another number.
    if (this.pass[index] >= Number.MAX_SAFE_INTEGER) return Infinity;
    if (this.state[index] === OWES_LOOPS) return playback.elapsed;
    if (playback.isOver(index)) return wanted.has('finished') ? playback.elapsed : Infinity;

    const marks = this.marksOf(clip);
    if (this.mark[index] < marks.length) {
      return playback.timeOf(index, this.pass[index], this.placeOf(index, clip, marks));
    }
    if (marks.length === 0 && !wanted.has('loop')) {
      // Only the end is of interest: go there at once.
      const last = playback.lastPass(index);
      if (last === Infinity || !wanted.has('finished')) return Infinity;
      this.pass[index] = Math.max(this.pass[index], last);
    }
    return this.endOf(index, clip, this.pass[index]);
  }

  /** When a pass of an instance ends. */
  private endOf(index: number, clip: BakedClip, pass: number): number {
    return this.playback.timeOf(index, pass, this.playback.isReversed(index) ? 0 : clip.count - 1) + MOVED;
  }

  /** How many passes of an instance end by now, of which the one its next event is at is the first. */
  private passesDue(index: number, clip: BakedClip, now: number): number {
    const { pass, finished } = this.playback.where(index);
    const due = pass - this.pass[index] + (finished ? 1 : 0);
    if (due < 2) return 1;
    // The heap goes by times, which are rounded otherwise than places.
    if (this.endOf(index, clip, this.pass[index] + due) <= now) return due + 1;
    return this.endOf(index, clip, this.pass[index] + due - 1) > now ? due - 1 : due;
  }

  /** Frames from the clip's start, as playing counts them, at which an instance's next mark is. */
  private placeOf(index: number, clip: BakedClip, marks: BakedClip['marks']): number {
    const intervals = clip.count - 1;
    const place = this.mark[index];
    const { time } = marks[this.runsBack(index) ? marks.length - 1 - place : place];
    const frame = Math.min(time * clip.fps, intervals);
    return this.playback.isMirrored(index, this.pass[index]) ? intervals - frame : frame;
  }

  /** Whether the clip runs from its end to its start in the pass in which an instance's next event lies. */
  private runsBack(index: number): boolean {
    return this.playback.isReversed(index) !== this.playback.isMirrored(index, this.pass[index]);
  }

  private marksOf(clip: BakedClip): BakedClip['marks'] {
    return this.wanted.has('mark') ? clip.marks : NO_MARKS;
  }
}

const NO_MARKS: BakedClip['marks'] = [];
