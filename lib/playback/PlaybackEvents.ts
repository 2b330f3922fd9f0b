import type { BakedClip, ClipMarker } from '../animation/ClipTable.js';
import type { InstanceVisibility } from '../instances/InstanceVisibility.js';
import { TimeHeap } from '../utils/TimeHeap.js';
import {
  ACTION_EVENT,
  ACTION_STARTED_IN,
  type Actions,
  endOfPass,
  FADING_OUT,
  FINISHED,
  hasBit,
  hasJustBegun,
  isMirrored,
  isReversed,
  lastPass,
  mirrored,
  type Place,
  timeAt,
} from './actions.js';
import type { InstancePlayback } from './InstancePlayback.js';
import type { LayerActions } from './LayerActions.js';

/** What happened to an instance's clip; the first two as `AnimationMixer` has them. */
export type PlaybackEvent = FinishedEvent | LoopEvent | MarkerEvent;

/** A clip ran its last repetition. */
export interface FinishedEvent {
  /** For telling events apart. */
  type: 'finished';
  /** Index of the instance. */
  instanceId: number;
  /** Name of the clip. */
  clip: string;
  /** Name of the layer on which it plays: `'base'`, or one of those of an `AnimationLayers`. */
  layer: string;
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
  /** Name of the layer on which it plays: `'base'`, or one of those of an `AnimationLayers`. */
  layer: string;
  /** How often it did so in this update, as a rule 1; negative when played in reverse. */
  loopDelta: number;
}

/** An instance played past a marker, see `BoneTexture.addMarker`. */
export interface MarkerEvent {
  /** For telling events apart. */
  type: 'marker';
  /** Index of the instance. */
  instanceId: number;
  /** Name of the clip. */
  clip: string;
  /** Name of the layer on which it plays: `'base'`, or one of those of an `AnimationLayers`. */
  layer: string;
  /** What the marker is called. */
  name: string;
  /** Seconds into the clip at which the marker is. */
  time: number;
  /** 1, or -1 when the clip ran backwards here: in reverse, or on the way back of a ping-pong. */
  direction: 1 | -1;
}

export type PlaybackEventType = PlaybackEvent['type'];

/** All types of events that playing has. */
export const PLAYBACK_EVENT_TYPES: readonly PlaybackEventType[] = ['finished', 'loop', 'marker'];

/**
 * Updates for which a type of events is still looked for once nobody listens to it. To begin with it looks at every instance, which
 * programs that listen now and then shall not pay for each time.
 */
const PATIENCE = 600;

/** Number of the pass in which the next event of an action lies. */
const EVENT_PASS = ACTION_EVENT;
/** Which marker of that pass it is, in the order they are passed; beyond the last, it is the end of the pass. */
const EVENT_MARKER = ACTION_EVENT + 1;
/** Number of the pass up to which loops were told of. */
const EVENT_ANNOUNCED = ACTION_EVENT + 2;
/** One of those below. */
const EVENT_STATE = ACTION_EVENT + 3;

/** The next event lies ahead. */
const AHEAD = 0;
/** Passes have begun whose `loop` event was not dispatched yet. */
const OWES_LOOPS = 1;
/** There is nothing left to tell. */
const DONE = 2;
/** Added where a listener has started the clip: its events wait for the next update, or a listener could start it for ever. */
const WAITS = 4;

/** Frames by which a marker may lie behind a clip that starts right at it and still is ahead. */
const FRAME_EPSILON = 1e-9;
/** Seconds by which time must have passed an end: a clip that was set to its very end comes past it only when it moves. */
const END_EPSILON = 1e-9;
/** How many of the passes that end in one update have their markers told of. */
const MAX_MARKED_PASSES = 8;

const NO_MARKERS: readonly ClipMarker[] = [];

