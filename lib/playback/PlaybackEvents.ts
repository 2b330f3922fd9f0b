import { LOOP_PING_PONG, REPEAT_FOREVER } from '../constants.js';
import type { BakedClip } from '../poses/ClipTable.js';
import { TimeHeap } from '../utils/TimeHeap.js';
import type { InstancePlayback, PlaybackObserver } from './InstancePlayback.js';
import { CLIP_LOOP, CLIP_REPETITIONS, SLOT_STRIDE } from './instanceLayout.js';
import { cycleOf, passOf } from './slots.js';

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

/** A clip came to its end and begins anew, or in a ping-pong turns around. */
export interface LoopEvent {
  /** For telling events apart. */
  type: 'loop';
  /** Index of the instance. */
  instanceId: number;
  /** Name of the clip. */
  clip: string;
  /** 1, or -1 when played in reverse. */
  loopDelta: 1 | -1;
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

/**
 * Announces what happens to the clips of instances, without looking at instances to which nothing happens: each has the
 * time of its next event in a heap. Only the newest clip of an instance has events, not those that fade out.
 */
export class PlaybackEvents implements PlaybackObserver {
  /** Types that someone listens to; others are not looked for. */
  private readonly wanted: ReadonlySet<PlaybackEventType>;
  private readonly playback: InstancePlayback;
  private readonly heap: TimeHeap;
  // The next event of each instance: the stretch of the clip's length it lies in, and which mark there, or beyond
  // them the stretch's end.
  private readonly cycle: Float64Array;
  private readonly mark: Int32Array;

  private dispatching = false;
  /** Instances started by listeners: their events wait for the next update, or a listener could start them for ever. */
  private late: number[] = [];
  /** Whether a listener began to listen, or changed marks, while events were dispatched. */
  private stale = false;

  constructor(playback: InstancePlayback, wanted: ReadonlySet<PlaybackEventType>) {
    this.playback = playback;
    this.wanted = wanted;
    this.heap = new TimeHeap(playback.capacity);
    this.cycle = new Float64Array(playback.capacity);
    this.mark = new Int32Array(playback.capacity);
  }

  /** Looks at every instance: when someone begins to listen, or marks were changed. */
  restart(): void {
    if (this.dispatching) {
      this.stale = true;
      return;
    }
    this.heap.clear();
    for (let i = 0; i < this.playback.capacity; i++) this.find(i, this.playback.isFresh(i));
  }

  started(index: number): void {
    this.find(index, true);
  }

  retimed(index: number, turned: boolean): void {
    if (turned) this.find(index, false);
    else this.schedule(index);
  }

  moved(index: number): void {
    this.find(index, this.playback.isFresh(index));
  }

  dropped(index: number, cycles: number): void {
    this.cycle[index] -= cycles;
  }

  /** Dispatches what is due, in the order it happened. */
  dispatch(dispatch: (event: PlaybackEvent) => void): void {
    const now = this.playback.elapsed;
    if (this.heap.firstTime > now) return;

    this.dispatching = true;
    try {
      while (this.heap.firstTime <= now) {
        const index = this.heap.first;
        const event = this.take(index);
        if (event !== null) dispatch(event);
      }
    } finally {
      this.dispatching = false;
      const { late, stale } = this;
      this.late = [];
      this.stale = false;
      if (stale) this.restart();
      for (const index of late) this.schedule(index);
    }
  }

  /** The event that is due for an instance; moves on to its next. Null if nobody listens to it. */
  private take(index: number): PlaybackEvent | null {
    const clip = this.playback.clipOf(index) as BakedClip;
    const reverse = this.playback.isReversed(index);
    const direction = reverse ? -1 : 1;
    const instanceId = index;
    const marks = this.marksOf(clip);

    if (this.mark[index] < marks.length) {
      const back = this.runsBack(index, this.cycle[index]);
      const place = this.mark[index]++;
      const { time, name } = marks[back ? marks.length - 1 - place : place];
      this.schedule(index, true);
      return { type: 'mark', instanceId, clip: clip.name, name, time, direction: back ? -1 : 1 };
    }

    const next = this.cycle[index] + direction;
    this.cycle[index] = next;
    this.mark[index] = 0;
    this.schedule(index, true);
    if (this.isLast(index, next)) {
      return this.wanted.has('finished')
        ? { type: 'finished', instanceId, clip: clip.name, direction }
        : null;
    }
    return this.wanted.has('loop')
      ? { type: 'loop', instanceId, clip: clip.name, loopDelta: direction }
      : null;
  }

