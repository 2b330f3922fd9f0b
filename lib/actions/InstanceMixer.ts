import {
  AdditiveAnimationBlendMode,
  type AnimationActionLoopStyles,
  type AnimationBlendMode,
  AnimationClip,
  type EventListener,
  NormalAnimationBlendMode,
  type Object3D,
  type Object3DEventMap,
} from 'three';
import type { BoneTexture } from '../animation/BoneTexture.js';
import type { BakedClip, ClipReference } from '../animation/ClipTable.js';
import type { Crowd } from '../core/Crowd.js';
import type { SkinnedInstance } from '../objects/SkinnedInstance.js';
import type { FinishedEvent, LoopEvent, MarkerEvent } from '../playback/PlaybackEvents.js';
import { checkFade, checkTimeScale, type LayerReference } from '../playback/PlayOptions.js';
import { checkFinite } from '../utils/messages.js';
import { ActionDriver } from './ActionDriver.js';
import { ActionProperties } from './ActionProperties.js';
import { nextChange, PlayedAction } from './ActionState.js';
import { OwnClocks } from './OwnClocks.js';
import { writeActions } from './writeActions.js';

/** Whose clip an event is about. */
export interface EventOfAction {
  /** The action that plays the clip, of an instance as an object; not there for what was played by index. */
  action?: InstanceAction<SkinnedInstance>;
}

/** Events of a crowd; none costs anything while nobody listens to it. */
export interface SkinnedInstancedMeshEventMap extends Object3DEventMap {
  /** An instance ran the last repetition of its clip, as `AnimationMixer` dispatches it. */
  finished: Omit<FinishedEvent, 'type'> & EventOfAction;
  /** An instance came to the end of its clip and begins anew; one event for all times in one update. */
  loop: Omit<LoopEvent, 'type'> & EventOfAction;
  /** An instance played past a marker that {@link BoneTexture.addMarker} put on its clip. */
  marker: Omit<MarkerEvent, 'type'> & EventOfAction;
}

/** Whose clip an event is about. */
export interface ActionOfEvent {
  /**
   * As `AnimationMixer` has it. For a clip that was played by index, that which `clipAction` gives for it, which does not run; an error
   * says so where the encoding has no actions.
   */
  action: InstanceAction<SkinnedInstance>;
}

/** Events of an instance, those of its crowd that are about it; none costs anything while nobody listens to it. */
export interface SkinnedInstanceEventMap extends SkinnedInstancedMeshEventMap {
  /** A clip ran its last repetition. */
  finished: SkinnedInstancedMeshEventMap['finished'] & ActionOfEvent;
  /** A clip came to its end and begins anew, or in a ping-pong turns around; at most one for each update. */
  loop: SkinnedInstancedMeshEventMap['loop'] & ActionOfEvent;
  /** A clip was played past a marker. */
  marker: SkinnedInstancedMeshEventMap['marker'] & ActionOfEvent;
}

/** Seconds that make no difference: adding times up and taking them off again loses about as much. */
const EPSILON = 1e-9;

/** Where an action plays. */
export interface ActionOptions {
  /** Name or number of the layer, see `AnimationLayers`. @default 'base' */
  layer?: LayerReference;
}

/** Whose actions a mixer has. */
export interface ActionOwner extends Object3D<SkinnedInstanceEventMap> {
  /** The instance; -1 if there is none any more. */
  readonly instanceId: number;
  /** Called when its mixer alone was updated. @internal */
  mixerUpdated(): void;
}

/** Listens to a type of events of a mixer. */
export type InstanceListener<K extends keyof SkinnedInstanceEventMap> = EventListener<
  SkinnedInstanceEventMap[K],
  K,
  InstanceMixer
>;

/** What the instance calls in the place of a listener of its mixer. */
type PassedListener = (event: { target: unknown }) => void;

interface Entry<T extends ActionOwner> {
  played: PlayedAction;
  action: InstanceAction<T>;
}

/**
 * What three.js's `AnimationMixer` is for a clone: the actions of an instance, and the time that they have in common. The crowd's
 * `update` advances it, or else its own.
 *
 * Actions are brought up to the present when somebody asks, or when something about one of them changes by itself. What comes
 * until then is written for shaders in advance.
 *
 * @typeParam T Whose actions they are.
 *
 * @category Instances as objects
 */
