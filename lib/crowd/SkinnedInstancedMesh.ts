import type { BufferGeometry, Material } from 'three';
import type { BoneTexture } from '../animation/BoneTexture.js';
import type { BakedClip, ClipReference } from '../animation/ClipTable.js';
import type { Character } from '../character/assembleCharacter.js';
import { PARAM_CLOCK, PARAM_EPOCH } from '../constants.js';
import { Crowd, type DrawOptions } from '../core/Crowd.js';
import type { InstanceRange } from '../instances/instanceRange.js';
import { checkIndex, forEachInstance, type Instances } from '../instances/instanceRange.js';
import {
  CLIP_OPTIONS,
  type ClipOfInstance,
  type ClipOption,
  checkFade,
  checkPoseRate,
  checkTime,
  checkTimeScale,
  checkWeight,
  type LayerReference,
  PLAY_OPTIONS,
  type PlayOptions,
  type PlayOptionsOfInstance,
  type Start,
  valueFor,
  WEIGHT_OPTIONS,
  type WeightOptions,
} from '../playback/PlayOptions.js';
import { describe, warnOfUnknown } from '../utils/messages.js';
import { CrowdMesh } from './CrowdMesh.js';
import { checkUpdate } from './checkMatrix.js';

/** How a crowd is drawn. */
export interface SkinnedInstancedMeshOptions extends DrawOptions {}

/** Seconds that `update` takes at once, some thirty years; beyond it, it was passed a date. */
const MAX_DELTA = 1e9;

/**
 * A crowd of animated characters in one draw call per material: an `InstancedMesh` whose instances play clips of a
 * {@link BoneTexture}, each its own at its own time, posed on the GPU.
 *
 * An instance with matrix M playing clip C at time t looks like a clone of the baked root with `matrix` M whose
 * `AnimationMixer` plays C at t. Instances that play nothing stand in the rest pose. M must not mirror, see
 * {@link SkinnedInstancedMesh.setMatrixAt}.
 *
 * Materials passed in gain an `onBeforeCompile` that other meshes do not notice; one set by the user still runs. The
 * geometry is copied; change `mesh.geometry`, not the one passed in.
 *
 * ```ts
 * const character = bakeCharacter(gltf.scene, gltf.animations);
 * const crowd = new SkinnedInstancedMesh(character, 10_000);
 * scene.add(crowd);
 * crowd.setMatrixAt(0, matrix);
 * crowd.play(0, 'Run', { timeScale: 1.1 });
 * renderer.setAnimationLoop(() => {
 *   timer.update();
 *   crowd.update(timer.getDelta());
 *   renderer.render(scene, camera);
 * });
 * ```
 *
 * @category Crowd
 */
export class SkinnedInstancedMesh extends CrowdMesh {
  override readonly type: string = 'SkinnedInstancedMesh';
  /** For type testing. */
  readonly isSkinnedInstancedMesh = true;

  /**
   * Makes a crowd of a character.
   *
   * @param character What `bakeCharacter` returns, or one of the `bakedCharacters` of a file.
   * @param count Number of instances, and the most there can be.
   */
  constructor(character: Character, count: number, options?: SkinnedInstancedMeshOptions);
  /**
   * Makes a crowd of the parts of a character.
   *
   * @param geometry Geometry of a skinned mesh, with `skinIndex` and `skinWeight`. It is copied.
   * @param material One material, or one for each group of the geometry.
   * @param boneTexture Baked from the skinned mesh's character, e.g. by `bakeBoneTexture`.
   * @param count Number of instances, and the most there can be.
   * @throws If the geometry and the bone texture do not fit together.
   */
  constructor(
    geometry: BufferGeometry,
    material: Material | Material[],
    boneTexture: BoneTexture,
    count: number,
    options?: SkinnedInstancedMeshOptions,
  );
  constructor(
    source: Character | BufferGeometry,
    second: number | Material | Material[],
    third: SkinnedInstancedMeshOptions | BoneTexture = {},
    fourth?: number,
    fifth: SkinnedInstancedMeshOptions = {},
  ) {
    const isCharacter = typeof second === 'number' || (source as Character)?.boneTexture !== undefined;
    const character = isCharacter ? checkCharacter(source as Character) : null;
    const geometry = character?.geometry ?? (source as BufferGeometry);
    const material = character?.material ?? (second as Material | Material[]);
    const boneTexture = character?.boneTexture ?? (third as BoneTexture);
    if (boneTexture?.isBoneTexture !== true)
      throw new Error(
        `SkinnedInstancedMesh: ${describe(boneTexture)} is no bone texture; make a crowd of what bakeCharacter returns: new SkinnedInstancedMesh(bakeCharacter(gltf.scene, gltf.animations), count).`,
      );
    const count = (isCharacter ? second : fourth) as number;
    const options = (isCharacter ? third : fifth) as SkinnedInstancedMeshOptions;
    checkCapacity(count, 0);
    super(geometry, material, new Crowd(boneTexture, count), options);
    warnOfUnknown(options, 'SkinnedInstancedMesh', this.options);
    if (character !== null) this.beginAs(character);
  }