  /** Finds an instance's next event from where it is; `from` tells whether an event right there is still to come. */
  private find(index: number, from: boolean): void {
    if (this.wanted.size === 0) return;
    const { playback } = this;
    const clip = playback.clipOf(index);
    const intervals = clip === null ? 0 : clip.count - 1;
    if (clip === null || intervals < 1) {
      this.heap.set(index, Infinity);
      return;
    }

    const reverse = playback.isReversed(index);
    const total = playback.total(index);
    let cycle = cycleOf(total, intervals, reverse);
    if (this.isLast(index, cycle)) {
      // Started beyond the end: all there is to tell is that it has finished.
      if (!from) {
        this.cycle[index] = cycle;
        this.heap.set(index, Infinity);
        return;
      }
      while (this.isLast(index, cycle)) cycle += reverse ? 1 : -1;
      this.cycle[index] = cycle;
      this.mark[index] = this.marksOf(clip).length;
      this.schedule(index);
      return;
    }

    const marks = this.marksOf(clip);
    this.cycle[index] = cycle;
    this.mark[index] = 0;
    const slack = from ? PASSED : -PASSED;
    while (this.mark[index] < marks.length) {
      const ahead = (this.placeOf(index, clip) - total) * (reverse ? -1 : 1);
      if (ahead + slack >= 0) break;
      this.mark[index]++;
    }
    this.schedule(index);
  }

  /** Puts the instance's next event where it belongs in time; `taken` if one has just been dispatched for it. */
  private schedule(index: number, taken = false): void {
    if (this.wanted.size === 0) return;
    const clip = this.playback.clipOf(index);
    if (clip === null || clip.count < 2 || !this.comesToSomething(index, clip)) {
      this.heap.set(index, Infinity);
      return;
    }
    const time = this.playback.timeOf(index, this.placeOf(index, clip));
    if (this.dispatching && !taken && time <= this.playback.elapsed) {
      this.heap.set(index, Infinity);
      this.late.push(index);
      return;
    }
    this.heap.set(index, time);
  }

  /** Whether any event that is listened to lies ahead. */
  private comesToSomething(index: number, clip: BakedClip): boolean {
    const slots = this.playback.newest;
    const at = index * SLOT_STRIDE;
    const reverse = this.playback.isReversed(index);
    const next = this.cycle[index] + (reverse ? -1 : 1);
    if (this.isLast(index, this.cycle[index])) return false;
    if (this.wanted.has('loop') || this.marksOf(clip).length > 0) return true;
    // Only the end is of interest: go there at once.
    const repetitions = Math.ceil(slots[at + CLIP_REPETITIONS]);
    if (repetitions >= REPEAT_FOREVER) return false;
    if (!this.isLast(index, next)) this.cycle[index] = reverse ? -repetitions : Math.max(repetitions, 1) - 1;
    return true;
  }

  /** Where an instance's next event lies, in the frames that its time has come to. */
  private placeOf(index: number, clip: BakedClip): number {
    const intervals = clip.count - 1;
    const cycle = this.cycle[index];
    const reverse = this.playback.isReversed(index);
    const marks = this.marksOf(clip);
    const place = this.mark[index];
    if (place >= marks.length) return (reverse ? cycle : cycle + 1) * intervals;

    const back = this.runsBack(index, cycle);
    const frame = Math.min(marks[back ? marks.length - 1 - place : place].time * clip.fps, intervals);
    return cycle * intervals + (back !== reverse ? intervals - frame : frame);
  }

  /** Whether the clip runs from its end to its start in a stretch. */
  private runsBack(index: number, cycle: number): boolean {
    const reverse = this.playback.isReversed(index);
    const pingPong = (this.playback.newest[index * SLOT_STRIDE + CLIP_LOOP] & LOOP_PING_PONG) !== 0;
    const turned = pingPong && (passOf(cycle, reverse) & 1) !== 0;
    return reverse !== turned;
  }

  private isLast(index: number, cycle: number): boolean {
    const repetitions = this.playback.newest[index * SLOT_STRIDE + CLIP_REPETITIONS];
    return cycle !== 0 && passOf(cycle, this.playback.isReversed(index)) >= repetitions;
  }

  private marksOf(clip: BakedClip): BakedClip['marks'] {
    return this.wanted.has('mark') ? clip.marks : NO_MARKS;
  }
}

const NO_MARKS: BakedClip['marks'] = [];
