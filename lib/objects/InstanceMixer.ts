import {
  AdditiveAnimationBlendMode,
  type AnimationBlendMode,
  type AnimationClip,
  type EventListener,
  NormalAnimationBlendMode,
  type Object3D,
} from 'three';
import type { BoneTexture } from '../animation/BoneTexture.js';
import type { BakedClip, ClipReference } from '../animation/ClipTable.js';
import type { Crowd } from '../crowd/Crowd.js';
import { checkTimeScale, type LayerReference } from '../playback/PlayOptions.js';
import { checkFinite } from '../utils/messages.js';
import { ActionDriver } from './ActionDriver.js';
import { nextChange, PlayedAction } from './ActionState.js';
import { checkBlendMode, findClip, InstanceAction } from './InstanceAction.js';
import { OwnClocks } from './OwnClocks.js';
import type { SkinnedInstanceEventMap } from './SkinnedInstance.js';
import { writeActions } from './writeActions.js';

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
