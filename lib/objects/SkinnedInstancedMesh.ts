import type { AnimationClip, BufferGeometry, Material, Matrix4, Object3D } from 'three';
import { PARAM_CLOCK } from '../constants.js';
import { Crowd } from '../crowd/Crowd.js';
import { setWeights, weightOf } from '../crowd/clipWeights.js';
import { type ClipOfInstance, type PlayOptionsOfInstance, playClips } from '../crowd/playClips.js';
import { checkIndex, forEachInstance, type Instances } from '../instances/instanceRange.js';
import { applyRootMotion } from '../playback/applyRootMotion.js';
import { checkTime, checkTimeScale, type PlayOptions } from '../playback/PlayOptions.js';
import { loadPlayback, type PlaybackJSON, savePlayback } from '../playback/playbackJSON.js';
import type { ClipReference } from '../poses/ClipTable.js';
import type { BoneTexture } from '../texture/BoneTexture.js';
import { checkFinite } from '../utils/checkFinite.js';
import { CharacterMesh } from './CharacterMesh.js';
import { checkCount, checkIsBoneTexture } from './checks.js';
import { createCharacter, type FromOptions } from './createCharacter.js';
import type { SkinnedInstancedMeshOptions } from './crowdTypes.js';
import { JointAttachment } from './JointAttachment.js';

const NAME = 'SkinnedInstancedMesh';

/** Seconds that `update` takes at once, some thirty years; beyond it, it was passed a date. */
const MAX_DELTA = 1e9;

/**
 * A crowd of animated characters in one draw call per material: an `InstancedMesh` whose instances play clips of a
 * {@link BoneTexture}, each its own at its own time, posed in the vertex shader.
 *
 * An instance with matrix M playing clip C at time t looks like a clone of the baked root with `matrix` M whose
 * `AnimationMixer` plays C at t. Instances that play nothing stand in the rest pose. M must not mirror, see
 * {@link SkinnedInstancedMesh.setMatrixAt}.
 *
 * Materials passed in gain an `onBeforeCompile` that other meshes do not notice; one set by the user still runs. The
 * geometry is copied; change `mesh.geometry`, not the one passed in.
 *
 * ```ts
 * const crowd = SkinnedInstancedMesh.from(gltf.scene, gltf.animations, 10_000);
 * scene.add(crowd);
 * crowd.setMatrixAt(0, matrix);
 * crowd.play(0, 'Run', { timeScale: 1.1 });
 * renderer.setAnimationLoop(() => {
 *   timer.update();
 *   crowd.update(timer.getDelta());
 *   renderer.render(scene, camera);
 * });
 * ```
 */
export class SkinnedInstancedMesh extends CharacterMesh {
  override readonly type: string = 'SkinnedInstancedMesh';
  /** For type testing. */
  readonly isSkinnedInstancedMesh = true;

  /** Materials and textures that were made for this crowd, whatever it draws with now. */
  private owned: readonly { dispose(): void }[] = [];

  /**
   * @param geometry Geometry of a skinned mesh, with `skinIndex` and `skinWeight`. It is copied.
   * @param material One material, or one for each group of the geometry.
   * @param boneTexture Baked from the skinned mesh's character.
   * @param count Number of instances, and the most there can be.
   * @throws If the geometry and the bone texture do not fit together.
   */
  constructor(
    geometry: BufferGeometry,
    material: Material | Material[],
    boneTexture: BoneTexture,
    count: number,
    options: SkinnedInstancedMeshOptions = {},
  ) {
    checkIsBoneTexture(boneTexture);
    checkCount(count);
    super(geometry, material, new Crowd(boneTexture, count), options);
  }

  /**
   * A crowd of `count` instances of the character under `root`, with all its meshes and materials.
   *
   * @param root E.g. `gltf.scene`; nothing in it is changed but for the materials, see the class.
   * @param clips E.g. `gltf.animations`; without any, the crowd stands in its rest pose.
   * @throws What {@link BoneTexture.bake} throws, and if there is something under `root` that cannot be instanced.
   */
  static from(
    root: Object3D,
    clips: readonly AnimationClip[],
    count: number,
    options: FromOptions = {},
  ): SkinnedInstancedMesh {
    // What cannot be drawn is refused before the time is spent on baking.
    checkCount(count);
    const character = createCharacter(root, clips, options, `${NAME}.from`);
    const { geometry, material, boneTexture } = character;
    const crowd = new SkinnedInstancedMesh(geometry, material, boneTexture, count, options);
    character.dress(crowd);
    crowd.owned = character.owned;
    crowd.wardrobe.paths = character.partPaths;
    for (const part of options.hiddenParts ?? []) crowd.setPartVisibleAt(crowd.all, part, false);
    return crowd;
  }