export class InstanceMixer<T extends ActionOwner = ActionOwner> {
  private readonly driver: ActionDriver;
  private readonly known: Entry<T>[] = [];
  /** In three.js's order: each is added at the end, and the last one takes the place of one that is stopped. */
  private readonly active: PlayedAction[] = [];
  /** Layers that it has written, as bits. */
  private written = 0;
  private scale = 1;
  /** Time of the mixer at a time of the crowd, from which on it has run at its scale. */
  private anchor = 0;
  private anchorElapsed = 0;
  /** Updates of this mixer alone, whether these are all that moves it, and seconds at which something changes next then. */
  private ownUpdates = 0;
  private hasOwnClock = false;
  private due = 0;
  private loops = false;
  private running = false;
  /** Null until there is one: most mixers have none. */
  private listeners: WeakMap<object, PassedListener> | null = null;

  constructor(
    private readonly crowd: Crowd,
    /** Whose actions these are. */
    readonly owner: T,
  ) {
    this.driver = ActionDriver.of(crowd);
    this.anchorElapsed = this.elapsed;
  }

  /**
   * The action of a clip on a layer, the same one each time.
   *
   * @param clip The `AnimationClip` that was baked, or a name, or an index.
   * @param where On which layer it plays, or the instance itself, as mixers take a root.
   * @param blendMode As the clip was baked.
   * @throws If there is no such clip or layer, the clip was baked from other tracks or of another blend mode, or the bone texture's
   * encoding is not `'tracks'`.
   */
  clipAction(
    clip: ClipReference,
    where?: ActionOptions | Object3D | null,
    blendMode?: AnimationBlendMode,
  ): InstanceAction<T> {
    const { playback, boneTexture } = this.crowd;
    playback.checkMixes('An action');
    const { layer } = this.optionsOf(where);
    const baked = findBaked(boneTexture, clip);
    const number = playback.layerIndex(layer);
    const additive = boneTexture.data.tracks?.clips[baked.start - 1].additive === true;
    const mode = additive ? AdditiveAnimationBlendMode : NormalAnimationBlendMode;
    checkBlendMode(baked.name, mode, blendMode ?? mode);
    const existing = this.find(baked, number);
    if (existing !== undefined) return existing.action;
    playback.checkClip(number, baked);
    const source = typeof clip === 'object' && 'tracks' in clip ? (clip as AnimationClip) : null;
    const played = new PlayedAction(baked, source, number);
    const action = new InstanceAction<T>(played, this, mode);
    played.report = (what) => {
      // Before the driver knows that somebody listens, it may not have run at each pass.
      if (what.type === 'loop' && !this.driver.loops && !this.hasOwnClock) return;
      this.driver.notify(this.owner.instanceId, played, action, what);
    };
    this.known.push({ played, action });
    this.schedule();
    return action;
  }

  /** The action of a clip on a layer; null if `clipAction` has not made it. */
  existingAction(clip: ClipReference, where?: ActionOptions | Object3D | null): InstanceAction<T> | null {
    const { playback, boneTexture } = this.crowd;
    const number = playback.layerIndex(this.optionsOf(where).layer);
    return this.find(clipOf(boneTexture, clip), number)?.action ?? null;
  }

  /** Stops all actions, at once. */
  stopAllAction(): this {
    this.bringAll();
    for (const played of this.active.splice(0).reverse()) played.reset();
    this.write();
    return this;
  }

  /** Stops the action of a clip on a layer, and forgets it: `clipAction` makes another one. */
  uncacheAction(clip: ClipReference, where?: ActionOptions | Object3D | null): void {
    const { boneTexture, playback } = this.crowd;
    this.forget(this.find(clipOf(boneTexture, clip), playback.layerIndex(this.optionsOf(where).layer)));
  }

  private forget(entry: Entry<T> | undefined): void {
    if (entry === undefined) return;
    this.known.splice(this.known.indexOf(entry), 1);
    this.deactivate(entry.played);
  }

  /** Stops the actions of a clip on all layers, and forgets them. */
  uncacheClip(clip: ClipReference): void {
    for (let layer = 0; layer < this.crowd.playback.layers.length; layer++)
      this.uncacheAction(clip, { layer });
  }

  /** Stops all actions, and forgets them. */
  uncacheRoot(_root?: Object3D): void {
    this.stopAllAction();
    this.known.length = 0;
  }

  /** The instance. */
  getRoot(): T {
    return this.owner;
  }

