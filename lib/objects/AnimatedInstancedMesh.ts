import type { BufferGeometry, Material, Object3DEventMap } from 'three';
import { InstancedMesh } from 'three';
import { applyRootMotion } from '../playback/applyRootMotion.js';
import { InstancePlayback } from '../playback/InstancePlayback.js';
import { PlaybackEvents } from '../playback/PlaybackEvents.js';
import { checkFinite, checkTime, checkTimeScale, type PlayOptions } from '../playback/PlayOptions.js';
import {
  type FinishedEvent,
  type LoopEvent,
  type MarkerEvent,
  PLAYBACK_EVENT_TYPES,
  type PlaybackEvent,
  type PlaybackEventType,
} from '../playback/playbackEventTypes.js';
import { loadPlayback, type PlaybackJSON, savePlayback } from '../playback/playbackJSON.js';
import type { ClipReference } from '../poses/ClipTable.js';
import type { BoneTexture } from '../texture/BoneTexture.js';
import { swapItems } from '../utils/swapItems.js';

const NAME = 'SkinnedInstancedMesh';

/** Seconds that `update` takes at once, some thirty years; beyond it, it was passed a date. */
const MOST_DELTA = 1e9;

/** Instances that follow each other. */
export interface InstanceRange {
  /** Index of the first. */
  start: number;
  /** How many there are. */
  count: number;
}

/** One instance by its index, or a range of them. */
export type Instances = number | InstanceRange;

/** Name or index of a clip or an `AnimationClip`, or what gives one for each instance. */
export type ClipOfInstance = ClipReference | ((index: number) => ClipReference);

/** {@link PlayOptions} of which any may be a function of the instance's index. */
export type PlayOptionsOfInstance = {
  [K in keyof PlayOptions]: PlayOptions[K] | ((index: number) => PlayOptions[K]);
};

/** Events of a crowd; none costs anything while nobody listens to it. */
export interface SkinnedInstancedMeshEventMap extends Object3DEventMap {
  /** An instance ran the last repetition of its clip, as `AnimationMixer` dispatches it. */
  finished: Omit<FinishedEvent, 'type'>;
  /** An instance came to the end of its clip and begins anew; one event for all times in one update. */
  loop: Omit<LoopEvent, 'type'>;
  /** An instance played past a marker that {@link BoneTexture.addMarker} put on its clip. */
  marker: Omit<MarkerEvent, 'type'>;
  /** @deprecated Listen to `marker`. */
  mark: Omit<MarkerEvent, 'type'>;
}

/**
 * An instanced mesh whose instances each play a clip: everything a crowd does in time, and nothing about how it is
 * drawn. State is written when it changes and read against one clock, so that a clip that just plays costs no one
 * anything; see {@link SkinnedInstancedMesh}.
 */
export abstract class AnimatedInstancedMesh extends InstancedMesh<
  BufferGeometry,
  Material | Material[],
  SkinnedInstancedMeshEventMap
