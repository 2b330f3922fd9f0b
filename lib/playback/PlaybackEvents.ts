import type { BakedClip, ClipMarker } from '../animation/ClipTable.js';
import type { InstanceVisibility } from '../instances/InstanceVisibility.js';
import { resized } from '../utils/attributes.js';
import {
  ACTION_EVENT,
  ACTION_STARTED_IN,
  type Actions,
  endOfPass,
  FADING_OUT,
  FINISHED,
  hasBit,
  hasJustBegun,
  intervalsOf,
  isMirrored,
  isReversed,
  lastPass,
  mirrored,
  timeAt,
} from './actionNumbers.js';
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

/** Number of the pass up to which the events of an action were found; infinite where there are none to come. */
const EVENT_PASS = ACTION_EVENT;
/** How far into that pass, see `wayTo`. */
const EVENT_WAY = ACTION_EVENT + 1;
/** Number of the pass up to which loops were told of. */
const EVENT_LOOPED = ACTION_EVENT + 2;
/** Another one each time that a clip begins or turns around: what happened before is not told of then. */
const EVENT_RUN = ACTION_EVENT + 3;

/** Frames by which a marker may lie beside the place where a clip is and still is there. */
const FRAME_EPSILON = 1e-9;
/** Seconds by which a time may be off at which a clip comes to a place. */
const TIME_ROUNDING = 1e-9;
/** Of how many passes after the one before an update markers are told. */
const MAX_MARKED_PASSES = 9;

const NO_MARKERS: readonly ClipMarker[] = [];

/**
 * Announces what happens to the clips of instances. Where each action was when it was last looked at stands in its numbers, and
 * when its instance is to be looked at again in a list, so that those to which nothing happens are not. Clips that fade out have no
 * events, nor have instances that are hidden. Nothing is done for types to which nobody listens.
 *
 * As from an `AnimationAction`, an instance has one `loop` event for all the passes that begin in one update, when the
 * last of them does, and none if it finishes in that update. Markers are told of as they are passed, but in a long update
 * only those of its last passes. What is due already, as where a clip was begun beyond its end, is told of in the next update,
 * even in one of 0 seconds, in which a mixer tells nothing; so is what a listener starts.
 */
