import type { BakedClip, ClipMarker } from '../poses/ClipTable.js';
import { swapItems } from '../utils/swapItems.js';
import type { InstancePlayback } from './InstancePlayback.js';
import { clockAt, endOfPass, isMirrored, lastPass, mirrored, type Place } from './loops.js';
import { nestedFades } from './nestedFades.js';
import type { FinishedEvent, LoopEvent, PlaybackEvent, PlaybackEventType } from './playbackEventTypes.js';
import { MAX_ACTIONS } from './SlotOrder.js';
import {
  FADING_OUT,
  FINISHED,
  hasBit,
  hasJustBegun,
  isReversed,
  SLOT_STARTED_IN,
  type Slots,
} from './slots.js';

/** Frames by which a marker may lie behind a clip that starts right at it and still is ahead. */
const FRAME_EPSILON = 1e-9;

/** Seconds by which time must have passed an end: a clip that was set to its very end comes past it only when it moves. */
const END_EPSILON = 1e-9;

/** How many of the passes that end in one update have their markers told of. */
const MAX_MARKED_PASSES = 8;

/** The next event lies ahead. */
const AHEAD = 0;
/** Passes have begun whose `loop` event was not dispatched yet. */
const OWES_LOOPS = 1;
/** There is nothing left to tell. */
const DONE = 2;

const NO_MARKERS: readonly ClipMarker[] = [];

const _place: Place = { pass: 0, within: 0, finished: false };

/**
 * For each clip that instances play, but for those that fade out, the event that comes next, and when that is. A clip is
 * known by its key: the number of slots of an instance, on all layers, times the instance's index, plus the number of its
 * slot. With nested fades only one clip of an instance can have events; it always uses the first of these keys.
 */