/**
 * Announces what happens to the clips of instances. Which event comes next stands in the numbers of each action, and the times
 * of instances' next events in a heap, so that those to which nothing happens are not looked at. Clips that fade out have none, nor
 * have instances that are hidden. Nothing is done for types to which nobody listens.
 *
 * As from an `AnimationAction`, an instance has one `loop` event for all the passes that begin in one update, when the
 * last of them does, and none if it finishes in that update. Markers are told of as they are passed, but in a long update
 * only those of its last passes. What is due already, as where a clip was begun beyond its end, is told of in the next update,
 * even in one of 0 seconds, in which a mixer tells nothing.
 */
export class PlaybackEvents {
  private heap = new TimeHeap(0);
  /** Types that someone listens to, and in which update that was last so. */
  private readonly listened = new Map<PlaybackEventType, number>();
  private markersVersion = 0;
  /** Instances up to this one have their events in the heap. */
  private known = 0;
  private dispatching = false;
  /** Instances with clips that wait. */
  private postponed: number[] = [];
  /** What was due when a listener replaced what all instances play. */
  private readonly owed: PlaybackEvent[] = [];

  // The action that is looked at, and on which layer of which instance it is.
  private index = 0;
  private number = 0;
  private place = 0;
  private layer!: LayerActions;
  private actions!: Actions;
  private at = 0;

  constructor(
    private readonly crowd: {
      readonly playback: InstancePlayback;
      readonly visibility: InstanceVisibility;
      /** Counts the changes of markers. */
      readonly markersVersion: number;
      /** Whether anyone listens to a type of events, on a mesh or on an object. */
      hasListeners(type: PlaybackEventType): boolean;
    },
  ) {}

  private get playback(): InstancePlayback {
    return this.crowd.playback;
  }

  /** Whether anyone listens to events of a type, or did lately. */
  isListenedTo(type: PlaybackEventType): boolean {
    return this.listened.has(type) || this.crowd.hasListeners(type);
  }

  /** Looks at every instance, also where what they play was replaced by what another crowd plays. */
  restart(): void {
    const { playback, listened, crowd } = this;
    playback.observer = listened.size === 0 ? null : this;
    this.heap = new TimeHeap(listened.size === 0 ? 0 : playback.capacity);
    this.markersVersion = crowd.markersVersion;
    this.known = 0;
  }

  /** Call before the clock moves: somebody may have begun to listen, markers been changed, or instances added. */
  beforeUpdate(): void {
    const { listened, crowd, playback } = this;
    // A listener that updates the crowd gets no events within events.
    if (this.dispatching) return;
    let changed = this.markersVersion !== crowd.markersVersion;
    const { updates } = playback.time;
    for (const type of PLAYBACK_EVENT_TYPES) {
      const isHeardNow = crowd.hasListeners(type);
      const last = listened.get(type);
      if (isHeardNow || last !== undefined) {
        changed ||= last === undefined;
        if (isHeardNow) listened.set(type, updates);
        else if (updates - (last as number) > PATIENCE) changed = listened.delete(type);
      }
    }
    if (changed) this.restart();
    if (listened.size === 0) return;
    const { known } = this;
    this.known = Math.min(crowd.visibility.count, playback.capacity);
    for (let i = known; i < this.known; i++) this.started(i);
  }

  /** A clip begins, or its time was set: one action of a layer, or all that the instance has. */
  started(index: number, layer?: number, place?: number): void {
    if (index >= this.known) return;
    this.each(index, layer, place, () => {
      this.begin();
      this.postpone();
    });
  }

  /** Clips go on, but at another speed, or stand still. */
  retimed(index: number, turned: boolean, layer?: number, place?: number): void {
    if (index >= this.known) return;
    this.each(index, layer, place, () => {
      // What was to be told in the other direction lies behind.
      if (turned && this.state !== DONE && !hasBit(this.actions, this.at, FINISHED)) {
        this.state = AHEAD;
        this.seek(false);
      }
      this.postpone();
    });
  }

