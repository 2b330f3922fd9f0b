import {
  AdditiveAnimationBlendMode,
  AnimationAction,
  type AnimationBlendMode,
  AnimationClip,
  AnimationMixer,
  type AnimationMixerStats,
  type AnimationObjectGroup,
  type EventListener,
  type LinearInterpolant,
  LoopOnce,
  NormalAnimationBlendMode,
  type Object3D,
  type Object3DEventMap,
} from 'three';
import type { BoneTexture } from '../animation/BoneTexture.js';
import type { BakedClip, ClipReference } from '../animation/ClipTable.js';
import type { Crowd } from '../core/Crowd.js';
import type { PlaybackEvent } from '../playback/PlaybackEvents.js';
import { checkFade, checkTime, checkTimeScale, type LayerReference } from '../playback/PlayOptions.js';
import type { UniformValue } from '../surface/uniformValues.js';
import { checkFinite } from '../utils/messages.js';
import { observe, own } from '../utils/observe.js';
import { ActionDriver } from './ActionDriver.js';
import { nextChange, storeActions, type ThreeAction } from './storeActions.js';

/** Whose clip an event is about. */
export interface EventOfAction {
  /** The action that plays the clip, of an instance as an object; not there for what was played by index. */
  action?: InstanceAction;
}

/** Events of a crowd, by type; none costs anything while nobody listens to it. */
export type SkinnedInstancedMeshEventMap = Object3DEventMap & {
  [Event in PlaybackEvent as Event['type']]: Omit<Event, 'type'> & EventOfAction;
};

/**
 * Events of an instance, those of its crowd that are about it. They have an action always: for a clip that was played by index, that
 * which `clipAction` gives for it, which does not run; an error says so where the encoding has no actions.
 */
export type SkinnedInstanceEventMap = Object3DEventMap & {
  [Event in PlaybackEvent as Event['type']]: Omit<Event, 'type'> & Required<EventOfAction>;
};

/** three.js's mixer, with what it keeps to itself. */
interface MixerFields<Root extends ActionOwner> extends AnimationMixer<SkinnedInstanceEventMap> {
  getRoot(): Root;
  // Declared here, so that an accessor may take the place of the field.
  stats: AnimationMixerStats;
  /** @internal */
  _isActiveAction(action: InstanceAction): boolean;
  _activateAction(action: InstanceAction): void;
  _deactivateAction(action: InstanceAction): void;
}

const ThreeMixer = AnimationMixer as unknown as new <T extends ActionOwner>(root: T) => MixerFields<T>;

/** Seconds that make no difference: adding times up and taking them off again loses about as much. */
const EPSILON = 1e-9;

/** Where an action plays. */
export interface ActionOptions {
  /** Name or number of the layer, see `AnimationLayers`. @default 'base' */
  layer?: LayerReference;
}

/** The same; mixers take a root in its place. */
export type ActionPlace = ActionOptions | Object3D | AnimationObjectGroup | null;

/** Whose actions a mixer has: a `SkinnedInstance`, as listeners of its crowd need it. */
export interface ActionOwner extends Object3D<SkinnedInstanceEventMap> {
  /** The instance; -1 if there is none any more. */
  readonly instanceId: number;
  /** As that of `SkinnedInstance`. */
  setUniform(name: string, value: UniformValue | null): this;
  /** As that of `SkinnedInstance`. */
  dispose(): this;
  /** Called when its mixer alone was updated. @internal */
  advanced(): unknown;
  /** Called when its mixer got a listener. @internal */
  listened(type: string): void;
}

/**
 * three.js's `AnimationMixer` for an instance: its actions, and the time that they have in common. The crowd's `update` advances it,
 * or else its own. What is changed shows in that update, as in three.js.
 *
 * It rests until something about one of its actions changes by itself, or code has changed something: what comes until then
 * is written for shaders in advance. Who asks for a time meanwhile has it brought up to the present.
 *
 * @typeParam T Whose actions they are.
 *
 * @category Instances as objects
 */