  /**
   * Starts a clip, as `mixer.clipAction(clip).reset().play()` does with the same options. It takes the place of what the
   * instance plays, which with `fade` fades out together, also in the middle of another fade: of more than two clips that
   * fade out, or three in encoding `'tracks'`, the one that shows least is dropped.
   *
   * With `weight`, in encoding `'tracks'`, it plays beside what the instance plays: up to four clips, mixed as by an
   * `AnimationMixer`. A clip that plays already is started anew.
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
    playClips(this.crowd, instances, clip, options, `${NAME}.play`);
    return this;
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

  /**
   * Changes the weight of a clip that instances play, beside which others may play: see {@link PlayOptions.weight}. A clip
   * at weight 0 plays on unseen. One that was warped goes on at its own speed.
   *
   * @param weight 0 to 1.
   * @param options In `fade` seconds, 0 by default.
   * @throws If an instance does not play the clip, or the bone texture's encoding is not `'tracks'`.
   */
  setWeightAt(
    instances: Instances,
    clip: ClipReference,
    weight: number,
    options: { fade?: number } = {},
  ): this {
    setWeights(this.crowd, instances, clip, weight, options, `${NAME}.setWeightAt`);
    return this;
  }

  /** Weight at which an instance plays a clip, as `AnimationAction.getEffectiveWeight()`; 0 if it does not play it. */
  getWeightAt(index: number, clip: ClipReference): number {
    return weightOf(this.crowd, index, clip, `${NAME}.getWeightAt`);
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
    checkIndex(index, this.capacity, `${NAME}.getTimeScaleAt`);
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
    checkIndex(index, this.capacity, `${NAME}.getTimeAt`);
    const fps = this.playback.clipOf(index)?.fps ?? 0;
    return fps === 0 ? 0 : this.playback.within(index) / fps;
  }

  /** Name of the clip that was last started on an instance; null if none was, or it was stopped. */
  getClipAt(index: number): string | null {
    checkIndex(index, this.capacity, `${NAME}.getClipAt`);
    return this.playback.clipOf(index)?.name ?? null;
  }

  /** Whether an instance's clip moves on: it is not paused, has not finished, and its time scale is not 0. */
  isPlayingAt(index: number): boolean {
    checkIndex(index, this.capacity, `${NAME}.isPlayingAt`);
    return this.playback.isPlaying(index);
  }

  /** Whether an instance is paused. */
  isPausedAt(index: number): boolean {
    checkIndex(index, this.capacity, `${NAME}.isPausedAt`);
    return this.playback.isPaused(index);
  }

  /**
   * Advances the clock of all instances, and dispatches the events that are due, in the order they happened.
   *
   * @param delta Seconds since the last call. Events do not fire again when a negative one turns the clock back.
   * @throws If it is no number, or more than thirty years.
   */
  update(delta: number): this {
    if (!(Math.abs(delta) <= MAX_DELTA)) {
      throw new Error(`${NAME}.update: delta is ${delta}; pass the seconds since the last frame.`);
    }
    this.crowd.update(delta);
    this.bindMatrix.elements[PARAM_CLOCK] = this.clock;
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

  override attachToJoint(
    joint: string | number,
    geometry: BufferGeometry,
    material: Material | Material[],
    offset?: Matrix4,
  ): JointAttachment {
    return JointAttachment.create(this, joint, geometry, material, offset, `${NAME}.attachToJoint`);
  }

  /** A crowd of its own with the same instances, playing on from here. Materials and bone texture are shared. */
  override clone(recursive?: boolean): this {
    const { geometry, material, boneTexture, capacity } = this;
    const Class = this.constructor as typeof SkinnedInstancedMesh;
    return new Class(geometry, material, boneTexture, capacity, this).copy(this, recursive) as this;
  }

  /**
   * Frees what the crowd allocated: instance buffers, its copy of the geometry, its shadow materials, and the bone
   * texture and merged materials that {@link SkinnedInstancedMesh.from} made. Materials, and a bone texture passed in,
   * belong to the user.
   */
  override dispose(): this {
    super.dispose();
    this.crowd.dispose();
    for (const made of this.owned) made.dispose();
    return this;
  }

  /** Calls back for an instance, or each of a range. */
  private each(instances: Instances, method: string, callback: (index: number) => void): this {
    forEachInstance(instances, this.capacity, `${NAME}.${method}`, callback);
    return this;
  }
}