export class PlaybackEvents {
  private due = new DueTimes(0);
  /** Types that someone listens to, and in which update that was last so. */
  private readonly listened = new Map<PlaybackEventType, number>();
  private markersVersion = 0;
  /** Instances up to this one are in the list. */
  private known = 0;
  private dispatching = false;
  /** What has happened and was not yet told: when, in which run of a clip, or 0 if that does not matter any more, and the event. */
  private readonly happened: [time: number, run: number, PlaybackEvent][] = [];
  private runs = 0;

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
      readonly boneTexture: { readonly markersVersion: number };
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
    this.due = new DueTimes(listened.size === 0 ? 0 : playback.capacity);
    this.markersVersion = crowd.boneTexture.markersVersion;
    this.known = 0;
  }

  /** Call before the clock moves: somebody may have begun to listen, markers been changed, or instances added. */
  beforeUpdate(): void {
    const { listened, crowd, playback } = this;
    // A listener that updates the crowd gets no events within events.
    if (this.dispatching) return;
    let changed = this.markersVersion !== crowd.boneTexture.markersVersion;
    const { updates } = playback.time;
    for (const type of PLAYBACK_EVENT_TYPES) {
      if (crowd.hasListeners(type)) {
        changed ||= !listened.has(type);
        listened.set(type, updates);
      } else if (updates - (listened.get(type) ?? updates) > PATIENCE) changed = listened.delete(type);
    }
    if (changed) this.restart();
    if (listened.size === 0) return;
    const { known } = this;
    this.known = Math.min(crowd.visibility.count, playback.capacity);
    for (let i = known; i < this.known; i++) this.started(i);
  }

  /** A clip begins, or its time was set: one action of a layer, or all that the instance has. */
  started(index: number, layer?: number, place?: number): void {
    // Of a clip that has just begun, even what lies right where it begins is still to be told of.
    const begin = () => this.begin(hasJustBegun(this.actions, this.at, this.playback.time.timeOf(index)));
    this.each(index, begin, layer, place);
  }

  /** Clips go on, but at another speed, or stand still. */
  retimed(index: number, turned: boolean, layer?: number, place?: number): void {
    const retime = () => {
      // What was to be told in the other direction lies behind.
      if (turned && !this.isDone && !hasBit(this.actions, this.at, FINISHED)) this.begin(false);
    };
    this.each(index, retime, layer, place);
  }

  /** Two instances were exchanged. */
  swap(i: number, j: number): void {
    for (const [, , event] of this.happened) {
      const { instanceId: id } = event;
      event.instanceId = id === i ? j : id === j ? i : id;
    }
    if (Math.max(i, j) < this.known) this.due.swap(i, j);
    else for (const index of [i, j]) this.started(index);
  }

  /** There is room for another number of instances. */
  resize(capacity: number): void {
    this.known = Math.min(this.known, capacity);
    this.due.resize(capacity);
  }

  /** Dispatches what is due, in the order it happened. */
  dispatch(dispatch: (event: PlaybackEvent) => void): void {
    if (this.dispatching) return;
    const { happened, crowd } = this;
    const now = this.playback.time.elapsed;
    for (const index of this.due.take(now)) this.each(index, () => this.find(now));
    if (happened.length === 0) return;
    happened.sort(([a], [b]) => a - b);
    this.dispatching = true;
    let told = 0;
    try {
      for (const [, run, event] of happened) {
        told++;
        // A listener may have deleted or hidden its instance since, or have it play something else.
        if (crowd.visibility.isDrawn(event.instanceId) && (run === 0 || this.lasts(event.instanceId, run)))
          dispatch(event);
      }
    } finally {
      this.dispatching = false;
      happened.splice(0, told);
    }
  }

  /** What all instances play is about to be replaced, and what has happened is told of even so. */
  replacing(): void {
    for (const one of this.happened) if (this.crowd.visibility.isDrawn(one[2].instanceId)) one[1] = 0;
  }

  /** Whether an instance still plays a clip as it did. */
  private lasts(index: number, run: number): boolean {
    return this.playback.layers.some((layer) => {
      const at = layer.at(index);
      for (let place = 0; place < layer.count(index); place++) {
        const actions = layer.actions(place);
        if (actions[at + EVENT_RUN] === run) return !hasBit(actions, at, FADING_OUT);
      }
      return false;
    });
  }

  /** Calls back with each action of an instance that can have events, or one, and says when it is to be looked at again. */
  private each(index: number, callback: () => void, layer?: number, place?: number): void {
    if (index >= this.known || !this.crowd.visibility.isVisible(index)) return;
    const { layers } = this.playback;
    let next = Infinity;
    for (let number = 0; number < layers.length; number++) {
      for (let i = 0; i < layers[number].count(index); i++) {
        this.index = index;
        this.number = number;
        this.place = i;
        this.layer = layers[number];
        this.actions = this.layer.actions(i);
        this.at = this.layer.at(index);
        if (hasBit(this.actions, this.at, FADING_OUT)) continue;
        if ((layer ?? number) === number && (place ?? i) === i) callback();
        next = Math.min(next, this.nextTime());
      }
    }
    this.due.set(index, next - TIME_ROUNDING);
  }

  // What follows is about the action that is looked at.

  private get clip(): BakedClip {
    return this.playback.clipIn(this.actions, this.at);
  }

  /** Whether there is nothing to tell; beyond some number, the next pass would have the same. */
  private get isDone(): boolean {
    const { actions, at } = this;
    return intervalsOf(actions, at) < 1 || !(actions[at + EVENT_PASS] < Number.MAX_SAFE_INTEGER);
  }

  /**
   * Looks at a clip that has just begun, or that nothing is known of.
   *
   * @param fresh Whether what lies right where it is is still to come.
   */
  private begin(fresh: boolean): void {
    const { actions, at } = this;
    const { pass, within, finished } = this.playback.where(this.layer, this.index, this.place);
    // Forward there is no pass -1, and from it to pass 0 there is no loop.
    const least = isReversed(actions, at) ? -Infinity : 0;
    const first = Math.max(pass, least);
    actions[at + EVENT_PASS] = finished && !fresh ? Infinity : first;
    actions[at + EVENT_WAY] = this.wayTo(within) - (fresh ? 2 * FRAME_EPSILON : 0);
    actions[at + EVENT_LOOPED] =
      fresh && pass >= 0 ? Math.max(actions[at + ACTION_STARTED_IN], least) : first;
    actions[at + EVENT_RUN] = ++this.runs;
  }

  /** Finds what has happened since the action was last looked at. */
  private find(now: number): void {
    const { actions, at, playback, layer, clip } = this;
    if (this.isDone || playback.isPaused(this.index)) return;
    const { pass: reached, within, finished } = playback.where(layer, this.index, this.place);
    const isBack = isReversed(actions, at);
    const direction = isBack ? -1 : 1;
    const before = actions[at + EVENT_PASS];
    const pass = isBack ? reached : Math.max(reached, 0);
    // The clock was turned back.
    if (pass < before) return;
    const passes = pass - actions[at + EVENT_LOOPED];
    const way = this.wayTo(within) + FRAME_EPSILON;
    const about = { instanceId: this.index, clip: clip.name, layer: layer.name };
    const tell = (event: PlaybackEvent, number: number, place: number) => {
      // An action of an object tells of passes and ends itself; of markers it does not.
      const isMarker = event.type === 'marker';
      if (!this.listened.has(event.type) || (!isMarker && playback.isSteered(this.index, this.number)))
        return;
      // What is over had come to its end before this update.
      const time = hasBit(actions, at, FINISHED) ? 0 : Math.min(timeAt(actions, at, number, place), now);
      this.happened.push([time, actions[at + EVENT_RUN], event]);
    };

    for (let back = Math.min(pass - before, MAX_MARKED_PASSES); back >= 0; back--) {
      const number = back < MAX_MARKED_PASSES ? pass - back : before;
      if (back === 0 && passes > 0 && !finished)
        tell(
          { type: 'loop', ...about, loopDelta: direction * passes },
          pass,
          isBack ? intervalsOf(actions, at) : 0,
        );
      for (const { name, time } of this.markersOf(clip)) {
        const place = this.placeOf(clip, time, number);
        const wayTo = this.wayTo(place);
        if (number === before && wayTo <= actions[at + EVENT_WAY] + FRAME_EPSILON) continue;
        if (number === pass && wayTo > way) continue;
        const turns = isMirrored(actions, at, number) ? -1 : 1;
        tell(
          { type: 'marker', ...about, name, time, direction: (direction * turns) as 1 | -1 },
          number,
          place,
        );
      }
    }
    if (finished) tell({ type: 'finished', ...about, direction }, pass, within);
    actions[at + EVENT_PASS] = finished ? Infinity : pass;
    actions[at + EVENT_WAY] =
      pass === before ? Math.max(this.wayTo(within), actions[at + EVENT_WAY]) : this.wayTo(within);
    actions[at + EVENT_LOOPED] = pass;
  }

  /** When the action is to be looked at next, in seconds since the beginning; infinite if nothing can happen. */
  private nextTime(): number {
    const { playback, listened, actions, at, clip } = this;
    // An action that is paused ends, and begins a pass, when it goes on.
    if (this.isDone || playback.isPaused(this.index)) return Infinity;
    if (hasBit(actions, at, FINISHED)) return listened.has('finished') ? playback.time.elapsed : Infinity;
    const pass = actions[at + EVENT_PASS];
    if (actions[at + EVENT_LOOPED] < pass) return playback.time.elapsed;
    const markers = this.markersOf(clip);
    let next = Infinity;
    for (const { time } of markers) {
      const place = this.placeOf(clip, time, pass);
      if (this.wayTo(place) > actions[at + EVENT_WAY] + FRAME_EPSILON)
        next = Math.min(next, timeAt(actions, at, pass, place));
    }
    if (markers.length > 0 || listened.has('loop')) return Math.min(next, this.endOf(pass));
    // Only the end is of interest.
    const last = lastPass(actions, at);
    return last < Infinity && listened.has('finished') ? this.endOf(Math.max(pass, last)) : Infinity;
  }

  /** When a pass ends. */
  private endOf(pass: number): number {
    return timeAt(this.actions, this.at, pass, endOfPass(this.actions, this.at));
  }

  /** How far the clip has come where it is at a place: frames, which grow in reverse too. */
  private wayTo(place: number): number {
    return isReversed(this.actions, this.at) ? -place : place;
  }

  /** Frames from the clip's start, as `AnimationAction.time` counts them, at which a marker is in a pass. */
  private placeOf(clip: BakedClip, time: number, pass: number): number {
    const intervals = clip.count - 1;
    return mirrored(Math.min(time * clip.fps, intervals), intervals, isMirrored(this.actions, this.at, pass));
  }

  private markersOf(clip: BakedClip): readonly ClipMarker[] {
    return this.listened.has('marker') ? clip.markers : NO_MARKERS;
  }
}