  /**
   * All instances, for methods that take a range; deleted ones are passed over.
   *
   * @category Place
   */
  get all(): InstanceRange {
    return { start: 0, count: this.count };
  }

  /**
   * Whether instances that a camera does not see are left out, for each camera and each shadow map by itself: as
   * `BatchedMesh` has it. What is attached is left out with them. Not so where the bounds of one of the meshes do not hold,
   * that is where its `frustumCulled` is false, or where its geometry has instanced attributes of your own, which GPUs read
   * by the index at which an instance is drawn.
   *
   * With encoding `frames` it is false to begin with: what instances play is then uploaded once more when it
   * changes, 32 bytes for each.
   *
   * @default true
   *
   * @category See
   */
  get perObjectFrustumCulled(): boolean {
    return this.views.perObjectFrustumCulled;
  }

  /** Changing it compiles the materials anew. */
  set perObjectFrustumCulled(value: boolean) {
    this.views.perObjectFrustumCulled = value;
    this.prepareDraw();
  }

  /**
   * Starts a clip, as `mixer.clipAction(clip).reset().play()` does with the same options. It takes the place of what the
   * instance plays on that layer, which with `fade` fades out together, also in the middle of another fade: of more than
   * three clips that fade out, the one that shows least is dropped.
   *
   * With `weight`, in tracks, it plays beside what the instance plays on that layer: up to four clips, mixed as
   * by an `AnimationMixer`.
   *
   * A clip that plays already goes on, as after `action.play()`, and takes the `timeScale` and `weight` that are said: so this may be
   * called in each frame. It starts anew with `restart`, another `loop`, `repetitions`, `clampWhenFinished`, `rootMotion` or `time`, or
   * when it has finished, unless it was played in each frame until then.
   *
   * @param index From 0 to `capacity - 1`.
   * @param clip Name or index of a clip of the bone texture, or the `AnimationClip` it was baked from, which is found by
   * its name.
   * @throws If there is no such instance, clip or layer, an option is out of range, or the layer takes additive clips and this
   * is none.
   *
   * @example
   * ```ts
   * crowd.play(7, 'Run', { fade: 0.25 }); // a crossfade, from whatever 7 shows
   * crowd.play(7, 'Jump', { loop: LoopOnce, clampWhenFinished: true, fade: 0.1 });
   * ```
   *
   * @category Play and blend
   */
  play(index: number, clip: ClipReference, options?: PlayOptions): this;
  /**
   * The same for one instance or a range; clip and options may be functions of the index. If anything throws, nothing has begun.
   *
   * @example
   * ```ts
   * crowd.play({ start: 0, count: 50 }, (i) => (i % 2 ? 'Walk' : 'Idle'), { fade: 0.5, time: (i) => i * 0.1 });
   * ```
   *
   * @category Play and blend
   */
  play(instances: Instances, clip: ClipOfInstance, options?: PlayOptionsOfInstance): this;
  play(instances: Instances, clip: ClipOfInstance, options: PlayOptionsOfInstance = {}): this {
    warnOfUnknown(options, 'play', PLAY_OPTIONS);
    const { playback } = this;
    // What programs call thousands of times in a frame makes no closure.
    if (typeof instances === 'number') {
      checkIndex(instances, this.visibility);
      playback.play(instances, this.clipFor(clip, instances), options);
      return this;
    }
    let varies = typeof clip === 'function';
    for (const key in options) varies ||= typeof options[key as keyof PlayOptions] === 'function';
    if (!varies) {
      const baked = this.clipFor(clip, 0);
      return this.each(instances, (i) => playback.play(i, baked, options));
    }
    // All functions are asked before anything begins: one may throw.
    const starts: Start[] = [];
    const check = (i: number) => starts.push(playback.check(i, this.clipFor(clip, i), options));
    let next = 0;
    return this.each(instances, check).each(instances, (i) => playback.start(i, starts[next++]));
  }

