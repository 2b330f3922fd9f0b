import type { AnimationClip } from 'three';
import type { ClipReference } from '../animation/ClipTable.js';
import type { Crowd } from '../crowd/Crowd.js';
import { checkTimeScale, type LayerReference } from '../playback/PlayOptions.js';
import { checkFinite } from '../utils/messages.js';
import { ActionDriver } from './ActionDriver.js';
import { nextChange, PlayedAction } from './ActionState.js';
import { findClip, InstanceAction } from './InstanceAction.js';
import { writeActions } from './writeActions.js';

/** Seconds that make no difference: adding times up and taking them off again loses about as much. */
const EPSILON = 1e-9;

/** Where an action plays. */
export interface ActionOptions {
  /** Name or number of the layer, see `AnimationLayers`. @default 'base' */
  layer?: LayerReference;
}

/** Whose actions a mixer has. */
export interface ActionOwner {
  /** The instance; -1 if there is none any more. */
  readonly instanceId: number;
}

interface Entry<T> {
  played: PlayedAction;
  action: InstanceAction<T>;
}

/**
 * What three.js's `AnimationMixer` is for a clone: the actions of an instance, and the time that they have in common.
 *
 * Actions are brought up to the present when somebody asks, or when something about one of them changes by itself. What comes
 * until then is written for shaders in advance.
 *
 * @typeParam T Whose actions they are.
 */
export class InstanceMixer<T extends ActionOwner> {
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
  /** Updates of this mixer alone. */
  private ownUpdates = 0;
  private running = false;

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
   * @param clip The `AnimationClip` that was baked, which is found by its name, or a name, or an index.
   * @throws If there is no such clip or layer, or the bone texture's encoding is not `'tracks'`.
   */
  clipAction(clip: ClipReference, { layer }: ActionOptions = {}): InstanceAction<T> {
    const { playback, boneTexture } = this.crowd;
    playback.checkMixes('An action');
    const baked = boneTexture.clips[boneTexture.clipIndex(clip)];
    const number = playback.layerIndex(layer);
    const existing = this.find(baked.name, number);
    if (existing !== undefined) return existing.action;
    playback.checkClip(number, baked);
    const source = typeof clip === 'object' && 'tracks' in clip ? (clip as AnimationClip) : baked;
    const played = new PlayedAction(baked, source, number);
    const additive = boneTexture.data.tracks?.clips[baked.start - 1].additive === true;
    const action = new InstanceAction<T>(played, this, additive);
    played.report = (what) => this.driver.notify(this.owner.instanceId, played, action, what);
    this.known.push({ played, action });
    this.schedule();
    return action;
  }

  /** The action of a clip on a layer; null if `clipAction` has not made it. */
  existingAction(clip: ClipReference, { layer }: ActionOptions = {}): InstanceAction<T> | null {
    const number = this.crowd.playback.layerIndex(layer);
    return this.find(this.nameOf(clip), number)?.action ?? null;
  }

  /** Stops all actions, at once. */
  stopAllAction(): this {
    this.bringAll();
    for (const played of this.active.splice(0).reverse()) played.reset();
    this.write();
    return this;
  }

  /** Stops the action of a clip on a layer, and forgets it: `clipAction` makes another one. */
  uncacheAction(clip: ClipReference, options: ActionOptions = {}): void {
    const action = this.existingAction(clip, options);
    const at = this.known.findIndex((entry) => entry.action === action);
    if (at >= 0) this.deactivate(this.known.splice(at, 1)[0].played);
  }

  /** Stops the actions of a clip on all layers, and forgets them. */
  uncacheClip(clip: ClipReference): void {
    for (let layer = 0; layer < this.crowd.playback.layers.length; layer++)
      this.uncacheAction(clip, { layer });
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

  /** Advances these actions alone by so many seconds, at their time scale; beside what the crowd's `update` does. */
  update(delta: number): this {
    checkFinite(delta, 'delta');
    this.bringAll();
    this.setAnchor(this.time);
    this.ownUpdates++;
    const seconds = delta * this.scale;
    this.anchor += seconds;
    this.runFrom(this.anchor - seconds);
    return this;
  }

  /** Puts time and all actions back to 0, then updates by so many seconds. */
  setTime(time: number): this {
    this.setAnchor(0);
    for (const { played } of this.known) played.time = 0;
    return this.update(time);
  }

  /** @internal */
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
    this.schedule();
  }

  /** Goes on in the clips of the same names; actions whose clip is gone are stopped and forgotten. @internal */
  clipsChanged(): void {
    const { playback, boneTexture } = this.crowd;
    this.bringAll();
    if (!playback.mixes) this.release();
    for (const { played } of [...this.known]) {
      const clip = boneTexture.clips.find(({ name }) => name === played.clip.name);
      if (clip !== undefined && playback.layers[played.layer].takes(clip)) played.setClip(clip);
      else this.uncacheAction(played.clip.name, { layer: played.layer });
    }
    this.write();
  }

  /** @internal */
  bringBefore(): void {
    this.bringTo(this.timeBefore);
  }

  /** @internal */
  run(): void {
    this.runFrom(this.timeBefore);
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
    return this.crowd.playback.time.updates + this.ownUpdates;
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
    for (const played of active) this.bring(played);
    this.written = writeActions(crowd.playback, owner.instanceId, active, this.scale, this.written);
    this.schedule();
  }

  private schedule(): void {
    const { scale, driver, owner } = this;
    if (this.running || owner.instanceId < 0) return;
    let seconds = Infinity;
    for (const played of scale === 0 ? [] : this.active) {
      seconds = Math.min(seconds, nextChange(played, Math.sign(scale), driver.loops) / Math.abs(scale));
    }
    // A little early does no harm, but in the present update all is done.
    const { elapsed } = this;
    driver.schedule(owner.instanceId, this, Math.max(elapsed + seconds - EPSILON, elapsed));
  }

  private remove(played: PlayedAction): void {
    const last = this.active.pop() as PlayedAction;
    if (last !== played) this.active[this.active.indexOf(played)] = last;
  }

  private find(name: string | undefined, layer: number): Entry<T> | undefined {
    return this.known.find(({ played }) => played.layer === layer && played.clip.name === name);
  }

  private nameOf(clip: ClipReference): string | undefined {
    if (typeof clip === 'string') return clip;
    return typeof clip === 'number' ? this.crowd.boneTexture.clips[clip]?.name : clip.name;
  }
}