  /** As that of an `AnimationMixer`, which is the `target` of its events. */
  addEventListener<K extends Extract<keyof SkinnedInstanceEventMap, string>>(
    type: K,
    listener: InstanceListener<K>,
  ): void {
    const { owner } = this;
    this.listeners ??= new WeakMap();
    let passed = this.listeners.get(listener);
    if (passed === undefined) {
      passed = (event) => {
        event.target = this;
        (listener as PassedListener).call(this, event);
        event.target = owner;
      };
      this.listeners.set(listener, passed);
    }
    owner.addEventListener(type, passed);
  }

  /** As that of an `AnimationMixer`. */
  hasEventListener<K extends Extract<keyof SkinnedInstanceEventMap, string>>(
    type: K,
    listener: InstanceListener<K>,
  ): boolean {
    const passed = this.listeners?.get(listener);
    return passed !== undefined && this.owner.hasEventListener(type, passed);
  }

  /** As that of an `AnimationMixer`. */
  removeEventListener<K extends Extract<keyof SkinnedInstanceEventMap, string>>(
    type: K,
    listener: InstanceListener<K>,
  ): void {
    const passed = this.listeners?.get(listener);
    if (passed !== undefined) this.owner.removeEventListener(type, passed);
  }

  /** How fast time passes for all actions, their fades and warps: 1 as for the crowd, 0 holds them, negative runs them back. */
  get timeScale(): number {
    return this.scale;
  }

  /** Counts from now on. */
  set timeScale(value: number) {
    checkTimeScale(value);
    this.setAnchor(this.time);
    this.scale = value;
    this.write();
  }

  /** Seconds that have passed for the actions. */
  get time(): number {
    return this.anchor + this.scale * (this.elapsed - this.anchorElapsed);
  }

  /** Fades, warps and starts that are under way keep their times, as in three.js. */
  set time(value: number) {
    checkFinite(value, 'time');
    this.setAnchor(value);
    this.write();
  }

  /**
   * Advances the instance by so many seconds, as a mixer's does. From the first call on it goes by that alone, not by the crowd's
   * `update`. Where each instance of a crowd is advanced so, and `update` is not called, the crowd goes with them. `marker` events
   * and root motion take the crowd's.
   */
  update(delta: number): this {
    checkFinite(delta, 'delta');
    const { crowd, owner } = this;
    if (owner.instanceId < 0) return this;
    if (!this.hasOwnClock) {
      this.bringAll();
      this.ownUpdates = this.updates;
      this.hasOwnClock = true;
      this.schedule();
    }
    const before = this.time;
    OwnClocks.of(crowd).advance(owner.instanceId, delta);
    this.ownUpdates++;
    const loops = crowd.events.isListenedTo('loop');
    // Until something changes by itself, shaders know all of it.
    if (delta < 0 || this.elapsed >= this.due || loops !== this.loops) this.runFrom(before);
    owner.mixerUpdated();
    return this;
  }

  /** Puts time and all actions back to 0, then advances them by so many seconds. */
  setTime(time: number): this {
    this.setAnchor(0);
    for (const { played } of this.known) played.time = 0;
    return this.advance(time);
  }

  private advance(delta: number): this {
    this.setAnchor(this.time);
    this.ownUpdates++;
    const seconds = delta * this.scale;
    this.anchor += seconds;
    this.runFrom(this.anchor - seconds);
    this.owner.mixerUpdated();
    return this;
  }

  /** Whether its instance is no more. @internal */
  get isLost(): boolean {
    return this.owner.instanceId < 0;
  }

  /** @internal */
  get elapsed(): number {
    const { instanceId } = this.owner;
    return instanceId < 0 ? this.anchorElapsed : this.crowd.playback.time.timeOf(instanceId);
  }

  /** @internal */
  sync(played: PlayedAction): void {
    // While they are run one after the other, each is where it was until its turn comes, as in three.js.
    if (this.running) return;
    this.driver.catchUp(this.owner.instanceId);
    this.bring(played);
  }

  /** @internal */
  changed(played: PlayedAction): void {
    if (this.isActive(played)) this.write();
  }

  /** @internal */
  isActive(played: PlayedAction): boolean {
    return this.active.includes(played);
  }