  private clipFor(clip: ClipOfInstance, index: number): BakedClip {
    return this.boneTexture.clipTable.find(valueFor(clip, index));
  }

  /**
   * {@link SkinnedInstancedMesh.play} for every instance, e.g. with `time: (i) => i * 0.1`.
   *
   * @category Play and blend
   */
  playAll(clip: ClipOfInstance, options?: PlayOptionsOfInstance): this {
    return this.play(this.all, clip, options);
  }

  /**
   * Changes the weight of a clip that instances play, beside which others may play: see {@link PlayOptions.weight}. A clip
   * at weight 0 plays on unseen. One that was warped goes on at its own speed.
   *
   * @param weight 0 to 1.
   * @throws If an instance does not play the clip on that layer, or the bone texture's encoding is not `'tracks'`; then no weight
   * was changed.
   *
   * @example
   * ```ts
   * crowd.play(0, 'Walk', { weight: 1 }).play(0, 'Run', { weight: 0, sync: true });
   * crowd.setWeightAt(0, 'Run', 0.3, { fade: 0.5 });
   * ```
   *
   * @category Play and blend
   */
  setWeightAt(instances: Instances, clip: ClipReference, weight: number, options: WeightOptions = {}): this {
    warnOfUnknown(options, 'setWeightAt', WEIGHT_OPTIONS);
    const { fade = 0, layer } = options;
    checkWeight(weight);
    checkFade(fade);
    const { playback } = this;
    const number = playback.layerIndex(layer);
    const baked = this.bakedClip(clip);
    playback.checkMixes('A weight');
    const set = (index: number) => playback.setWeight(index, baked, weight, fade, number);
    return this.each(instances, set, number, baked);
  }

  /**
   * Weight at which an instance plays a clip, as `AnimationAction.getEffectiveWeight()`; 0 if it does not play it.
   *
   * @category Play and blend
   */
  getWeightAt(index: number, clip: ClipReference, layer?: LayerReference): number {
    return this.playback.getWeight(index, this.bakedClip(clip), this.layerAt(index, layer));
  }

  /**
   * Stops what instances play, on one layer or on all; what lies below returns, under the base the rest pose, within `fade`
   * seconds. What fades out already goes on doing so.
   *
   * @category Play and blend
   */
  stop(instances: Instances, options: WeightOptions = {}): this {
    warnOfUnknown(options, 'stop', WEIGHT_OPTIONS);
    const { playback } = this;
    const { fade, layer } = options;
    const first = playback.layerIndex(layer);
    const end = layer === undefined ? playback.layers.length : first + 1;
    return this.each(instances, (index) => {
      for (let i = first; i < end; i++) {
        if (i === 0 || playback.layers[i].count(index) > 0) playback.play(index, null, { fade, layer: i });
      }
    });
  }

  /**
   * Holds instances in the pose they show, in the middle of a fade too.
   *
   * @category Play and blend
   */
  pause(instances: Instances): this {
    return this.each(instances, (index) => this.playback.pause(index));
  }

