import type { Texture } from 'three';
import type { BakedClip, ClipTable } from '../animation/ClipTable.js';
import type { PoseMix } from '../animation/mixPose.js';
import type { PoseTracks } from '../animation/PoseTracks.js';
import type { PosedBeyondClips } from '../animation/posedBounds.js';
import { CLOCK_EPOCH, MIXED_POSES } from '../constants.js';
import type { InstanceData } from '../instances/InstanceData.js';
import type { PreviousRows } from '../instances/PreviousRows.js';
import { describe, listNames } from '../utils/messages.js';
import { ActionTexels } from './ActionTexels.js';
import {
  ACTION_LOOP,
  ACTION_START,
  ACTION_STARTED,
  ACTION_STARTED_IN,
  type Actions,
  basePass,
  changeRate,
  FIRST,
  isReversed,
  type Place,
  rateOf,
  setPlace,
} from './actionNumbers.js';
import { Clock } from './Clock.js';
import { MAX_AGE } from './instanceLayout.js';
import { LayerActions } from './LayerActions.js';
import { checkPlay, type LayerReference, type PlayOptionsOfInstance, type Start } from './PlayOptions.js';

/** Seconds between sweeps over instances that do not fade: half of those for which what shaders read is exact. */
const LONG = (CLOCK_EPOCH * MAX_AGE) / 2;
/** How many instances a sweep looks at in an update. */
const SWEPT_AT_ONCE = 64;

const _start = {} as Start;
const _place: Place = { pass: 0, within: 0, finished: false };

/** The mixer of an instance, as others need it that know no objects. */
export interface DrivenMixer {
  readonly owner: { readonly instanceId: number };
  /** The instance's time at which something about its actions changes next. */
  readonly due: number;
  /** Whether its actions say what plays on a layer. */
  steers(layer: number): boolean;
  /** Ends them on a layer, or on all, and leaves what they play to whoever does something else with it. */
  release(layer?: number): void;
  /** So many seconds of the crowd's time have not passed here. */
  delay(seconds: number): void;
  /** Writes what the instance plays from its next update on. */
  settle(): void;
  /** Other clips of the same names have taken the place of the present ones. */
  clipsChanged(): void;
  run(): void;
}

/**
 * What every instance of a crowd plays, and what it can be told to play. Where no layer is said, the base is meant.
 *
 * Numbers are written when something changes, and read against the clock in shaders. A while after fades, a few instances in each
 * update lose what has faded out; nothing else is ever done per instance.
 */
export class InstancePlayback implements InstanceData {
  readonly time: Clock;
  /** The base, and what a feature has laid over it, see `replaceTexels`. */
  layers: readonly LayerActions[];
  /** What has laid others over the base; null if there are none. */
  over:
    | (Pick<PosedBeyondClips, 'posedBounds'> & {
        /** How much of each layer shows on each node: a texel for each, `MASKS_PER_ROW` in a row. */
        readonly masks: Texture;
      })
    | null = null;
  /** Who is told when instances play something else than before. */
  observer: {
    started(index: number, layer?: number, place?: number): void;
    retimed(index: number, turned: boolean, layer?: number, place?: number): void;
    replacing(): void;
  } | null = null;
  /** Null while nothing is steered by objects. */
  driver: {
    /** By instance. */
    readonly mixers: readonly (DrivenMixer | undefined)[];
    /** An instance is told by index what to play from now on, on one layer or, without a number, on all: its actions end. */
    released(index: number, layer?: number): void;
    /** Time has passed, and events of what it does not steer were dispatched. */
    advanced(): void;
    swap(i: number, j: number): void;
    resize(capacity: number): void;
  } | null = null;
  /** Where instances were when renderers last posed them. */
  readonly previousRows: Set<PreviousRows> = new Set();
  /** All that instances play, as shaders read it. */
  readonly texels: ActionTexels;
  /** When the next sweep begins, and up to which instance the present one has come. */
  private sweepsAt = LONG;
  private swept = Infinity;

  /**
   * What instances play, and the tracks, are asked anew each time, since a crowd's bone texture may change.
   *
   * @param clips The clips that instances play.
   * @param tracks Tracks by which a pass poses the instances; null if none does.
   */
  constructor(
    /** Instances that there is room for. */
    public capacity: number,
    private readonly clips: () => ClipTable,
    private readonly tracks: () => PoseTracks | null = () => null,
  ) {
    this.time = new Clock();
    this.layers = [new LayerActions(capacity)];
    this.texels = new ActionTexels(this.layers, this.time);
    this.replaceTexels();
  }