  /** @internal */
  activate(played: PlayedAction): void {
    if (this.isActive(played)) return;
    findClip(this.crowd, played);
    if (!this.running) this.driver.catchUp(this.owner.instanceId);
    played.at = this.time;
    played.updates = this.updates;
    played.begun = this.elapsed;
    this.active.push(played);
    this.write();
  }

  /** Has an action go on with what `read` says of it. @internal */
  resume(clip: BakedClip, layer: number, read: (played: PlayedAction) => void): void {
    this.clipAction(this.crowd.boneTexture.clips.indexOf(clip), { layer });
    const { played } = this.find(clip, layer) as Entry<T>;
    read(played);
    this.activate(played);
  }

  /** @internal */
  deactivate(played: PlayedAction): void {
    if (!this.isActive(played)) return;
    this.sync(played);
    this.remove(played);
    this.write();
  }

  /** @internal */
  steers(layer: number): boolean {
    return this.active.some((played) => played.layer === layer);
  }

  /** Ends the actions on a layer, or on all, and leaves what they play to whoever does something else with it. @internal */
  release(layer?: number): void {
    for (const played of this.active.filter((other) => layer === undefined || other.layer === layer)) {
      if (!this.running) this.bring(played);
      this.remove(played);
    }
    this.written &= layer === undefined ? 0 : ~(1 << layer);
    this.schedule();
  }

  /** So many seconds of the crowd's time have not passed here. @internal */
  delay(seconds: number): void {
    this.anchorElapsed += seconds;
    if (this.hasOwnClock) this.due += seconds;
    else this.schedule();
  }

  /** Goes on in the clips of the same names; actions whose clip is gone are stopped and forgotten. @internal */
  clipsChanged(): void {
    const { playback, boneTexture } = this.crowd;
    this.bringAll();
    if (!playback.mixes) this.release();
    for (const entry of [...this.known]) {
      const { played } = entry;
      const clip = boneTexture.clips.find(({ name }) => name === played.clip.name);
      if (clip !== undefined && playback.layers[played.layer].share?.takes(clip) !== false)
        played.setClip(clip);
      else this.forget(entry);
    }
    this.write();
  }

  /** Brings all actions up to the update before the last one. @internal */
  bringBefore(): void {
    if (!this.hasOwnClock) this.bringTo(this.timeBefore);
  }

  /** Does what three.js's mixer does in its update. @internal */
  run(): void {
    if (!this.hasOwnClock) this.runFrom(this.timeBefore);
  }

  /** Does what three.js's mixer does in an update that began at a time of the mixer. */
  private runFrom(before: number): void {
    if (this.running) return;
    this.bringTo(before);
    this.running = true;
    try {
      for (const played of [...this.active]) if (this.isActive(played)) this.bring(played);
    } finally {
      this.running = false;
      this.write();
    }
  }

  /** Time of the mixer at the update before the last. */
  private get timeBefore(): number {
    return this.time - this.scale * this.crowd.playback.time.step;
  }

  private get updates(): number {
    return this.ownUpdates + (this.hasOwnClock ? 0 : this.crowd.playback.time.updates);
  }

  /** Brings an action up to the last update, if it has not seen it. */
  private bring(played: PlayedAction): void {
    const { updates } = this;
    if (played.updates === updates || !this.isActive(played)) return;
    played.updates = updates;
    const { time } = this;
    played.update(Math.abs(time - played.at) < EPSILON ? played.at : time, played.report);
  }

  /** Brings all actions up to a time before the last update: until then nothing about them has changed by itself. */
  private bringTo(time: number): void {
    const direction = Math.sign(this.time - time);
    for (const played of this.active) {
      if (played.updates === this.updates || (time - played.at) * direction < EPSILON) continue;
      played.update(time, played.report);
    }
  }

  private bringAll(): void {
    if (this.running) return;
    this.driver.catchUp(this.owner.instanceId);
    for (const played of this.active) this.bring(played);
  }

  /** Lets the time of the mixer run from another one on. */
  private setAnchor(time: number): void {
    this.bringAll();
    const moved = time - this.time;
    this.anchor = time;
    this.anchorElapsed = this.elapsed;
    for (const played of this.active) played.at += moved;
  }

  /** Writes what comes from now on. */
  private write(): void {
    const { crowd, owner, active } = this;
    if (this.running || owner.instanceId < 0) return;
    for (const played of active) {
      this.bring(played);
      played.runsBack &&= this.hasOwnClock;
    }
    this.written = writeActions(crowd.playback, owner.instanceId, active, this.scale, this.written);
    this.schedule();
  }