  /**
   * Lets paused instances go on from where they were.
   *
   * @category Play and blend
   */
  resume(instances: Instances): this {
    return this.each(instances, (index) => this.playback.resume(index));
  }

  /**
   * Changes the speed of what instances play, from where they are; 1 is the clip's own, negative runs in reverse. A warp
   * under way goes on in proportion, and comes to this speed.
   *
   * @throws If an instance does not play the `clip` that is named.
   *
   * @category Play and blend
   */
  setTimeScaleAt(instances: Instances, timeScale: number, options: ClipOption = {}): this {
    checkTimeScale(timeScale);
    warnOfUnknown(options, 'setTimeScaleAt', CLIP_OPTIONS);
    const layer = this.playback.layerIndex(options.layer);
    const clip = this.bakedClip(options.clip);
    const set = (index: number) => this.playback.setTimeScale(index, timeScale, layer, clip);
    return this.each(instances, set, layer, clip);
  }

  /**
   * Speed at which an instance plays a clip, that last started if none is named, in the middle of a warp the one it comes to;
   * 0 if it does not play it.
   *
   * @category Play and blend
   */
  getTimeScaleAt(index: number, layer?: LayerReference, clip?: ClipReference): number {
    return this.playback.getTimeScale(index, this.layerAt(index, layer), this.bakedClip(clip));
  }

  /**
   * Sets how many seconds into their clips instances are, as assigning `AnimationAction.time` does: repetitions so far
   * stay counted. One that has finished runs its last repetition again.
   *
   * @throws If an instance does not play the `clip` that is named.
   *
   * @category Play and blend
   */
  setTimeAt(instances: Instances, time: number, options: ClipOption = {}): this {
    checkTime(time);
    warnOfUnknown(options, 'setTimeAt', CLIP_OPTIONS);
    const layer = this.playback.layerIndex(options.layer);
    const clip = this.bakedClip(options.clip);
    const set = (index: number) => this.playback.setTime(index, time, layer, clip);
    return this.each(instances, set, layer, clip);
  }

  /**
   * Seconds that an instance is into a clip, that last started if none is named, from 0 to its duration; counted from the start
   * on the way back too.
   *
   * @category Play and blend
   */
  getTimeAt(index: number, layer?: LayerReference, clip?: ClipReference): number {
    return this.playback.getTime(index, this.layerAt(index, layer), this.bakedClip(clip));
  }

  /**
   * Name of the clip that was last started on a layer of an instance; null if none was, or it was stopped.
   *
   * @category Play and blend
   */
  getClipAt(index: number, layer?: LayerReference): string | null {
    return this.playback.clipOf(index, this.layerAt(index, layer))?.name ?? null;
  }

  /**
   * Whether an instance's clip moves on: it is not paused, has not finished, and its time scale is not 0.
   *
   * @category Play and blend
   */
  isPlayingAt(index: number, layer?: LayerReference): boolean {
    return this.playback.isPlaying(index, this.layerAt(index, layer));
  }

  /**
   * Lets instances be posed anew so many times a second, and in between stay as they are: far ones need no more than 15. Poses
   * of one rate are spread evenly over frames. When an instance starts to play something else, or is changed otherwise, it is
   * posed in the next frame. Rays, sockets and all else that asks for a pose get the one of that very moment.
   *
   * Levels of detail may have rates too, see `CrowdLevels`; the lower one holds.
   *
   * Makes a difference where a pass poses instances, in tracks; the WebGL 2 backend of WebGPURenderer poses all.
   *
   * @param rate Poses a second; 0 or Infinity for one in every frame.
   * @throws If there is no such instance, or that is no rate.
   *
   * @category See
   */
  setPoseRateAt(instances: Instances, rate: number): this {
    checkPoseRate(rate);
    return this.each(instances, (index) => {
      // Shaders read it as a float32, in which very large numbers are infinite too.
      this.playback.setPoseRate(index, Math.fround(rate) === Infinity ? 0 : rate);
    });
  }

  /**
   * Poses a second that an instance is to have; 0 for one in every frame.
   *
   * @category See
   */
  getPoseRateAt(index: number): number {
    checkIndex(index, this.visibility);
    return this.playback.texels.rateOf(index);
  }

