import type { BakedClip, ClipMarker } from '../poses/ClipTable.js';
import { swapItems } from '../utils/swapItems.js';
import type { InstancePlayback } from './InstancePlayback.js';
import { clockAt, endOfPass, isMirrored, lastPass, mirrored } from './loops.js';
import type { FinishedEvent, LoopEvent, PlaybackEvent, PlaybackEventType } from './playbackEventTypes.js';
import { FINISHED, hasBit, isReversed, SLOT_STARTED, SLOT_STARTED_IN, TIME_EPSILON } from './slots.js';

/** Frames by which a marker may lie behind a clip that starts right at it and still is ahead. */
const FRAME_EPSILON = 1e-9;

/** Seconds by which time must have passed an end: a clip that was set to its very end comes past it only when it moves. */
const END_EPSILON = 1e-9;

/** How many of the passes that end in one update have their markers told of. */
const MAX_MARKED_PASSES = 8;

/** The next event lies ahead. */
const AHEAD = 0;
/** Passes have begun that nobody was told of. */
const OWES_LOOPS = 1;
/** There is nothing left to tell. */
const DONE = 2;

const NO_MARKERS: readonly ClipMarker[] = [];

/** For each instance the event that comes next, of its newest clip, and when that is. */
export class NextEvents {
  /** Number of the pass in which the event lies. */
  private pass: Float64Array;
  /** Which marker of that pass it is, in the order they are passed; beyond the last, it is the end of the pass. */
  private marker: Int32Array;
  /** Number of the pass up to which loops were told of. */
  private told: Float64Array;
  private state: Uint8Array;

  /** @param wanted Types that someone listens to; others are not looked for. */
  constructor(
    private readonly playback: InstancePlayback,
    private readonly wanted: ReadonlySet<PlaybackEventType>,
  ) {
    const { capacity } = playback;
    this.pass = new Float64Array(capacity);
    this.marker = new Int32Array(capacity);
    this.told = new Float64Array(capacity);
    this.state = new Uint8Array(capacity);
  }

  /** Finds an instance's next event, of a clip that has just begun or that nothing is known of. */
  begin(index: number): void {
    const { time, layer } = this.playback;
    const at = layer.at(index);
    const startedIn = layer.newest[at + SLOT_STARTED_IN];
    const since = time.elapsedOf(index) - layer.newest[at + SLOT_STARTED];
    // Of a clip that has just begun, even what lies right where it begins is still to be told of.
    const fresh = Math.abs(since) < TIME_EPSILON && !Number.isNaN(startedIn);
    const { pass, finished } = this.playback.where(index);
    this.told[index] = fresh ? startedIn : pass;
    this.state[index] = finished && !fresh ? DONE : AHEAD;
    if (!finished) this.seek(index, fresh);
  }

  /** Finds the next event of an instance that plays on in the other direction. */
  turn(index: number): void {
    if (this.state[index] === DONE || this.isOver(index)) return;
    this.state[index] = AHEAD;
    this.seek(index, false);
  }

  /** When the next event is due, in seconds since the beginning; infinite if there is none. */
  timeOf(index: number): number {
    const { playback, wanted } = this;
    if (wanted.size === 0 || this.state[index] === DONE) return Infinity;
    const clip = playback.clipOf(index);
    if (clip === null || clip.count < 2) return Infinity;
    // Beyond this number, the next pass would have the same.
    if (this.pass[index] >= Number.MAX_SAFE_INTEGER) return Infinity;
    if (this.state[index] === OWES_LOOPS) return playback.elapsed;
    if (this.isOver(index)) return wanted.has('finished') ? playback.elapsed : Infinity;

    const markers = this.markersOf(clip);
    if (this.marker[index] < markers.length) {
      return this.timeAt(index, this.pass[index], this.placeOf(index, clip, markers));
    }
    if (markers.length === 0 && !wanted.has('loop')) {
      // Only the end is of interest: go there at once.
      const last = this.lastPass(index);
      if (last === Infinity || !wanted.has('finished')) return Infinity;
      this.pass[index] = Math.max(this.pass[index], last);
    }
    return this.endOf(index, this.pass[index]);
  }

  /** The event of an instance that is due by now, null if nobody listens to it; moves on to the next. */
  take(index: number, now: number): PlaybackEvent | null {
    const clip = this.playback.clipOf(index) as BakedClip;
    const markers = this.markersOf(clip);
    if (this.state[index] === OWES_LOOPS) {
      this.state[index] = AHEAD;
      // If more passes end in this very update, they and these are told of in one event.
      return this.endOf(index, this.pass[index]) > now ? this.tellLoops(index, clip) : null;
    }
    if (this.isOver(index)) return this.tellFinished(index, clip);
    if (this.marker[index] < markers.length) {
      const back = this.runsBack(index);
      const { time, name } = this.nextMarker(index, markers);
      this.marker[index]++;
      return { type: 'marker', instanceId: index, clip: clip.name, name, time, direction: back ? -1 : 1 };
    }

    // The pass that lasts now, or one after the last.
    const last = this.lastPass(index);
    const goal = Math.min(this.pass[index] + this.passesDue(index, now), last + 1);
    this.marker[index] = 0;
    if (this.pass[index] < goal - 1) {
      const first = Math.max(this.pass[index] + 1, goal - MAX_MARKED_PASSES);
      this.pass[index] = markers.length === 0 ? goal - 1 : first;
      return null;
    }
    if (goal > last) return this.tellFinished(index, clip);
    this.pass[index] = goal;
    return this.tellLoops(index, clip);
  }