  private schedule(): void {
    const { scale, driver, owner, crowd } = this;
    if (this.running || owner.instanceId < 0) return;
    this.loops = this.hasOwnClock ? crowd.events.isListenedTo('loop') : driver.loops;
    let seconds = Infinity;
    for (const played of scale === 0 ? [] : this.active) {
      seconds = Math.min(seconds, nextChange(played, Math.sign(scale), this.loops) / Math.abs(scale));
    }
    // A little early does no harm, but in the present update all is done.
    const { elapsed } = this;
    this.due = Math.max(elapsed + seconds - EPSILON, elapsed);
    driver.schedule(owner.instanceId, this, this.hasOwnClock ? Infinity : this.due);
  }

  private remove(played: PlayedAction): void {
    const last = this.active.pop() as PlayedAction;
    if (last !== played) this.active[this.active.indexOf(played)] = last;
  }

  private find(clip: BakedClip | undefined, layer: number): Entry<T> | undefined {
    return this.known.find(({ played }) => played.layer === layer && played.clip === clip);
  }

  /** What is said of where an action plays: mixers take a root in its place. */
  private optionsOf(where: ActionOptions | Object3D | null | undefined): ActionOptions {
    if (!(where as Object3D | null | undefined)?.isObject3D)
      return (where as ActionOptions | null | undefined) ?? {};
    if (where === this.owner) return {};
    throw new Error(
      `An action moves the instance as a whole, and "${(where as Object3D).name}" is another object; for a part of it pass { layer } of a new AnimationLayers(crowd, [{ name, mask }]).`,
    );
  }
}

/** Share by which durations of one clip differ where a file keeps them in float32. */
const SAME_DURATION = 1e-4;

/** The clip of a bone texture that was baked from this one, else that of its name. */
function clipOf({ clips }: BoneTexture, clip: ClipReference): BakedClip | undefined {
  if (typeof clip === 'number') return clips[clip];
  const { name, uuid } = typeof clip === 'string' ? { name: clip } : (clip as Partial<AnimationClip>);
  const isVery = ({ source }: BakedClip) => source !== undefined && source.uuid === uuid;
  // One clip may have been baked under several names.
  return (
    clips.find((one) => isVery(one) && one.name === name) ??
    clips.find(isVery) ??
    clips.find((one) => one.name === name)
  );
}

/**
 * The same.
 *
 * @throws If there is none, or the one of its name was baked from other tracks.
 */
function findBaked(boneTexture: BoneTexture, clip: ClipReference): BakedClip {
  const baked = clipOf(boneTexture, clip) ?? boneTexture.clips[boneTexture.clipIndex(clip)];
  const { uuid, tracks, duration } = clip as AnimationClip;
  if (tracks === undefined || uuid === baked.source?.uuid) return baked;
  const isSame =
    (baked.source?.tracks ?? tracks.length) === tracks.length &&
    Math.abs(duration - baked.duration) <= SAME_DURATION * duration;
  if (isSame) return baked;
  throw new Error(
    `Clip "${baked.name}" was baked from other tracks; give this one a name of its own, and pass it to bakeCharacter too.`,
  );
}

/**
 * Brings the clip of an action up to what the crowd plays now: whoever holds an action that was forgotten may play it, and the crowd
 * may have another bone texture by then.
 *
 * @throws If that has no clip of the name, or none that the action's layer takes.
 */
export function findClip({ boneTexture, playback }: Crowd, played: PlayedAction): void {
  const clip = boneTexture.clips[boneTexture.clipIndex(played.clip.name)];
  if (clip === played.clip) return;
  playback.checkClip(played.layer, clip);
  played.setClip(clip);
}

/** @throws If a blend mode is not that of the clip as it was baked. */
export function checkBlendMode(clip: string, baked: AnimationBlendMode, mode: AnimationBlendMode): void {
  if (mode === baked) return;
  throw new Error(
    `Clip "${clip}" was ${baked === AdditiveAnimationBlendMode ? '' : 'not '}baked as an additive one; that is said before baking, by AnimationUtils.makeClipAdditive(clip).`,
  );
}