  /**
   * Whether an instance is paused.
   *
   * @category Play and blend
   */
  isPausedAt(index: number): boolean {
    checkIndex(index, this.visibility);
    return this.playback.isPaused(index);
  }

  /**
   * Advances the clock of all instances, and dispatches the events that are due, in the order they happened.
   *
   * @param delta Seconds since the last call. Events do not fire again when a negative one turns the clock back, but
   * for those of actions of objects, which run back as those of a mixer do.
   * @throws If it is no number, or more than thirty years.
   *
   * @category Play and blend
   */
  update(delta: number): this {
    if (!(Math.abs(delta) <= MAX_DELTA)) {
      throw new Error(`The delta is ${delta}; pass the seconds since the last frame.`);
    }
    this.crowd.update(delta);
    checkUpdate(this.crowd, this, delta);
    const { elements } = this.bindMatrix;
    elements[PARAM_CLOCK] = this.clock;
    elements[PARAM_EPOCH] = this.playback.time.epoch;
    return this;
  }

  /** A clip of the bone texture, where one is meant. */
  private bakedClip(clip: ClipReference): BakedClip;
  private bakedClip(clip: ClipReference | undefined): BakedClip | undefined;
  private bakedClip(clip: ClipReference | undefined): BakedClip | undefined {
    return clip === undefined ? undefined : this.boneTexture.clipTable.find(clip);
  }

  /** Number of a layer of an instance. */
  private layerAt(index: number, layer: LayerReference | undefined): number {
    checkIndex(index, this.visibility);
    return this.playback.layerIndex(layer);
  }

  /** Calls back for an instance, or each of a range, once it is known that all play the clip, if one is named. */
  private each(
    instances: Instances,
    callback: (index: number) => unknown,
    layer = 0,
    clip?: BakedClip,
  ): this {
    const { visibility, playback } = this;
    if (clip !== undefined)
      forEachInstance(instances, visibility, (index) => playback.playedPlace(index, layer, clip));
    forEachInstance(instances, visibility, callback);
    return this;
  }

  /**
   * Instances that exist: `count` without those that were deleted.
   *
   * @category Place
   */
  get instanceCount(): number {
    return this.visibility.existing;
  }

  /**
   * Adds an instance, which has the identity matrix, plays nothing, is visible, white and wears what the character wears; of an
   * instance that had its id before it has nothing. Nobody else's id changes.
   *
   * @returns Its id: the lowest of those that were deleted, else `count`, which grows by one. When the capacity is reached it is
   * doubled, see {@link SkinnedInstancedMesh.setCapacity} for what that costs.
   *
   * @category Place
   */
  addInstance(): number {
    return this.crowd.addInstance();
  }

  /**
   * Deletes an instance: it stops playing, is not drawn, casts no shadow, is not hit by rays, has no events, and nothing that is
   * attached to it shows. Its id may be given out again by {@link SkinnedInstancedMesh.addInstance}; until then methods given it throw,
   * and pass it over in ranges. Nobody else's id changes, nor does `count`.
   *
   * @throws If there is no such instance, or it was deleted before.
   *
   * @category Place
   */
  deleteInstance(id: number): this {
    checkIndex(id, this.visibility);
    if (id >= this.count) throw new Error(`There is no instance ${id}; the crowd's count is ${this.count}.`);
    this.crowd.delete(id);
    return this;
  }

  /**
   * Shows or hides instances. A hidden one is not drawn, casts no shadow, is not hit by rays, has no events, and nothing that is
   * attached to it shows. Its time goes on: shown again, it is where it would be then. What happened meanwhile is not told of.
   *
   * @throws If there is no such instance, or it was deleted.
   *
   * @category See
   */
  setVisibleAt(instances: Instances, visible: boolean): this {
    return this.each(instances, (id) => this.crowd.setVisible(id, visible));
  }