  /** Grows with each change of what shaders read. */
  get version(): number {
    return this.texels.version;
  }

  /** Whether clips can be mixed by any weights; baked frames by such that add up to 1 at most. */
  get mixes(): boolean {
    return this.tracks() !== null;
  }

  // Layers.

  /**
   * Number of a layer; that of the base, if none is meant.
   *
   * @throws If there is no such layer.
   */
  layerIndex(layer: LayerReference | undefined): number {
    if (layer === undefined) return 0;
    const { layers } = this;
    const index = typeof layer === 'number' ? layer : layers.findIndex(({ name }) => name === layer);
    if (index in layers) return index;
    throw new Error(
      `There is no layer ${describe(layer)}; there are ${listNames(
        layers.map(({ name }) => name),
        layer,
      )}. Others are made by new AnimationLayers(crowd, layers).`,
    );
  }

  /** @throws If a layer may not play a clip. */
  checkClip(layer: number, clip: BakedClip): void {
    const played = this.layers[layer];
    if (played.share?.takes(clip) !== false) return;
    throw new Error(
      `Clip "${clip.name}" is not additive, and layer "${played.name}" takes no others; call AnimationUtils.makeClipAdditive before it is baked.`,
    );
  }

  // What one instance does.

  /** Starts a clip on a layer of an instance, or stops what plays there. */
  play(index: number, clip: BakedClip | null, options: PlayOptionsOfInstance): void {
    this.start(index, this.check(index, clip, options, _start));
  }

  /**
   * What an instance is to play, in the terms of an action. Nothing changes yet.
   *
   * @throws If an option is out of range, or the layer cannot play the clip.
   */
  check(index: number, clip: BakedClip | null, options: PlayOptionsOfInstance, target = {} as Start): Start {
    checkPlay(index, clip, options, target);
    const layer = this.layerIndex(target.layer);
    target.layer = layer;
    if (!Number.isNaN(target.weight)) this.checkMixes('A weight');
    if (clip !== null) this.checkClip(layer, clip);
    return target;
  }

  /** Starts what was checked, or lets it go on where it plays already. */
  start(index: number, start: Readonly<Start>): void {
    if (this.isPaused(index)) this.resume(index);
    const number = start.layer as number;
    const layer = this.layers[number];
    const now = this.time.timeOf(index);
    if (!start.restart && !this.isSteered(index, number) && layer.goesOn(index, now, start)) {
      const { clip, weight, timeScale } = start;
      if (clip === null) return;
      const place = layer.find(index, clip.start);
      if (weight !== layer.goalOf(index, place) && !Number.isNaN(weight))
        this.setWeight(index, clip, weight, start.fade, number);
      if (timeScale !== null && start.rate !== rateOf(layer.actions(place), layer.at(index)))
        this.setTimeScale(index, timeScale, number, clip);
      return;
    }
    this.driver?.released(index, number);
    const place = layer.start(index, now, this.clips(), start);
    this.restored(index, number, place);
  }

  /** Whether actions of an object say what plays on a layer of an instance. */
  isSteered(index: number, layer: number): boolean | undefined {
    return this.driver?.mixers[index]?.steers(layer);
  }

  isPaused(index: number): boolean {
    return this.time.isPaused(index);
  }

  /** Stops time and fades of an instance. */
  pause(index: number): void {
    if (this.isPaused(index)) return;
    this.settle(index);
    this.time.pause(index);
    this.texels.changed(index);
    this.observer?.retimed(index, false);
  }

  /** Lets a paused instance go on. */
  resume(index: number): void {
    if (!this.isPaused(index)) return;
    this.delay(index, this.time.resume(index));
  }

  /** Lets an instance go on as if so many seconds of the clock had not passed. */
  delay(index: number, seconds: number): void {
    for (const layer of this.layers) layer.delay(index, seconds);
    this.texels.changed(index);
    this.observer?.retimed(index, false);
    this.driver?.mixers[index]?.delay(seconds);
  }

  /** Whether time passes for a clip: it is there, the instance is not paused, it has a speed and has not finished. */
  isPlaying(index: number, layer: number): boolean {
    const place = this.placeOf(index, layer);
    return (
      this.getTimeScale(index, layer) !== 0 &&
      !this.isPaused(index) &&
      !this.where(this.layers[layer], index, place).finished
    );
  }