/** Indices of which `DueTimes` keeps the smallest time, as an exponent of two. */
const BLOCK_BITS = 8;

/** When each of many indices is due: to read through the times of a few is quicker than to keep all in order. */
export class DueTimes {
  /** Infinite for those that have none. */
  private times: Float64Array;
  /** None of a block is due before. */
  private readonly firsts: number[] = [];

  constructor(capacity: number) {
    this.times = new Float64Array(capacity).fill(Infinity);
  }

  set(index: number, time: number): void {
    const { firsts } = this;
    const block = index >> BLOCK_BITS;
    this.times[index] = time;
    firsts[block] = Math.min(firsts[block] ?? time, time);
  }

  /** The indices that are due by now, lowest first; they have no time any more. */
  take(now: number): number[] {
    const { times, firsts } = this;
    const due: number[] = [];
    for (let block = 0; block < firsts.length; block++) {
      if (!(firsts[block] <= now)) continue;
      let first = Infinity;
      const end = Math.min((block + 1) << BLOCK_BITS, times.length);
      for (let i = block << BLOCK_BITS; i < end; i++) {
        const time = times[i];
        if (time <= now) {
          due.push(i);
          times[i] = Infinity;
        } else if (time < first) first = time;
      }
      firsts[block] = first;
    }
    return due;
  }

  swap(i: number, j: number): void {
    const time = this.times[i];
    this.set(i, this.times[j]);
    this.set(j, time);
  }

  resize(capacity: number): void {
    this.times = resized(this.times, capacity, Infinity);
  }
}