> {
  /** The clips that instances can play. */
  abstract boneTexture: BoneTexture;
  /**
   * What the instances play, as the shaders read it. Use the methods of the mesh.
   *
   * @internal
   */
  playback: InstancePlayback;

  private events: PlaybackEvents | null = null;
  private readonly listened = new Map<string, Set<unknown>>();
  private readonly wanted = new Set<PlaybackEventType>();
  private markersVersion = 0;

  constructor(geometry: BufferGeometry, material: Material | Material[], count: number) {
    super(geometry, material, count);
    this.playback = this.createPlayback(count);
  }

  /** The most instances there can be; `count` may be any number up to it. */
  get capacity(): number {
    return this.instanceMatrix.count;
  }

  /** All instances that are drawn, for methods that take a range. */
  get all(): InstanceRange {
    return { start: 0, count: this.count };
  }

  /** Seconds by which the crowd was advanced in all. */
  get elapsed(): number {
    return this.playback.elapsed;
  }

  /** Seconds on the shared clock since it last went back to zero, which it does unseen every 16 seconds. */
  get clock(): number {
    return this.playback.clock;
  }

  /**
   * Starts a clip, as `mixer.clipAction(clip).reset().play()` does with the same options. With `fade` it fades in over
   * whatever the instance shows, also in the middle of another fade: two clips that fade out are kept, and of three the
   * one that shows least is dropped.
   *
   * @param index From 0 to `capacity - 1`.
   * @param clip Name or index of a clip of the bone texture, or the `AnimationClip` it was baked from, which is found by
   * its name.
   * @throws If there is no such instance or clip, or an option is out of range.
   */
  play(index: number, clip: ClipReference, options?: PlayOptions): this;
  /** The same for one instance or a range; clip and options may be functions of the index. */
  play(instances: Instances, clip: ClipOfInstance, options?: PlayOptionsOfInstance): this;
  play(instances: Instances, clip: ClipOfInstance, options: PlayOptionsOfInstance = {}): this {
    const caller = `${NAME}.play`;
    const { clips } = this.boneTexture;
    if (typeof instances === 'number' && typeof clip !== 'function' && areSame(options)) {
      this.checkIndex(instances, 'play');
      const baked = clips[this.boneTexture.clipIndex(clip, caller)];
      this.playback.play(instances, baked, options, caller);
      return this;
    }
    return this.each(instances, 'play', (index) => {
      const one = typeof clip === 'function' ? clip(index) : clip;
      const baked = clips[this.boneTexture.clipIndex(one, caller)];
      this.playback.play(index, baked, optionsOf(options, index), caller);
    });
  }

  /** {@link SkinnedInstancedMesh.play} for every instance that is drawn, e.g. with `time: (i) => i * 0.1`. */
  playAll(clip: ClipOfInstance, options?: PlayOptionsOfInstance): this {
    return this.play(this.all, clip, options);
  }

  /**
   * Fades from what an instance plays to another clip, as `AnimationAction.crossFadeTo` does.
   *
   * @param duration Seconds.
   * @param warp Whether the clips change speed meanwhile, see {@link PlayOptions.warp}.
   */
  crossFadeTo(
    instances: Instances,
    clip: ClipOfInstance,
    duration: number,
    warp = false,
    options: PlayOptionsOfInstance = {},
  ): this {
    return this.play(instances, clip, { ...options, fade: duration, warp });
  }

  /** Stops what instances play; the rest pose returns, within `fade` seconds. */
  stop(instances: Instances, { fade = 0 }: { fade?: number } = {}): this {
    return this.each(instances, 'stop', (index) => this.playback.play(index, null, { fade }, `${NAME}.stop`));
  }

  /** Holds instances in the pose they show, in the middle of a fade too. */
  pause(instances: Instances): this {
    return this.each(instances, 'pause', (index) => this.playback.pause(index));
  }

  /** Lets paused instances go on from where they were. */
  resume(instances: Instances): this {
    return this.each(instances, 'resume', (index) => this.playback.resume(index));
  }

  /**
   * Changes the speed of what instances play, from where they are; 1 is the clip's own, negative runs in reverse. A warp
   * under way goes on in proportion, and comes to this speed.
   */
  setTimeScaleAt(instances: Instances, timeScale: number): this {
    checkTimeScale(timeScale, `${NAME}.setTimeScaleAt`);
    return this.each(instances, 'setTimeScaleAt', (index) => {
      const clip = this.playback.clipOf(index);
      if (clip !== null) this.playback.setRate(index, timeScale * clip.fps);
    });
  }

  /** Speed at which an instance plays, in the middle of a warp the one it comes to; 0 if it plays nothing. */
  getTimeScaleAt(index: number): number {
    this.checkIndex(index, 'getTimeScaleAt');
    const fps = this.playback.clipOf(index)?.fps ?? 0;
    return fps === 0 ? 0 : this.playback.getRate(index) / fps;
  }

  /**
   * Sets how many seconds into their clips instances are, as assigning `AnimationAction.time` does: repetitions so far
   * stay counted. One that has finished runs its last repetition again.
   */
  setTimeAt(instances: Instances, time: number): this {
    checkTime(time, `${NAME}.setTimeAt`);
    return this.each(instances, 'setTimeAt', (index) => {
      const clip = this.playback.clipOf(index);
      if (clip !== null) this.playback.setWithin(index, time * clip.fps);
    });
  }

  /** Seconds that an instance is into its clip, from 0 to its duration; counted from the start on the way back too. */
  getTimeAt(index: number): number {
    this.checkIndex(index, 'getTimeAt');
    const fps = this.playback.clipOf(index)?.fps ?? 0;
    return fps === 0 ? 0 : this.playback.within(index) / fps;
  }

  /** Name of the clip that was last started on an instance; null if none was, or it was stopped. */
  getClipAt(index: number): string | null {
    this.checkIndex(index, 'getClipAt');
    return this.playback.clipOf(index)?.name ?? null;
  }

  /** Whether an instance's clip moves on: it is not paused, has not finished, and its time scale is not 0. */
  isPlayingAt(index: number): boolean {
    this.checkIndex(index, 'isPlayingAt');
    return this.playback.isPlaying(index);
  }

  /** Whether an instance is paused. */
  isPausedAt(index: number): boolean {
    this.checkIndex(index, 'isPausedAt');
    return this.playback.isPaused(index);
  }

  /**
   * Advances the clock of all instances, and dispatches the events that are due, in the order they happened.
   *
   * @param delta Seconds since the last call. Events do not fire again when a negative one turns the clock back.
   * @throws If it is no number, or more than thirty years.
   */
  update(delta: number): this {
    if (!(Math.abs(delta) <= MOST_DELTA)) {
      throw new Error(`${NAME}.update: delta is ${delta}; pass the seconds since the last frame.`);
    }
    if (this.events !== null && this.markersVersion !== this.boneTexture.markersVersion) {
      this.markersVersion = this.boneTexture.markersVersion;
      this.events.restart();
    }
    this.events?.lookAfter();
    this.playback.advance(delta);
    this.events?.dispatch(this.announceEvent);
    this.playback.keepClockSmall();
    this.clockMoved();
    return this;
  }

  /**
   * Moves the instances that play with `rootMotion: true` by what their clips did in the last `delta` seconds, across
   * loops and, by weight, across fades. Call it after `update`; it writes into `instanceMatrix`.
   *
   * @param delta Seconds, the same as for `update`.
   */
  applyRootMotion(delta: number): this {
    checkFinite(delta, 'delta', `${NAME}.applyRootMotion`);
    const { instanceMatrix, playback, count, boneTexture } = this;
    const matrices = instanceMatrix.array as Float32Array;
    if (applyRootMotion(playback, boneTexture.clipTable, delta, count, matrices)) {
      instanceMatrix.needsUpdate = true;
    }
    return this;
  }

  /**
   * Exchanges two instances: matrices, colours, morph weights and what they play. To remove one from the middle, swap it
   * with the last and lower `count`.
   */
  swapInstances(i: number, j: number): this {
    this.checkIndex(i, 'swapInstances');
    this.checkIndex(j, 'swapInstances');
    if (i === j) return this;
    const { instanceMatrix } = this;
    swapItems(instanceMatrix.array, i, j, 16);
    instanceMatrix.needsUpdate = true;
    this.playback.swap(i, j);
    this.swapLooks(i, j);
    return this;
  }

  /** What the drawn instances play, as plain data that JSON can hold; {@link playbackFromJSON} takes it. */
  playbackToJSON(): PlaybackJSON {
    return savePlayback(this.playback, this.count, this.boneTexture.clipTable);
  }

  /**
   * Lets instances go on from where {@link playbackToJSON} left them, in this crowd or in another one whose bone texture
   * has clips of the same names.
   *
   * @throws If the data is not what `playbackToJSON` returned, is for more instances than there is room for, or names a
   * clip that is not there. Then nothing was changed.
   */
  playbackFromJSON(json: PlaybackJSON): this {
    loadPlayback(this.playback, this.capacity, json, this.boneTexture.clipTable, `${NAME}.playbackFromJSON`);
    return this;
  }

  override addEventListener: InstancedMesh<
    BufferGeometry,
    Material | Material[],
    SkinnedInstancedMeshEventMap
  >['addEventListener'] = (type, listener) => {
    super.addEventListener(type, listener);
    this.listen(type, listener, true);
  };

  override removeEventListener: InstancedMesh<
    BufferGeometry,
    Material | Material[],
    SkinnedInstancedMeshEventMap
  >['removeEventListener'] = (type, listener) => {
    super.removeEventListener(type, listener);
    this.listen(type, listener, false);
  };

  /** Called when the clock has moved. */
  protected abstract clockMoved(): void;

  /** Exchanges what two instances look like, but neither where they stand nor what they play. */
  protected abstract swapLooks(i: number, j: number): void;

  /** Whether anyone listens to playback events of a type. */
  protected isHeard(type: PlaybackEventType): boolean {
    return (this.listened.get(type)?.size ?? 0) > 0;
  }

  /** Dispatches a playback event. */
  protected announce(event: PlaybackEvent): void {
    this.dispatchEvent(event);
  }

  /** Looks for the events that are listened to now, and for no others. */
  protected listenersChanged(): void {
    let changed = false;
    for (const type of PLAYBACK_EVENT_TYPES) {
      const heard = this.isHeard(type);
      if (heard === this.wanted.has(type)) continue;
      changed = true;
      if (heard) this.wanted.add(type);
      else this.wanted.delete(type);
    }
    if (!changed) return;
    if (this.events === null) this.startEvents();
    else this.events.restart();
  }

  protected createPlayback(capacity: number): InstancePlayback {
    return new InstancePlayback(capacity, () => this.boneTexture.clipTable);
  }

  /** Puts another playback in the place of the present one, which is disposed. */
  protected replacePlayback(playback: InstancePlayback): void {
    this.playback.dispose();
    this.playback = playback;
    this.startEvents();
  }

  /** @throws If there is no such instance. */
  protected checkIndex(index: number, method: string): void {
    if (Number.isInteger(index) && index >= 0 && index < this.instanceMatrix.count) return;
    const { capacity } = this;
    throw new Error(
      `${NAME}.${method}: no instance ${index}; the mesh has ${capacity}, 0 to ${capacity - 1}.`,
    );
  }

  /** Calls back for an instance or each of a range, once it is known to be there. */
  protected each(instances: Instances, method: string, callback: (index: number) => void): this {
    if (typeof instances === 'number') {
      this.checkIndex(instances, method);
      callback(instances);
      return this;
    }
    const { start, count } = instances ?? {};
    const end = start + count;
    if (
      !(
        Number.isInteger(start) &&
        Number.isInteger(count) &&
        start >= 0 &&
        count >= 0 &&
        end <= this.capacity
      )
    ) {
      throw new Error(
        `${NAME}.${method}: the range from ${start} with ${count} instances does not lie within the mesh's ${this.capacity}.`,
      );
    }
    for (let index = start; index < end; index++) callback(index);
    return this;
  }

  private readonly announceEvent = (event: PlaybackEvent): void => this.announce(event);

  private listen(type: string, listener: unknown, on: boolean): void {
    if (!(PLAYBACK_EVENT_TYPES as readonly string[]).includes(type)) return;
    const listeners = this.listened.get(type) ?? new Set();
    this.listened.set(type, listeners);
    if (on) listeners.add(listener);
    else listeners.delete(listener);
    this.listenersChanged();
  }

  private startEvents(): void {
    this.events = this.wanted.size === 0 ? null : new PlaybackEvents(this.playback, this.wanted, this);
    this.playback.observer = this.events;
    this.markersVersion = this.boneTexture.markersVersion;
    this.events?.restart();
  }
}

/** Whether options are the same for all instances: none is a function. */
function areSame(options: PlayOptionsOfInstance): options is PlayOptions {
  for (const key in options) if (typeof options[key as keyof PlayOptions] === 'function') return false;
  return true;
}

function optionsOf(options: PlayOptionsOfInstance, index: number): PlayOptions {
  const one: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(options)) {
    one[key] = typeof value === 'function' ? value(index) : value;
  }
  return one as PlayOptions;
}