export class InstanceMixer<T extends ActionOwner = ActionOwner> extends ThreeMixer<T> {
  /** In three.js's order: those that are active, then all others. */
  declare protected _actions: InstanceAction<T>[];
  private readonly driver: ActionDriver;
  /** Layers that it has written, as bits. */
  private written = 0;
  /** The instance's time up to which its actions were brought. */
  private since = 0;
  /** At which something about them changes next. @internal */
  due = Infinity;
  /** Whether passes count for that. */
  private loops = false;
  /** By how much its own `update` last moved it. */
  private ownStep = 0;
  /** Whether three.js's code runs, and nobody is to hear of it. @internal */
  isUpdating = false;
  private isQuiet = false;

  constructor(
    private readonly crowd: Crowd,
    /** Whose actions these are. */
    readonly owner: T,
  ) {
    observe(InstanceMixer.prototype, ['time', 'timeScale'], ['time']);
    super(owner);
    this.driver = ActionDriver.of(crowd);
    if (owner.instanceId >= 0) this.driver.mixers[owner.instanceId] = this;
    this.since = this.clock;
    own(this, this);
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
  override clipAction(
    clip: ClipReference,
    where?: ActionPlace,
    blendMode?: AnimationBlendMode,
  ): InstanceAction<T> {
    const { playback, boneTexture } = this.crowd;
    playback.checkMixes('An action');
    const layer = this.layerOf(where);
    const baked = findBaked(boneTexture, clip);
    const additive = boneTexture.data.tracks?.clips[baked.start - 1].additive === true;
    const mode = additive ? AdditiveAnimationBlendMode : NormalAnimationBlendMode;
    checkBlendMode(baked.name, mode, blendMode ?? mode);
    const existing = this.find(baked, layer);
    if (existing !== null) return existing;
    playback.checkClip(layer, baked);
    const source = typeof clip === 'object' && 'tracks' in clip ? (clip as AnimationClip) : null;
    return this.know(new InstanceAction<T>(this, baked, mode, source, layer));
  }

  /** The action of a clip on a layer; null if `clipAction` has not made it. */
  override existingAction(clip: ClipReference, where?: ActionPlace): InstanceAction<T> | null {
    return this.find(clipOf(this.crowd.boneTexture, clip), this.layerOf(where));
  }

  /** Stops the action of a clip on a layer, and forgets it: `clipAction` makes another one. */
  override uncacheAction(clip: ClipReference, where?: ActionPlace): void {
    this.forget(this.existingAction(clip, where));
  }

  /** Stops the actions of a clip on all layers, and forgets them. */
  override uncacheClip(clip: ClipReference): void {
    this.crowd.playback.layers.forEach((_, layer) => void this.uncacheAction(clip, { layer }));
  }

  /** Stops all actions, and forgets them. */
  override uncacheRoot(_root?: object): void {
    for (const action of [...this._actions]) this.forget(action);
  }

  override addEventListener<K extends Extract<keyof SkinnedInstanceEventMap, string>>(
    type: K,
    listener: EventListener<SkinnedInstanceEventMap[K], K, this>,
  ): void {
    super.addEventListener(type, listener);
    this.owner.listened(type);
  }

  /** As that of an `AnimationMixer`. What its actions tell is told to all who listen to the instance or its crowd. */
  override dispatchEvent<K extends Extract<keyof SkinnedInstanceEventMap, string>>(
    event: { type: K } & SkinnedInstanceEventMap[K],
  ): void {
    const { crowd, owner, isQuiet } = this;
    const told = event as unknown as PlaybackEvent & Required<EventOfAction>;
    if (!this.isUpdating) super.dispatchEvent(event);
    else if (!isQuiet && owner.instanceId >= 0 && crowd.events.isListenedTo(told.type)) {
      const { clip, layer } = told.action;
      this.isUpdating = false;
      const { name } = crowd.playback.layers[layer];
      crowd.announce({ ...told, instanceId: owner.instanceId, clip: clip.name, layer: name });
      this.isUpdating = true;
      this.isQuiet = false;
    }
  }

  /**
   * Advances the instance by so many seconds. From the first call on it goes by that alone, not by the crowd's `update`. Where each
   * instance of a crowd is advanced so, and `update` is not called, the crowd goes with them. `marker` events and root motion take
   * the crowd's.
   */
  override update(delta: number): this {
    checkFinite(delta, 'delta');
    const { crowd, owner } = this;
    if (owner.instanceId < 0 || crowd.playback.isPaused(owner.instanceId)) return this;
    if (!this.hasOwnClock) this.read();
    this.ownStep = delta;
    crowd.playback.time.own[owner.instanceId] = this.clock + delta;
    const loops = crowd.events.isListenedTo('loop');
    // Until something changes, shaders know all of it.
    if (delta < 0 || this.clock >= this.due || loops !== this.loops) this.pass(delta);
    owner.advanced();
    return this;
  }

  /** Puts time and all actions back to 0, then advances them by so many seconds. */
  override setTime(time: number): this {
    this.time = 0;
    for (const action of this._actions) action.time = 0;
    this.advance(time, false);
    this.write();
    this.owner.advanced();
    return this;
  }

  // What fields call.

  /** Brings all up to the present: of actions, time and weight are read. @internal */
  read(): void {
    if (this.isUpdating) return;
    const { clock } = this;
    const passed = clock - this.since;
    // A listener may ask in the middle of the crowd's update, before it was the turn of this one.
    if (clock >= this.due && Math.abs(passed) >= EPSILON) this.run();
    else this.bring(passed);
  }

  /** @internal */
  change(field: string, value: unknown): void {
    if (this.isUpdating) return;
    this.read();
    if (field === 'time') checkFinite(value as number, field);
    else checkTimeScale(value as number);
    this.wake();
  }

  /** Has the next update run. @internal */
  wake(): void {
    this.due = -Infinity;
    this.driver.waitFor(this);
  }

  // What the driver calls.

  /** Does what three.js's mixer does in its update, for the last one of the crowd. @internal */
  run(): void {
    const { step } = this.crowd.playback.time;
    const isDone = step !== 0 && Math.abs(this.clock - this.since) < EPSILON;
    if (isDone) this.driver.waitFor(this);
    else this.pass(step);
  }

  /** @internal */
  steers(layer: number): boolean {
    return this.active.some((action) => action.layer === layer);
  }

  /** Ends the actions on a layer, or on all, and leaves what they play to whoever does something else with it. @internal */
  release(layer?: number): void {
    this.read();
    for (const action of this.active)
      if (layer === undefined || action.layer === layer) super._deactivateAction(action);
    this.written &= layer === undefined ? 0 : ~(1 << layer);
  }

  /** So many seconds of the crowd's time have not passed here. @internal */
  delay(seconds: number): void {
    this.since += seconds;
    this.due += seconds;
    this.driver.waitFor(this);
  }

  /** Writes now what the next update would. @internal */
  settle(): void {
    if (this.due === -Infinity) this.write();
  }

  /** Goes on in the clips of the same names; actions whose clip is gone are stopped and forgotten. @internal */
  clipsChanged(): void {
    const { playback, boneTexture } = this.crowd;
    this.read();
    if (!playback.mixes) this.release();
    for (const action of [...this._actions]) {
      const clip = boneTexture.clips.find(({ name }) => name === action.clip.name);
      if (clip !== undefined && playback.layers[action.layer].share?.takes(clip) !== false)
        action.setClip(clip);
      else this.forget(action);
    }
    this.write();
  }

  // What three.js's actions call.

  /** @internal */
  override _activateAction(action: InstanceAction<T>): void {
    if (this._isActiveAction(action)) return;
    this.read();
    const { boneTexture, playback } = this.crowd;
    // Whoever holds an action that was forgotten may play it, and the crowd may have another bone texture by then.
    const clip = boneTexture.clips[boneTexture.clipIndex(action.clip.name)];
    if (clip !== action.clip) {
      playback.checkClip(action.layer, clip);
      action.setClip(clip);
    }
    if (action._cacheIndex === null) this.know(action);
    action.begun = this.clock;
    super._activateAction(action);
    this.wake();
  }

  /** As in three.js, what nothing plays any more is in the rest pose at once. @internal */
  override _deactivateAction(action: InstanceAction<T>): void {
    if (!this._isActiveAction(action)) return;
    this.read();
    super._deactivateAction(action);
    this.wake();
    const { layer } = action;
    const { owner, written, crowd } = this;
    if ((written & (1 << layer)) === 0 || this.steers(layer) || owner.instanceId < 0) return;
    this.written &= ~(1 << layer);
    crowd.playback.layers[layer].clear(owner.instanceId);
    crowd.playback.restored(owner.instanceId);
  }

  /** Seconds since the crowd's beginning, of the instance. @internal */
  get clock(): number {
    const { instanceId } = this.owner;
    return instanceId < 0 ? this.since : this.crowd.playback.time.timeOf(instanceId);
  }

  /** How many actions there are; nothing is bound to anything. Those of three.js take more memory than all else of a mixer. */
  override get stats(): AnimationMixerStats {
    return {
      actions: { total: this._actions.length, inUse: this._nActiveActions },
      bindings: { total: 0, inUse: 0 },
      controlInterpolants: {
        total: this._controlInterpolants.length,
        inUse: this._nActiveControlInterpolants,
      },
    };
  }

  /** The constructor of three.js makes them. */
  override set stats(_: AnimationMixerStats) {}

  private get hasOwnClock(): boolean {
    return this.crowd.playback.time.own[this.owner.instanceId] !== undefined;
  }

  private get active(): readonly InstanceAction<T>[] {
    return this._actions.slice(0, this._nActiveActions);
  }

  /** Does what three.js's mixer does in an update that took so many seconds, and writes what comes from now on. */
  private pass(seconds: number): void {
    this.bring(this.clock - seconds - this.since);
    this.since = this.clock;
    this.due = Infinity;
    try {
      this.advance(seconds, false);
    } finally {
      this.write();
    }
  }

  /** Advances all by so many seconds, in which nothing happens. */
  private bring(seconds: number): void {
    if (Math.abs(seconds) < EPSILON) return;
    this.since += seconds;
    // Where that is one step, sums of them are those of three.js to the bit.
    const step = this.hasOwnClock ? this.ownStep : this.crowd.playback.time.step;
    this.advance(Math.abs(seconds - step) < EPSILON ? step : seconds, true);
  }

  private advance(seconds: number, isQuiet: boolean): void {
    this.isUpdating = true;
    this.isQuiet = isQuiet;
    try {
      super.update(seconds);
    } finally {
      this.isUpdating = false;
    }
  }

  /** Writes what comes from now on. */
  private write(): void {
    const { crowd, owner, active, timeScale } = this;
    if (owner.instanceId < 0) return;
    for (const action of active) action.runsBack &&= this.hasOwnClock;
    this.written = storeActions(crowd.playback, owner.instanceId, active, timeScale, this.written);
    this.loops = crowd.events.isListenedTo('loop');
    let seconds = Infinity;
    for (const action of timeScale === 0 ? [] : active)
      seconds = Math.min(seconds, nextChange(action, Math.sign(timeScale), this.loops) / Math.abs(timeScale));
    // A little early does no harm, but in the present update all is done. What a listener has changed waits for the next.
    if (this.due !== -Infinity) this.due = Math.max(this.clock + seconds - EPSILON, this.clock);
    this.driver.waitFor(this);
  }

  private know(action: InstanceAction<T>): InstanceAction<T> {
    action._cacheIndex = this._actions.push(action) - 1;
    return action;
  }

  private forget(action: InstanceAction<T> | null): void {
    if (action === null) return;
    this._deactivateAction(action);
    const last = this._actions.pop() as InstanceAction<T>;
    if (last !== action) this._actions[action._cacheIndex as number] = last;
    last._cacheIndex = action._cacheIndex;
    action._cacheIndex = null;
  }

  private find(clip: BakedClip | undefined, layer: number): InstanceAction<T> | null {
    return this._actions.find((action) => action.layer === layer && action.clip === clip) ?? null;
  }

  private layerOf(where: ActionPlace | undefined): number {
    const { crowd, owner } = this;
    if (where === owner) return 0;
    const { layer, name, uuid } = (where ?? {}) as ActionOptions & Partial<Object3D>;
    if (uuid === undefined) return crowd.playback.layerIndex(layer);
    throw new Error(
      `An action moves the instance as a whole, and "${name ?? uuid}" is another root; for a part of it pass { layer } of a new AnimationLayers(crowd, [{ name, mask }]).`,
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

/** three.js's action, with what it keeps to itself. */
const Base = AnimationAction as unknown as new <T extends ActionOwner>(
  mixer: AnimationMixer,
  clip: AnimationClip,
) => ThreeAction<InstanceMixer<T>, T>;

/** What the time changes by itself, and is brought up to the present before it is read. */
const READ_FIELDS = ['time', '_effectiveWeight', '_effectiveTimeScale'];
/** What code may change, which shows in the next update; three.js's methods do so, too. */
const ACTION_FIELDS = [
  ...READ_FIELDS,
  ...['timeScale', 'weight', 'loop', 'repetitions', 'clampWhenFinished', 'paused', 'enabled', 'blendMode'],
  ...['_startTime', '_weightInterpolant', '_timeScaleInterpolant'],
];

/** When the present step of the action that is updated began, and how far a warp moves its clip in it; NaN without one. */
let _begin = 0;
let _way = Number.NaN;

/** Seconds of a clip that are lost in sums of its ways. */
const ROUNDING = 1e-12;

/**
 * A clip that an instance plays, or may play: three.js's `AnimationAction` for an instance of a crowd. `instance.clipAction(clip)`
 * makes it. Fades, warps and times are run by the GPU; three.js's own code says here what they come to.
 *
 * What is other than in three.js:
 * - On each layer the four actions with the most weight show; a warning names what is left out. All others keep their times,
 *   weights and events, and show as soon as there is room.
 * - A warp's way through the clip is exact. three.js adds up the speed at the end of each frame, and so comes to a slightly
 *   different place at each frame rate.
 * - `zeroSlopeAtStart` and `zeroSlopeAtEnd` have no effect: they are about smooth tracks, which were baked.
 * - `blendMode` is that of the clip when it was baked; setting another is an error.
 * - For one frame, three.js shows the other end of a ping-pong that finishes, and what a listener has changed as it was before.
 *
 * @typeParam T Whose action it is.
 *
 * @category Instances as objects
 */
export class InstanceAction<T extends ActionOwner = ActionOwner> extends Base<T> {
  /** For type testing. */
  readonly isInstanceAction = true;
  /** Seconds since the crowd's beginning at which it was started, or its time was set. @internal */
  begun = 0;
  /** Whether its mixer has just moved it in reverse. @internal */
  runsBack = false;
  /**
   * @param clip Another one of the same name when the crowd has another bone texture.
   * @param source The clip that was passed for it, if one was.
   * @param layer Number of the layer.
   * @internal
   */
  constructor(
    mixer: InstanceMixer<T>,
    /** @internal */
    public clip: BakedClip,
    mode: AnimationBlendMode,
    private readonly source: AnimationClip | null,
    /** @internal */
    readonly layer: number,
  ) {
    observe(InstanceAction.prototype, ACTION_FIELDS, READ_FIELDS);
    super(mixer, standIn(clip, mode));
    own(this, this);
  }

  /** Goes on in another baking of the clip. @internal */
  setClip(clip: BakedClip): void {
    this._clip = standIn(clip, this.blendMode);
    this.clip = clip;
  }

  /** Brings the time up to the present. @internal */
  read(): void {
    this.getMixer().read();
  }

  /** Called before anything is changed. @throws If a field is set to what no action can have. @internal */
  change(field = '', value: unknown = undefined): void {
    const mixer = this.getMixer();
    if (mixer.isUpdating) return;
    mixer.read();
    if (field === 'weight') checkFinite(value as number, field);
    else if (field === 'timeScale') checkTimeScale(value as number);
    else if (field === 'blendMode')
      checkBlendMode(this._clip.name, this.blendMode, value as AnimationBlendMode);
    else if (field === 'time') {
      checkTime(value as number);
      this.begun = mixer.clock;
    }
    mixer.wake();
  }

  /** @internal */
  override _update(time: number, deltaTime: number, direction: number, accuIndex: number): void {
    const { _startTime: start } = this;
    const isReached = start !== null && direction !== 0 && (time - start) * direction >= 0;
    _begin = start === null ? time - deltaTime : isReached ? start : time;
    super._update(time, deltaTime, direction, accuIndex);
  }

  /** @internal */
  override _updateTimeScale(time: number): number {
    const { paused, timeScale, _timeScaleInterpolant: warp } = this;
    const last = super._updateTimeScale(time);
    _way = Number.NaN;
    if (paused || warp === null) return last;
    const [, over] = warp.parameterPositions;
    const end = time > over ? Math.max(_begin, over) : time;
    const way = timeScale * (sumOfWarp(warp, end) - sumOfWarp(warp, _begin)) + last * (time - end);
    // Back where the clip began, less than that is rounding, and no pass before it.
    _way = Math.abs(this.time + way) < ROUNDING ? -this.time : way;
    return last;
  }

  /** @param deltaTime By the speed at the end of the step, as three.js counts warps; they are exact here. @internal */
  override _updateTime(deltaTime: number): number {
    const way = Number.isNaN(_way) ? deltaTime : _way;
    this.runsBack = way < 0;
    // A pose has no passes.
    return this.clip.duration <= 0 && this.loop !== LoopOnce ? 0 : super._updateTime(way);
  }

  /**
   * Fades from the weight that it has now, in the middle of another fade too, to a `weight`, which it keeps; with 0 the action is
   * disabled then.
   */
  fadeTo(weight: number, duration: number): this {
    const now = this.getEffectiveWeight();
    if (weight !== 0) {
      this.weight = weight;
      this.enabled = true;
    }
    return this._scheduleFading(duration, this.weight === 0 ? 0 : now / this.weight, weight === 0 ? 0 : 1);
  }

  /** @internal */
  override _scheduleFading(duration: number, weightNow: number, weightThen: number): this {
    checkFade(duration);
    this.change();
    return super._scheduleFading(duration, weightNow, weightThen);
  }

  /** Changes the speed evenly from one to another within so many seconds, which is the time scale then. */
  override warp(startTimeScale: number, endTimeScale: number, duration: number): this {
    checkTimeScale(startTimeScale);
    checkTimeScale(endTimeScale);
    checkFade(duration);
    // A warp is a factor, and no factor of 0 leads to another speed.
    if (this.timeScale === 0) this.timeScale = 1;
    this.change();
    return super.warp(startTimeScale, endTimeScale, duration);
  }

  /** The clip: what was passed to `clipAction`, else one with the name and duration of the baked one, and no tracks. */
  override getClip(): AnimationClip {
    return this.source ?? this._clip;
  }
}

/** @throws If a blend mode is not that of the clip as it was baked. */
export function checkBlendMode(clip: string, baked: AnimationBlendMode, mode: AnimationBlendMode): void {
  if (mode === baked) return;
  throw new Error(
    `Clip "${clip}" was ${baked === AdditiveAnimationBlendMode ? '' : 'not '}baked as an additive one; that is said before baking, by AnimationUtils.makeClipAdditive(clip).`,
  );
}

const standIns = /*@__PURE__*/ new WeakMap<BakedClip, AnimationClip>();

/** A clip without tracks: three.js's actions play it, and look for nothing to move. */
function standIn(clip: BakedClip, mode: AnimationBlendMode): AnimationClip {
  const made = standIns.get(clip) ?? new AnimationClip(clip.name, clip.duration, [], mode);
  standIns.set(clip, made);
  return made;
}

/** The sum of the factor of a warp from its start to a time; negative before. */
function sumOfWarp({ parameterPositions, sampleValues }: LinearInterpolant, time: number): number {
  const [start, end] = parameterPositions;
  const [from, to] = sampleValues;
  const length = Math.max(end - start, 0);
  const within = Math.min(Math.max(time - start, 0), length);
  const slope = length > 0 ? (to - from) / length : 0;
  const outside = Math.min(time - start, 0) * from + Math.max(time - start - length, 0) * to;
  return outside + within * (from + (slope * within) / 2);
}