  /** Two instances were exchanged. */
  swapped(i: number, j: number): void {
    this.postponed = this.postponed.map((index) => (index === i ? j : index === j ? i : index));
    if (Math.max(i, j) >= this.known) {
      this.started(i);
      this.started(j);
      return;
    }
    const time = this.heap.timeOf(i);
    this.heap.set(i, this.heap.timeOf(j));
    this.heap.set(j, time);
  }

  /** There is room for another number of instances. */
  resized(capacity: number): void {
    this.known = Math.min(this.known, capacity);
    this.postponed = this.postponed.filter((index) => index < capacity);
    this.heap.resize(capacity);
  }

  /** Dispatches what is due, in the order it happened. */
  dispatch(dispatch: (event: PlaybackEvent) => void): void {
    const { heap, crowd } = this;
    const now = this.playback.elapsed;
    if (this.dispatching || (heap.firstTime > now && this.owed.length === 0)) return;

    this.dispatching = true;
    try {
      while (this.owed.length > 0 || heap.firstTime <= now) {
        const event = this.owed.shift() ?? this.next(now);
        // A listener may have deleted or hidden its instance since.
        if (event !== null && crowd.visibility.isDrawn(event.instanceId)) dispatch(event);
      }
    } finally {
      this.dispatching = false;
      const { postponed } = this;
      this.postponed = [];
      for (const index of postponed) {
        this.each(index, undefined, undefined, () => {
          this.state &= ~WAITS;
        });
      }
    }
  }

  /** What all instances play is about to be replaced. */
  replacing(): void {
    const now = this.playback.elapsed;
    while (this.dispatching && this.heap.firstTime <= now) {
      const event = this.next(now);
      if (event !== null) this.owed.push(event);
    }
  }

  /** Takes what is due first; null if it is so no more. */
  private next(now: number): PlaybackEvent | null {
    const { heap, crowd } = this;
    const { first } = heap;
    if (first >= crowd.visibility.count) this.known = Math.min(this.known, crowd.visibility.count);
    // A listener may have removed the marker that was due.
    const event = this.findNext(first) > now ? null : this.take(now);
    heap.set(first, this.findNext(first));
    return event;
  }

  /** Calls back with each action of an instance that can have events, or one, and puts the instance where it belongs in time. */
  private each(
    index: number,
    layer: number | undefined,
    place: number | undefined,
    callback: () => void,
  ): void {
    const { layers } = this.playback;
    for (let number = 0; number < layers.length; number++) {
      if (layer !== undefined && layer !== number) continue;
      for (let i = 0; i < layers[number].count(index); i++) {
        if ((place === undefined || place === i) && this.lookAt(index, number, i)) callback();
      }
    }
    this.heap.set(index, this.findNext(index));
  }

  /** @returns Whether the action is one of a clip that does not fade out. */
  private lookAt(index: number, number: number, place: number): boolean {
    this.index = index;
    this.number = number;
    this.place = place;
    this.layer = this.playback.layers[number];
    this.actions = this.layer.actions(place);
    this.at = this.layer.at(index);
    return !hasBit(this.actions, this.at, FADING_OUT);
  }

  /** Looks at the action of an instance whose event comes next; returns when that is, which is infinite if there is none. */
  private findNext(index: number): number {
    if (index >= this.known || !this.crowd.visibility.isVisible(index)) return Infinity;
    const { layers } = this.playback;
    let earliest = Infinity;
    let layer = 0;
    let place = 0;
    for (let number = 0; number < layers.length; number++) {
      for (let i = 0; i < layers[number].count(index); i++) {
        const time = this.lookAt(index, number, i) ? this.timeOf() : Infinity;
        if (time >= earliest) continue;
        earliest = time;
        layer = number;
        place = i;
      }
    }
    if (earliest < Infinity) this.lookAt(index, layer, place);
    return earliest;
  }

  /** Lets the action wait if a listener has just started it, and its event is due. */
  private postpone(): void {
    if (!this.dispatching || this.timeOf() > this.playback.elapsed) return;
    this.state |= WAITS;
    this.postponed.push(this.index);
  }