export class NextEvents {
  /** Keys of an instance. */
  readonly perInstance: number;
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
    this.perInstance = playback.layers.count * MAX_ACTIONS;
    const capacity = playback.capacity * this.perInstance;
    this.pass = new Float64Array(capacity);
    this.marker = new Int32Array(capacity);
    this.told = new Float64Array(capacity);
    this.state = new Uint8Array(capacity);
  }

  /** Key of the clip in a slot of an instance. */
  keyOf(index: number, slot: number): number {
    return index * this.perInstance + (this.hasOne ? 0 : slot);
  }

  /** The instance that a key is about. */
  instanceOf(key: number): number {
    return Math.floor(key / this.perInstance);
  }

  /** Finds the next event of a slot, of a clip that has just begun or that nothing is known of. */
  begin(key: number): void {
    const { time } = this.playback;
    const slots = this.slotsOf(key);
    if (slots === null) return;
    const at = this.at(key);
    // Of a clip that has just begun, even what lies right where it begins is still to be told of.
    const fresh = hasJustBegun(slots, at, time.elapsedOf(this.instanceOf(key)));
    const { pass, finished } = this.playback.locate(this.instanceOf(key), slots, _place);
    this.told[key] = fresh ? slots[at + SLOT_STARTED_IN] : pass;
    this.state[key] = finished && !fresh ? DONE : AHEAD;
    if (!finished) this.seek(key, slots, fresh);
  }

  /** Finds the next event of a slot whose clip plays on in the other direction. */
  turn(key: number): void {
    const slots = this.slotsOf(key);
    if (slots === null || this.state[key] === DONE || this.isOver(key, slots)) return;
    this.state[key] = AHEAD;
    this.seek(key, slots, false);
  }

  /** When the next event is due, in seconds since the beginning; infinite if there is none. */
  timeOf(key: number): number {
    const { playback, wanted } = this;
    const slots = this.slotsOf(key);
    if (slots === null || wanted.size === 0 || this.state[key] === DONE) return Infinity;
    const clip = this.clipOf(key, slots);
    if (clip === null || clip.count < 2) return Infinity;
    // Beyond this number, the next pass would have the same.
    if (this.pass[key] >= Number.MAX_SAFE_INTEGER) return Infinity;
    const isOver = this.isOver(key, slots);
    if (isOver || this.state[key] === OWES_LOOPS) {
      // An action that is paused ends, and begins a pass, when it goes on.
      const isTold = !playback.isPaused(this.instanceOf(key)) && (!isOver || wanted.has('finished'));
      return isTold ? playback.elapsed : Infinity;
    }

    const markers = this.markersOf(clip);
    if (this.marker[key] < markers.length) {
      return this.timeAt(key, slots, this.pass[key], this.placeOf(key, slots, clip, markers));
    }
    if (markers.length === 0 && !wanted.has('loop')) {
      // Only the end is of interest: go there at once.
      const last = lastPass(slots, this.at(key));
      if (last === Infinity || !wanted.has('finished')) return Infinity;
      this.pass[key] = Math.max(this.pass[key], last);
    }
    return this.endOf(key, slots, this.pass[key]);
  }

  /** The event of a slot that is due by now, null if nobody listens to it; moves on to the next. */
  take(key: number, now: number): PlaybackEvent | null {
    const slots = this.slotsOf(key) as Slots;
    const clip = this.clipOf(key, slots) as BakedClip;
    const markers = this.markersOf(clip);
    if (this.state[key] === OWES_LOOPS) {
      this.state[key] = AHEAD;
      // If more passes end in this very update, they and these are told of in one event.
      return this.endOf(key, slots, this.pass[key]) > now ? this.tellLoops(key, slots, clip) : null;
    }
    if (this.isOver(key, slots)) return this.tellFinished(key, slots, clip);
    if (this.marker[key] < markers.length) {
      const direction = this.runsBack(key, slots) ? -1 : 1;
      const { time, name } = this.nextMarker(key, slots, markers);
      this.marker[key]++;
      return { type: 'marker', ...this.clipOfEvent(key, clip), name, time, direction };
    }

    // The pass that lasts now, or one after the last.
    const last = lastPass(slots, this.at(key));
    const goal = Math.min(this.pass[key] + this.passesDue(key, slots, now), last + 1);
    this.marker[key] = 0;
    if (this.pass[key] < goal - 1) {
      const first = Math.max(this.pass[key] + 1, goal - MAX_MARKED_PASSES);
      this.pass[key] = markers.length === 0 ? goal - 1 : first;
      return null;
    }
    if (goal > last) return this.tellFinished(key, slots, clip);
    this.pass[key] = goal;
    return this.tellLoops(key, slots, clip);
  }

  swap(i: number, j: number): void {
    for (const numbers of [this.pass, this.marker, this.told, this.state])
      swapItems(numbers, i, j, this.perInstance);
  }

  /** Makes room for so many instances. */
  resize(capacity: number): void {
    const { pass, marker, told, state } = this;
    const keys = capacity * this.perInstance;
    this.pass = new Float64Array(keys);
    this.pass.set(pass.subarray(0, keys));
    this.marker = new Int32Array(keys);
    this.marker.set(marker.subarray(0, keys));
    this.told = new Float64Array(keys);
    this.told.set(told.subarray(0, keys));
    this.state = new Uint8Array(keys);
    this.state.set(state.subarray(0, keys));
  }

  /** The `loop` event for the passes that have begun. */
  private tellLoops(key: number, slots: Slots, clip: BakedClip): LoopEvent | null {
    const passes = this.pass[key] - this.told[key];
    this.told[key] = this.pass[key];
    if (passes === 0 || !this.wanted.has('loop') || this.isSteered(key)) return null;
    const loopDelta = isReversed(slots, this.at(key)) ? -passes : passes;
    return { type: 'loop', ...this.clipOfEvent(key, clip), loopDelta };
  }

  private tellFinished(key: number, slots: Slots, clip: BakedClip): FinishedEvent | null {
    this.state[key] = DONE;
    if (!this.wanted.has('finished') || this.isSteered(key)) return null;
    const direction = isReversed(slots, this.at(key)) ? -1 : 1;
    return { type: 'finished', ...this.clipOfEvent(key, clip), direction };
  }

  /** Finds the next marker from where a slot's clip is; `fresh` if one right there is still to come. */
  private seek(key: number, slots: Slots, fresh: boolean): void {
    const clip = this.clipOf(key, slots);
    if (clip === null) return;
    const { pass, within } = this.playback.locate(this.instanceOf(key), slots, _place);
    const reverse = isReversed(slots, this.at(key));
    // Forward there is no pass -1, and from it to pass 0 there is no loop.
    this.pass[key] = reverse ? pass : Math.max(pass, 0);
    if (pass < 0) this.told[key] = this.pass[key];
    else if (!reverse) this.told[key] = Math.max(this.told[key], 0);
    if (this.told[key] < this.pass[key]) this.state[key] = OWES_LOOPS;

    const markers = this.markersOf(clip);
    const slack = fresh ? FRAME_EPSILON : -FRAME_EPSILON;
    this.marker[key] = 0;
    while (this.marker[key] < markers.length) {
      const ahead = (this.placeOf(key, slots, clip, markers) - within) * (reverse ? -1 : 1);
      if (ahead + slack >= 0) break;
      this.marker[key]++;
    }
  }

  /** When a slot's clip comes to a place of a pass, in seconds since the beginning. */
  private timeAt(key: number, slots: Slots, pass: number, within: number): number {
    const { time } = this.playback;
    if (time.isPaused(this.instanceOf(key))) return Infinity;
    return time.origin + clockAt(slots, this.at(key), pass, within);
  }

  /** When a pass ends. */
  private endOf(key: number, slots: Slots, pass: number): number {
    return this.timeAt(key, slots, pass, endOfPass(slots, this.at(key))) + END_EPSILON;
  }

  /** How many passes end by now, of which the one that the next event is in is the first. */
  private passesDue(key: number, slots: Slots, now: number): number {
    const { pass, finished } = this.playback.locate(this.instanceOf(key), slots, _place);
    const due = pass - this.pass[key] + (finished ? 1 : 0);
    if (due < 2) return 1;
    // Times of ends are rounded in another way than places are; times decide, since events are in their order.
    if (this.endOf(key, slots, this.pass[key] + due) <= now) return due + 1;
    return this.endOf(key, slots, this.pass[key] + due - 1) > now ? due - 1 : due;
  }

  private nextMarker(key: number, slots: Slots, markers: readonly ClipMarker[]): ClipMarker {
    const place = this.marker[key];
    return markers[this.runsBack(key, slots) ? markers.length - 1 - place : place];
  }

  /** Frames from the clip's start, as `AnimationAction.time` counts them, at which the next marker is. */
  private placeOf(key: number, slots: Slots, clip: BakedClip, markers: readonly ClipMarker[]): number {
    const intervals = clip.count - 1;
    const frame = Math.min(this.nextMarker(key, slots, markers).time * clip.fps, intervals);
    return mirrored(frame, intervals, isMirrored(slots, this.at(key), this.pass[key]));
  }

  /** Whether the clip runs from its end to its start in the pass in which the next event is. */
  private runsBack(key: number, slots: Slots): boolean {
    const at = this.at(key);
    return isReversed(slots, at) !== isMirrored(slots, at, this.pass[key]);
  }

  /** Whether a slot's clip has finished for good, however much time passes. */
  private isOver(key: number, slots: Slots): boolean {
    return hasBit(slots, this.at(key), FINISHED);
  }

  /** Whether an action of an object tells of passes and ends itself; of markers it does not. */
  private isSteered(key: number): boolean {
    const index = this.instanceOf(key);
    const layer = Math.floor((key - index * this.perInstance) / MAX_ACTIONS);
    return this.playback.driver?.steers(index, layer) === true;
  }

  /** What all events say of the clip that they are about. */
  private clipOfEvent(
    key: number,
    { name }: BakedClip,
  ): Pick<FinishedEvent, 'instanceId' | 'clip' | 'layer'> {
    const instanceId = this.instanceOf(key);
    const layer = Math.floor((key - instanceId * this.perInstance) / MAX_ACTIONS);
    return { instanceId, clip: name, layer: this.playback.layers.names[layer] };
  }

  private clipOf(key: number, slots: Slots): BakedClip | null {
    return this.playback.clipIn(this.instanceOf(key), slots);
  }

  /** The slots of a key, if its instance uses them, and for a clip that does not fade out. */
  private slotsOf(key: number): Slots | null {
    const index = this.instanceOf(key);
    const number = key - index * this.perInstance;
    if (this.hasOne) return number === 0 ? this.playback.layer.current(index) : null;
    const layer = this.playback.stack.layers[Math.floor(number / MAX_ACTIONS)];
    const slots = layer.slots[number % MAX_ACTIONS];
    if (slots === undefined || !layer.uses(index, slots)) return null;
    return hasBit(slots, layer.at(index), FADING_OUT) ? null : slots;
  }

  private get hasOne(): boolean {
    return this.playback.layer.blend === nestedFades;
  }

  private at(key: number): number {
    return this.playback.layer.at(this.instanceOf(key));
  }

  private markersOf(clip: BakedClip): readonly ClipMarker[] {
    return this.wanted.has('marker') || this.wanted.has('mark') ? clip.markers : NO_MARKERS;
  }
}