  /** The clip at a place of a layer of an instance, or that was last started there; null if none was, or it was stopped. */
  clipOf(index: number, layer: number, place: number = this.placeOf(index, layer)): BakedClip | null {
    const played = this.layers[layer];
    return place < 0 ? null : this.clipIn(played.actions(place), played.at(index));
  }

  /** The clip of an action. */
  clipIn(actions: Actions, at: number): BakedClip {
    return this.clips().startingAt(actions[at + ACTION_START]);
  }

  // What follows is about one clip that an instance plays, or without it about the one that was last started.

  /** Speed of an instance's clip; 0 if it does not play it. */
  getTimeScale(index: number, layer: number, clip?: BakedClip): number {
    const place = this.placeOf(index, layer, clip);
    const fps = this.clipOf(index, layer, place)?.fps ?? 0;
    if (fps === 0) return 0;
    const played = this.layers[layer];
    return rateOf(played.actions(place), played.at(index)) / fps;
  }

  /** Changes the speed of an instance's clip from where it is; a warp under way goes on, in proportion. */
  setTimeScale(index: number, timeScale: number, layer: number, clip?: BakedClip): void {
    const place = this.releasedPlace(index, layer, clip);
    const fps = this.clipOf(index, layer, place)?.fps ?? 0;
    if (fps === 0) return;
    const actions = this.layers[layer].actions(place);
    const at = this.layers[layer].at(index);
    const reversed = isReversed(actions, at);
    this.settle(index);
    changeRate(actions, at, this.time.timeOf(index), timeScale * fps);
    this.texels.changed(index);
    this.observer?.retimed(index, isReversed(actions, at) !== reversed, layer, place);
  }

  /** Where an instance's clip is. The object is the same for all calls. */
  where(layer: LayerActions, index: number, place: number): Readonly<Place> {
    return layer.locate(index, place, this.time.timeOf(index), this.isPaused(index), _place);
  }

  /** Seconds into the clip, as `AnimationAction.time`: from its start, also on the way back of a ping-pong; 0 if there is none. */
  getTime(index: number, layer: number, clip?: BakedClip): number {
    const place = this.placeOf(index, layer, clip);
    const fps = this.clipOf(index, layer, place)?.fps ?? 0;
    return fps === 0 ? 0 : this.where(this.layers[layer], index, place).within / fps;
  }

  /** Sets the seconds into the clip; the passes so far stay counted. One that has finished runs its last pass again. */
  setTime(index: number, time: number, layer: number, clip?: BakedClip): void {
    const place = this.releasedPlace(index, layer, clip);
    const played = this.clipOf(index, layer, place);
    if (played === null || played.count < 2) return;
    const actions = this.layers[layer].actions(place);
    const at = this.layers[layer].at(index);
    this.settle(index);
    const now = this.time.timeOf(index);
    actions[at + ACTION_LOOP] |= FIRST;
    actions[at + ACTION_STARTED_IN] = basePass(actions, at);
    setPlace(actions, at, now, time * played.fps, this.isPaused(index));
    actions[at + ACTION_STARTED] = now;
    this.restored(index, layer, place);
  }

  /** Place of a clip on a layer of an instance, below 0 if it plays none. */
  private placeOf(index: number, layer: number, clip?: BakedClip): number {
    const played = this.layers[layer];
    return clip === undefined ? played.current(index) : played.find(index, clip.start);
  }

  /** The same, for what is to be changed. Actions of an object end first, since one that is over by now leaves its place to others. */
  private releasedPlace(index: number, layer: number, clip?: BakedClip): number {
    this.driver?.released(index, layer);
    return this.playedPlace(index, layer, clip);
  }

  /**
   * Place of a clip as `placeOf` has it.
   *
   * @throws If the instance does not play that clip.
   */
  playedPlace(index: number, layer: number, clip?: BakedClip): number {
    const played = this.layers[layer];
    if (clip !== undefined && !played.plays(index, this.time.timeOf(index), clip.start)) {
      throw new Error(
        `Instance ${index} does not play "${clip.name}"${layer === 0 ? '' : ` on layer "${played.name}"`}; play it with a weight first.`,
      );
    }
    return this.placeOf(index, layer, clip);
  }

  /** Weight of a clip that an instance plays, as `AnimationAction.getEffectiveWeight()`; 0 if it does not play it. */
  getWeight(index: number, clip: BakedClip, layer: number): number {
    const place = this.layers[layer].find(index, clip.start);
    return place < 0 ? 0 : this.layers[layer].weightOf(index, place, this.time.timeOf(index));
  }