/**
 * A clip that an instance plays, or may play: three.js's `AnimationAction` for an instance of a crowd, with the same methods and
 * properties, which do the same. `instance.clipAction(clip)` makes it.
 *
 * Fades, warps and times are run by the GPU: between two calls nothing is done for it on the CPU, but for the moments at which
 * something begins or ends.
 *
 * What is other than in three.js:
 * - On each layer the four actions with the most weight show; a warning names what is left out. All others keep their times,
 *   weights and events, and show as soon as there is room.
 * - A warp's way through the clip is exact. three.js adds up the speed at the end of each frame, and so comes to a slightly
 *   different place at each frame rate.
 * - `zeroSlopeAtStart` and `zeroSlopeAtEnd` have no effect: they are about smooth tracks, which were baked.
 * - `blendMode` is that of the clip when it was baked; setting another is an error.
 * - For one frame, three.js shows the other end of a ping-pong that finishes, and what a listener has changed as it was before.
 *   In a listener, `stop` also keeps three.js from updating another action in that frame; here it does not.
 *
 * @typeParam T Whose action it is.
 *
 * @category Instances as objects
 */
export class InstanceAction<T extends ActionOwner = ActionOwner> extends ActionProperties {
  /** For type testing. */
  readonly isInstanceAction = true;
  /** As `AnimationAction` has it; without effect, since clips are baked. @default true */
  zeroSlopeAtStart = true;
  /** As `AnimationAction` has it; without effect, since clips are baked. @default true */
  zeroSlopeAtEnd = true;
  declare protected readonly mixer: InstanceMixer<T>;

  /** @internal */
  constructor(
    played: PlayedAction,
    mixer: InstanceMixer<T>,
    private readonly mode: AnimationBlendMode,
  ) {
    super(played, mixer);
  }

  /** How the clip is mixed with others: additive ones add to them. As it was baked. */
  get blendMode(): AnimationBlendMode {
    return this.mode;
  }

  /** @throws If it is set to another than that. */
  set blendMode(value: AnimationBlendMode) {
    checkBlendMode(this.played.clip.name, this.mode, value);
  }

  /** Plays the action, from wherever it is: `reset().play()` plays it from its start. */
  play(): this {
    this.mixer.activate(this.played);
    return this;
  }

  /** Takes the action out of what the instance plays, at once, and resets it. */
  stop(): this {
    this.mixer.deactivate(this.played);
    return this.reset();
  }

  /** Puts the action back to its start: not paused, enabled, at time 0, without fades, warps and a scheduled start. */
  reset(): this {
    return this.write((played) => {
      played.reset();
      played.begun = this.mixer.elapsed;
    });
  }

  /** Whether the clip's time passes: it is played, enabled, not paused, has a time scale, and does not wait for its start. */
  isRunning(): boolean {
    const { enabled, paused, timeScale, startTime } = this.read();
    return enabled && !paused && timeScale !== 0 && startTime === null && this.isScheduled();
  }

  /** Whether `play` was called, and `stop` was not since: also of an action that is disabled, paused or has finished. */
  isScheduled(): boolean {
    return this.mixer.isActive(this.played);
  }

  /** Lets the clip begin at a time of the instance, see `InstanceMixer.time`. Call `play` as well. */
  startAt(time: number): this {
    return this.set({ startTime: time });
  }

  /** Sets `loop` and `repetitions`. */
  setLoop(mode: AnimationActionLoopStyles, repetitions = Infinity): this {
    return this.set({ loop: mode, repetitions });
  }

  /** Sets the weight, and ends a fade. While the action is disabled, the effective weight stays 0. */
  setEffectiveWeight(weight: number): this {
    checkFinite(weight, 'weight');
    return this.write((played) => {
      played.weight = weight;
      played.effectiveWeight = played.enabled ? weight : 0;
      played.stopFading();
    });
  }

  /** The weight with fades, and 0 while disabled, as of the last update. */
  getEffectiveWeight(): number {
    return this.read().effectiveWeight;
  }

  /**
   * Fades from the weight that it has now, in the middle of another fade too, to a `weight`, which it keeps; with 0 the action is
   * disabled then.
   */
  fadeTo(weight: number, duration: number): this {
    checkFinite(weight, 'weight');
    checkFade(duration);
    const now = this.getEffectiveWeight();
    return this.write((played) => {
      if (weight !== 0) played.weight = weight;
      if (weight !== 0) played.enabled = true;
      const start = this.mixer.time;
      const from = played.weight === 0 ? 0 : now / played.weight;
      played.fade = { start, end: start + duration, from, to: weight === 0 ? 0 : 1 };
    });
  }