  // What follows is about the action that is looked at.

  private get pass(): number {
    return this.actions[this.at + EVENT_PASS];
  }

  private set pass(pass: number) {
    this.actions[this.at + EVENT_PASS] = pass;
  }

  private get marker(): number {
    return this.actions[this.at + EVENT_MARKER];
  }

  private set marker(marker: number) {
    this.actions[this.at + EVENT_MARKER] = marker;
  }

  private get announced(): number {
    return this.actions[this.at + EVENT_ANNOUNCED];
  }

  private set announced(pass: number) {
    this.actions[this.at + EVENT_ANNOUNCED] = pass;
  }

  private get state(): number {
    return this.actions[this.at + EVENT_STATE];
  }

  private set state(state: number) {
    this.actions[this.at + EVENT_STATE] = state;
  }

  private get clip(): BakedClip | null {
    return this.playback.clipIn(this.actions, this.at);
  }

  /** Finds the next event of a clip that has just begun, or that nothing is known of. */
  private begin(): void {
    const { actions, at } = this;
    // Of a clip that has just begun, even what lies right where it begins is still to be told of.
    const fresh = hasJustBegun(actions, at, this.playback.time.timeOf(this.index));
    const { pass, finished } = this.locate();
    this.announced = fresh ? actions[at + ACTION_STARTED_IN] : pass;
    this.state = finished && !fresh ? DONE : AHEAD;
    if (!finished) this.seek(fresh);
  }

  /** Finds the next marker from where the clip is; `fresh` if one right there is still to come. */
  private seek(fresh: boolean): void {
    const { clip } = this;
    if (clip === null) return;
    const { pass, within } = this.locate();
    const reverse = isReversed(this.actions, this.at);
    // Forward there is no pass -1, and from it to pass 0 there is no loop.
    this.pass = reverse ? pass : Math.max(pass, 0);
    if (pass < 0) this.announced = this.pass;
    else if (!reverse) this.announced = Math.max(this.announced, 0);
    if (this.announced < this.pass) this.state = OWES_LOOPS;

    const markers = this.markersOf(clip);
    const slack = fresh ? FRAME_EPSILON : -FRAME_EPSILON;
    for (this.marker = 0; this.marker < markers.length; this.marker++) {
      const ahead = (this.placeOf(clip, markers) - within) * (reverse ? -1 : 1);
      if (ahead + slack >= 0) break;
    }
  }

  /** When the next event is due, in seconds since the beginning; infinite if there is none. */
  private timeOf(): number {
    const { playback, listened, actions, at, clip } = this;
    const isOver = hasBit(actions, at, FINISHED);
    if (this.state >= DONE || clip === null || clip.count < 2) return Infinity;
    // Beyond this number, the next pass would have the same.
    if (this.pass >= Number.MAX_SAFE_INTEGER) return Infinity;
    if (isOver || this.state === OWES_LOOPS) {
      // An action that is paused ends, and begins a pass, when it goes on.
      const isDue = !playback.isPaused(this.index) && (!isOver || listened.has('finished'));
      return isDue ? playback.elapsed : Infinity;
    }
    const markers = this.markersOf(clip);
    if (this.marker < markers.length) return this.timeAt(this.pass, this.placeOf(clip, markers));
    if (markers.length === 0 && !listened.has('loop')) {
      // Only the end is of interest: go there at once.
      const last = lastPass(actions, at);
      if (last === Infinity || !listened.has('finished')) return Infinity;
      this.pass = Math.max(this.pass, last);
    }
    return this.endOf(this.pass);
  }