  /**
   * Changes the weight of a clip that an instance plays.
   *
   * @param fade Seconds that it takes.
   */
  setWeight(index: number, clip: BakedClip, weight: number, fade: number, layer: number): void {
    const played = this.layers[layer];
    const now = this.time.timeOf(index);
    this.releasedPlace(index, layer, clip);
    const place = played.changeWeight(index, now, clip.start, weight, fade);
    this.texels.changed(index);
    if (place >= 0) this.observer?.started(index, layer, place);
  }

  /** How many poses an instance is to have each second; 0 for one in every frame. */
  setPoseRate(index: number, rate: number): void {
    this.texels.setRate(index, rate);
    this.texels.changed(index);
  }

  /** What an instance shows now. */
  pose(index: number, interpolate: boolean, target: PoseMix): PoseMix {
    return this.texels.readPose(index, interpolate, target);
  }

  /** Call after actions of an instance were set, all or one. Events that lie behind them are not dispatched. */
  restored(index: number, layer?: number, place?: number): void {
    this.texels.changed(index);
    this.observer?.started(index, layer, place);
  }

  // All instances.

  /**
   * Takes what has faded out off a few instances, and writes those anew that were written hours ago: neither changes what is on
   * screen. A sweep over all of them begins a while after fades, else once in hours. Call it once everything that looks back has
   * been told.
   */
  sweep(): void {
    const { texels, layers, capacity } = this;
    const { elapsed } = this.time;
    if (texels.hasFades) this.sweepsAt = Math.min(this.sweepsAt, elapsed + CLOCK_EPOCH);
    texels.hasFades = false;
    if (this.swept >= capacity) {
      if (elapsed < this.sweepsAt) return;
      this.sweepsAt = elapsed + LONG;
      this.swept = 0;
    }
    const end = Math.min(this.swept + SWEPT_AT_ONCE, capacity);
    for (; this.swept < end; this.swept++) {
      const index = this.swept;
      if (this.isPaused(index)) continue;
      let ended = texels.isOld(index);
      for (const layer of layers) {
        ended = layer.endFades(index, elapsed) || ended;
        texels.hasFades ||= layer.isFading(index);
      }
      if (ended) texels.changed(index);
    }
  }

  /** Makes room for another number of instances; what those play that stay does not change. */
  resize(capacity: number): void {
    const kept = Math.min(this.capacity, capacity);
    this.capacity = capacity;
    this.time.resize(capacity);
    for (const layer of this.layers) layer.resize(capacity);
    this.replaceTexels(kept);
  }

  /** Exchanges what two instances play. */
  swap(i: number, j: number): void {
    for (const layer of this.layers) layer.swap(i, j);
    this.time.swap(i, j);
    this.texels.texture.swap(i, j);
    this.texels.changed(i);
    this.texels.changed(j);
    for (const rows of this.previousRows) rows.swap(i, j);
  }

  /** Lets an instance play nothing, and forgets what it did. */
  reset(index: number): void {
    this.driver?.released(index);
    for (const layer of this.layers) layer.reset(index);
    this.time.reset(index);
    this.texels.setRate(index, 0);
    for (const rows of this.previousRows) rows.appear(index);
    this.restored(index);
  }

  /** Takes over what as many instances play on the base. */
  copy(source: InstancePlayback): this {
    this.time.copy(source.time);
    this.texels.copyRates(source.texels.texture);
    this.layers[0].copy(source.layers[0]);
    for (let i = 0; i < this.capacity; i++) this.driver?.released(i);
    this.writeAll();
    return this;
  }

  dispose(): void {
    this.texels.dispose();
  }

  /** Writes all instances for shaders. */
  writeAll(): void {
    for (let i = 0; i < this.capacity; i++) this.texels.write(i);
    this.texels.changedAll();
  }

  /** @throws If shaders cannot mix clips by any weights. */
  checkMixes(what: string): void {
    if (!this.mixes) throw new Error(`${what} needs ${MIXED_POSES}`);
  }

  /** Lets an instance's actions count anew from where they are now; those of one that is paused were settled then. */
  settle(index: number): void {
    if (this.isPaused(index)) return;
    for (const layer of this.layers) layer.settle(index, this.time.timeOf(index));
  }

  /**
   * Call when layers were laid over the base, or are others: shaders read another texture then.
   *
   * @param kept How many of the instances play what they did, in the same layers.
   */
  replaceTexels(kept = 0): void {
    this.texels.replace(this.capacity, this.layers, kept);
  }
}