  swap(i: number, j: number): void {
    for (const numbers of [this.pass, this.marker, this.told, this.state]) swapItems(numbers, i, j, 1);
  }

  resize(capacity: number): void {
    const { pass, marker, told, state } = this;
    this.pass = new Float64Array(capacity);
    this.pass.set(pass.subarray(0, capacity));
    this.marker = new Int32Array(capacity);
    this.marker.set(marker.subarray(0, capacity));
    this.told = new Float64Array(capacity);
    this.told.set(told.subarray(0, capacity));
    this.state = new Uint8Array(capacity);
    this.state.set(state.subarray(0, capacity));
  }

  /** The `loop` event for the passes that have begun. */
  private tellLoops(index: number, clip: BakedClip): LoopEvent | null {
    const passes = this.pass[index] - this.told[index];
    this.told[index] = this.pass[index];
    if (passes === 0 || !this.wanted.has('loop')) return null;
    const loopDelta = this.isReversed(index) ? -passes : passes;
    return { type: 'loop', instanceId: index, clip: clip.name, loopDelta };
  }

  private tellFinished(index: number, clip: BakedClip): FinishedEvent | null {
    this.state[index] = DONE;
    if (!this.wanted.has('finished')) return null;
    const direction = this.isReversed(index) ? -1 : 1;
    return { type: 'finished', instanceId: index, clip: clip.name, direction };
  }

  /** Finds the next marker from where an instance is; `fresh` if one right there is still to come. */
  private seek(index: number, fresh: boolean): void {
    const clip = this.playback.clipOf(index);
    if (clip === null) return;
    const { pass, within } = this.playback.where(index);
    const reverse = this.isReversed(index);
    // Forward there is no pass -1, and from it to pass 0 there is no loop.
    this.pass[index] = reverse ? pass : Math.max(pass, 0);
    if (pass < 0) this.told[index] = this.pass[index];
    else if (!reverse) this.told[index] = Math.max(this.told[index], 0);
    if (this.told[index] < this.pass[index]) this.state[index] = OWES_LOOPS;

    const markers = this.markersOf(clip);
    const slack = fresh ? FRAME_EPSILON : -FRAME_EPSILON;
    this.marker[index] = 0;
    while (this.marker[index] < markers.length) {
      const ahead = (this.placeOf(index, clip, markers) - within) * (reverse ? -1 : 1);
      if (ahead + slack >= 0) break;
      this.marker[index]++;
    }
  }

  /** When an instance comes to a place of a pass, in seconds since the beginning. */
  private timeAt(index: number, pass: number, within: number): number {
    const { time, layer } = this.playback;
    if (time.isPaused(index)) return Infinity;
    return time.origin + clockAt(layer.newest, layer.at(index), pass, within);
  }

  /** When a pass of an instance ends. */
  private endOf(index: number, pass: number): number {
    const { layer } = this.playback;
    return this.timeAt(index, pass, endOfPass(layer.newest, layer.at(index))) + END_EPSILON;
  }

  /** How many passes of an instance end by now, of which the one its next event is at is the first. */
  private passesDue(index: number, now: number): number {
    const { pass, finished } = this.playback.where(index);
    const due = pass - this.pass[index] + (finished ? 1 : 0);
    if (due < 2) return 1;
    // Times of ends are rounded in another way than places are; times decide, since events are in their order.
    if (this.endOf(index, this.pass[index] + due) <= now) return due + 1;
    return this.endOf(index, this.pass[index] + due - 1) > now ? due - 1 : due;
  }

  private nextMarker(index: number, markers: readonly ClipMarker[]): ClipMarker {
    const place = this.marker[index];
    return markers[this.runsBack(index) ? markers.length - 1 - place : place];
  }

  /** Frames from the clip's start, as `AnimationAction.time` counts them, at which an instance's next marker is. */
  private placeOf(index: number, clip: BakedClip, markers: readonly ClipMarker[]): number {
    const intervals = clip.count - 1;
    const frame = Math.min(this.nextMarker(index, markers).time * clip.fps, intervals);
    return mirrored(frame, intervals, this.isMirrored(index));
  }

  /** Whether the clip runs from its end to its start in the pass in which an instance's next event lies. */
  private runsBack(index: number): boolean {
    return this.isReversed(index) !== this.isMirrored(index);
  }

  private isMirrored(index: number): boolean {
    const { layer } = this.playback;
    return isMirrored(layer.newest, layer.at(index), this.pass[index]);
  }

  private isReversed(index: number): boolean {
    const { layer } = this.playback;
    return isReversed(layer.newest, layer.at(index));
  }

  /** Whether an instance's clip has finished for good, however much time passes. */
  private isOver(index: number): boolean {
    const { layer } = this.playback;
    return hasBit(layer.newest, layer.at(index), FINISHED);
  }

  private lastPass(index: number): number {
    const { layer } = this.playback;
    return lastPass(layer.newest, layer.at(index));
  }

  private markersOf(clip: BakedClip): readonly ClipMarker[] {
    return this.wanted.has('marker') || this.wanted.has('mark') ? clip.marks : NO_MARKERS;
  }
}