  /** The event that is due by now, null if nobody listens to it; moves on to the next. */
  private take(now: number): PlaybackEvent | null {
    const { actions, at } = this;
    const clip = this.clip as BakedClip;
    const markers = this.markersOf(clip);
    if (this.state === OWES_LOOPS) {
      this.state = AHEAD;
      // If more passes end in this very update, they and these are told of in one event.
      return this.endOf(this.pass) > now ? this.takeLoops(clip) : null;
    }
    if (hasBit(actions, at, FINISHED)) return this.takeFinished(clip);
    if (this.marker < markers.length) {
      const direction = this.runsBack ? -1 : 1;
      const { time, name } = this.nextMarker(markers);
      this.marker++;
      return { type: 'marker', ...this.about(clip), name, time, direction };
    }

    // The pass that lasts now, or one after the last.
    const last = lastPass(actions, at);
    const goal = Math.min(this.pass + this.passesDue(now), last + 1);
    this.marker = 0;
    if (this.pass < goal - 1) {
      this.pass = markers.length === 0 ? goal - 1 : Math.max(this.pass + 1, goal - MAX_MARKED_PASSES);
      return null;
    }
    if (goal > last) return this.takeFinished(clip);
    this.pass = goal;
    return this.takeLoops(clip);
  }

  /** The `loop` event for the passes that have begun. */
  private takeLoops(clip: BakedClip): LoopEvent | null {
    const passes = this.pass - this.announced;
    this.announced = this.pass;
    if (passes === 0 || !this.listened.has('loop') || this.isSteered) return null;
    const loopDelta = isReversed(this.actions, this.at) ? -passes : passes;
    return { type: 'loop', ...this.about(clip), loopDelta };
  }

  private takeFinished(clip: BakedClip): FinishedEvent | null {
    this.state = DONE;
    if (!this.listened.has('finished') || this.isSteered) return null;
    return { type: 'finished', ...this.about(clip), direction: isReversed(this.actions, this.at) ? -1 : 1 };
  }

  /** What all events say of the clip that they are about. */
  private about({ name }: BakedClip): Pick<FinishedEvent, 'instanceId' | 'clip' | 'layer'> {
    return { instanceId: this.index, clip: name, layer: this.layer.name };
  }

  /** Whether an action of an object tells of passes and ends itself; of markers it does not. */
  private get isSteered(): boolean | undefined {
    return this.playback.isSteered(this.index, this.number);
  }

  private locate(): Readonly<Place> {
    return this.playback.where(this.layer, this.index, this.place);
  }

  /** When the clip comes to a place of a pass. */
  private timeAt(pass: number, within: number): number {
    return this.playback.isPaused(this.index) ? Infinity : timeAt(this.actions, this.at, pass, within);
  }

  /** When a pass ends. */
  private endOf(pass: number): number {
    return this.timeAt(pass, endOfPass(this.actions, this.at)) + END_EPSILON;
  }

  /** How many passes end by now, of which the one that the next event is in is the first. */
  private passesDue(now: number): number {
    const { pass, finished } = this.locate();
    const due = pass - this.pass + (finished ? 1 : 0);
    if (due < 2) return 1;
    // Times of ends are rounded in another way than places are; times decide, since events are in their order.
    if (this.endOf(this.pass + due) <= now) return due + 1;
    return this.endOf(this.pass + due - 1) > now ? due - 1 : due;
  }

  private nextMarker(markers: readonly ClipMarker[]): ClipMarker {
    return markers[this.runsBack ? markers.length - 1 - this.marker : this.marker];
  }

  /** Frames from the clip's start, as `AnimationAction.time` counts them, at which the next marker is. */
  private placeOf(clip: BakedClip, markers: readonly ClipMarker[]): number {
    const intervals = clip.count - 1;
    const frame = Math.min(this.nextMarker(markers).time * clip.fps, intervals);
    return mirrored(frame, intervals, isMirrored(this.actions, this.at, this.pass));
  }

  /** Whether the clip runs from its end to its start in the pass in which the next event is. */
  private get runsBack(): boolean {
    return isReversed(this.actions, this.at) !== isMirrored(this.actions, this.at, this.pass);
  }

  private markersOf(clip: BakedClip): readonly ClipMarker[] {
    return this.listened.has('marker') ? clip.markers : NO_MARKERS;
  }
}