  /**
   * Whether an instance is visible, as {@link SkinnedInstancedMesh.setVisibleAt} has it; no camera is asked.
   *
   * @throws If there is no such instance, or it was deleted.
   *
   * @category See
   */
  getVisibleAt(id: number): boolean {
    checkIndex(id, this.visibility);
    return this.visibility.isVisible(id);
  }

  /**
   * Lets `count` fall past instances at its end that were deleted, so that {@link SkinnedInstancedMesh.setCapacity} can give room back,
   * and looks anew which instances stand near each other, which cameras and rays ask group by group. For after many have come,
   * gone or moved far; nobody's id changes.
   *
   * @category Place
   */
  optimize(): this {
    this.crowd.optimize();
    return this;
  }
  /**
   * Exchanges two instances: where they stand, what they play, how they look and whether they are hidden, in this mesh and in
   * all that is attached. Each has the other's id then. To remove one and leave all others their ids, call `deleteInstance`.
   *
   * @throws If there is no such instance, or it was deleted.
   *
   * @category Place
   */
  swapInstances(i: number, j: number): this {
    checkIndex(i, this.visibility);
    checkIndex(j, this.visibility);
    this.crowd.swap(i, j);
    return this;
  }

  /**
   * Makes room for more instances, or gives room back. What the instances are and play stays; new ones have the identity
   * matrix and play nothing. Whatever is attached gets as much room. `instanceMatrix` and the like become other objects.
   * Costs an upload of everything, so grow by doubling.
   *
   * @throws If the instances of the crowd would not fit: those below `count`, which `optimize` lowers past deleted ones.
   *
   * @category Place
   */
  setCapacity(capacity: number): this {
    checkCapacity(capacity, this.crowd.count);
    this.crowd.resize(capacity);
    return this;
  }

  /** A crowd of its own with the same instances, playing on from here. Materials and bone texture are shared. */
  override clone(recursive?: boolean): this {
    const { geometry, material, boneTexture, capacity, influences, shadowInfluences, interpolate } = this;
    const options = { influences, shadowInfluences, interpolate };
    const Class = this.constructor as typeof SkinnedInstancedMesh;
    return new Class(geometry, material, boneTexture, capacity, options).copy(this, recursive) as this;
  }

  /**
   * Frees what the crowd allocated: instance buffers, its copy of the geometry, its shadow materials. Its character, or its material and
   * bone texture, belong to the user, see `disposeCharacter`.
   */
  override dispose(): this {
    for (const feature of [...this.features]) feature.dispose?.();
    super.dispose();
    this.crowd.dispose();
    return this;
  }

  /** Takes over what the character's own meshes say of drawing, parts and morph targets. */
  private beginAs(character: Character): void {
    const { name, castShadow, receiveShadow, frustumCulled, renderOrder, layers, parts } = character;
    Object.assign(this, {
      name,
      castShadow,
      receiveShadow,
      frustumCulled,
      renderOrder,
      characterParts: parts,
    });
    this.layers.mask = layers;
    const { morphTargetInfluences, morphTargetDictionary } = character;
    if (morphTargetInfluences !== undefined) {
      this.morphTargetInfluences = [...morphTargetInfluences];
      this.morphTargetDictionary = { ...morphTargetDictionary };
    }
  }
}

/** @throws If it is no character, as where a file has none. */
function checkCharacter(character: Character): Character {
  if (character?.boneTexture?.isBoneTexture) return character;
  throw new Error(
    `${describe(character)} is no character; pass what bakeCharacter(root, clips) returns, or one of gltf.bakedCharacters, for which the loader needs the SkinnedInstancedMeshExtension.`,
  );
}

/** More would take 9 GB of the page's memory. */
const MOST_INSTANCES = 16_777_216;

/** @throws If it is no number of instances, or fewer than there are. */
function checkCapacity(capacity: number, count: number): void {
  if (Number.isInteger(capacity) && capacity >= count && capacity <= MOST_INSTANCES) return;
  throw new Error(
    `There cannot be ${describe(capacity)} instances; use a whole number from ${count} to ${MOST_INSTANCES}.`,
  );
}