  /** Fades from 0 to the weight within so many seconds. */
  fadeIn(duration: number): this {
    return this.fade(duration, 0, 1);
  }

  /** Fades from the weight to 0 within so many seconds; then the action is disabled. */
  fadeOut(duration: number): this {
    return this.fade(duration, 1, 0);
  }

  /**
   * Fades this action in while another one fades out.
   *
   * @param duration Seconds.
   * @param warp Whether both change speed meanwhile, the first towards the length of the second.
   */
  crossFadeFrom(fadeOutAction: InstanceAction, duration: number, warp = false): this {
    fadeOutAction.fadeOut(duration);
    this.fadeIn(duration);
    if (!warp) return this;
    const ratio = fadeOutAction.played.duration / this.played.duration;
    for (const action of [fadeOutAction, this]) {
      action.write((played) => {
        played.restoreTimeScale = played.timeScale;
      });
    }
    fadeOutAction.warp(1, ratio, duration);
    return this.warp(1 / ratio, 1, duration);
  }

  /**
   * Fades this action out while another one fades in, see `crossFadeFrom`.
   *
   * @returns The other one, as in three.js.
   */
  crossFadeTo<A extends InstanceAction>(fadeInAction: A, duration: number, warp = false): A {
    return fadeInAction.crossFadeFrom(this, duration, warp);
  }

  /** Ends a fade: the weight is what `weight` says. */
  stopFading(): this {
    return this.write((played) => played.stopFading());
  }

  /** Sets the time scale, and ends a warp. While the action is paused, the effective one stays 0. */
  setEffectiveTimeScale(timeScale: number): this {
    checkTimeScale(timeScale);
    return this.write((played) => {
      played.timeScale = timeScale;
      played.effectiveTimeScale = played.paused ? 0 : timeScale;
      played.stopWarping();
    });
  }

  /** The time scale with warps, and 0 while paused, as of the last update. */
  getEffectiveTimeScale(): number {
    return this.read().effectiveTimeScale;
  }

  /** Sets the time scale so that the clip takes so many seconds. */
  setDuration(duration: number): this {
    const timeScale = this.played.duration / duration;
    checkTimeScale(timeScale);
    return this.write((played) => {
      played.timeScale = timeScale;
      played.stopWarping();
    });
  }

  /** Takes over time and time scale of another action. */
  syncWith(action: InstanceAction): this {
    const { time, timeScale } = action;
    return this.write((played) => {
      played.beginAt(time, this.mixer.elapsed);
      played.timeScale = timeScale;
      played.stopWarping();
    });
  }

  /** Slows the clip down to a stop within so many seconds; then the action is paused. */
  halt(duration: number): this {
    return this.warp(this.read().effectiveTimeScale, 0, duration);
  }

  /** Changes the speed evenly from one to another within so many seconds, which is the time scale then. */
  warp(startTimeScale: number, endTimeScale: number, duration: number): this {
    checkTimeScale(startTimeScale);
    checkTimeScale(endTimeScale);
    checkFade(duration);
    return this.write((played) => {
      // A warp is a factor, and no factor of 0 leads to another speed.
      if (played.timeScale === 0) played.timeScale = 1;
      const { timeScale } = played;
      const start = this.mixer.time;
      const [from, to] = [startTimeScale / timeScale, endTimeScale / timeScale];
      played.warp = { start, end: start + duration, from, to };
    });
  }

  /** Ends a warp: the speed is what `timeScale` says. */
  stopWarping(): this {
    return this.write((played) => played.stopWarping());
  }

  /** The `mixer` of the instance. */
  getMixer(): InstanceMixer<T> {
    return this.mixer;
  }

  /** The clip: what was passed to `clipAction`, else one with the name and duration of the baked one, and no tracks. */
  getClip(): AnimationClip {
    const { clip } = this.played;
    this.played.source ??= new AnimationClip(clip.name, clip.duration, [], this.mode);
    return this.played.source;
  }

  /** The instance. */
  getRoot(): T {
    return this.mixer.owner;
  }

  private fade(duration: number, from: number, to: number): this {
    checkFade(duration);
    return this.write((played) => {
      const start = this.mixer.time;
      played.fade = { start, end: start + duration, from, to };
    });
  }
}
