import {
  type AnimationBlendMode,
  Box3,
  BufferGeometry,
  Color,
  type EventListener,
  Matrix4,
  type Object3D,
  type Raycaster,
  Skeleton,
  type Vector3,
} from 'three';
import { SLOT_BY_HAND } from '../../shaders/editLayout.js';
import type { EventOfAction, InstanceAction, SkinnedInstanceEventMap } from '../actions/InstanceMixer.js';
import { type ActionOptions, InstanceMixer } from '../actions/InstanceMixer.js';
import type { ClipReference } from '../animation/ClipTable.js';
import { hasListeners } from '../core/Crowd.js';
import type { CrowdMesh } from '../crowd/CrowdMesh.js';
import { expandByPose } from '../crowd/poseQueries.js';
import type { SkinnedInstancedMesh } from '../crowd/SkinnedInstancedMesh.js';
import type { LookAtOptions, Proportions } from '../features/jointEdits/JointEdits.js';
import type { PlaybackEvent } from '../playback/PlaybackEvents.js';
import { type CrowdIntersection, mayMeet, raycastCrowd } from '../queries/raycastCrowd.js';
import type { InstanceUniforms } from '../surface/InstanceUniforms.js';
import type { UniformValue } from '../surface/uniformValues.js';
import { affineToMatrix4 } from '../utils/affine.js';
import { warnOnce } from '../utils/messages.js';
import { type InstanceBone, InstanceBones, jointEditsOf } from './InstanceBones.js';
import { ObservedColor } from './observed.js';
import { type InstanceHome, isInstanceBone, PlacedInstance } from './PlacedInstance.js';
import { storeOf } from './PosedNodes.js';

/**
 * The crowd's uniforms, which this module does not make: pages whose instances have none do not download them.
 *
 * @throws If it has none.
 */
function uniformsOf({ uniforms }: SkinnedInstancedMesh, name: string): InstanceUniforms {
  if (uniforms === null) throw new Error(`The ${name} of an instance needs a new InstanceUniforms(crowd).`);
  return uniforms;
}

const IS_MESH = /^is(Skinned)?Mesh$/;
/** In the text of a function. */
const LOOKS_FOR_MESHES = /\.is(Skinned)?Mesh\b|instanceof\b[^)&|;]*Mesh\b/;

/** Warns, once for each kind of search, that it finds nothing. */
const warnOfNoMeshes = (kind: string): void =>
  warnOnce(
    `SkinnedInstance: ${kind} finds nothing, since an instance has no meshes; the crowd is one for all. The instance has color, emissive, opacity and setUniform, new InstanceParts(crowd) hides its parts, new Box3().setFromObject(instance) measures it, dispose() ends it.`,
  );

/** The same, unless the search finds the crowd as well: it came by already, or comes by yet. */
const warnUnlessMet = ({ metBy }: InstanceHome, search: object, kind: string): void =>
  queueMicrotask(() => {
    if (!metBy.has(search)) warnOfNoMeshes(kind);
  });

const _color = /*@__PURE__*/ new Color();

/**
 * An instance of a crowd that is an object of its own, as a `SkinnedMesh` would be: placed by `position`, `rotation` and `scale`,
 * with children and bones, anywhere in the scene, and with the methods of an `AnimationMixer`.
 *
 * It begins as a child of its crowd, and is drawn at once. In the crowd it is one of the instances, known there by
 * {@link PlacedInstance.instanceId}.
 *
 * ```ts
 * const knight = new SkinnedInstance(crowd);
 * knight.position.x = 3;
 * knight.clipAction('Walk').play();
 * ```
 *
 * @category Instances as objects
 */
export class SkinnedInstance extends PlacedInstance {
  override readonly type: string = 'SkinnedInstance';
  /** For type testing. */
  readonly isSkinnedInstance = true;
  private ownMixer: InstanceMixer<this> | null = null;
  private ownColor: ObservedColor | null = null;
  private ownEmissive: ObservedColor | null = null;
  private intensity = 1;
  private ownBones: InstanceBones | null = null;
  private ownSkeleton: Skeleton | null = null;

  /** All that an `AnimationMixer` has: `const { mixer } = knight`. */
  get mixer(): InstanceMixer<this> {
    this.ownMixer ??= new InstanceMixer<this>(this.crowd.crowd, this);
    return this.ownMixer;
  }

  /**
   * The action of a clip, as `mixer.clipAction(clip)` of three.js gives it: the same one each time. While an instance has actions
   * that are played, they alone say what it plays on their layers; `crowd.play` and the like, called with its `instanceId`, end
   * them and go on from what they show.
   *
   * @param clip The `AnimationClip` that was baked, or a name, or an index.
   * @param where On which `layer` it plays, or the instance itself, as mixers take a root.
   * @param blendMode As the clip was baked.
   * @throws As {@link InstanceMixer.clipAction}.
   */
  clipAction(
    clip: ClipReference,
    where?: ActionOptions | Object3D | null,
    blendMode?: AnimationBlendMode,
  ): InstanceAction<this> {
    return this.mixer.clipAction(clip, where, blendMode);
  }

  /** Stops all actions, at once. */
  stopAllAction(): this {
    this.ownMixer?.stopAllAction();
    return this;
  }

  /**
   * How fast time passes for the actions, their fades and warps: 1 as for the crowd, 0 holds them, negative runs them back.
   *
   * @default 1
   */
  get timeScale(): number {
    return this.ownMixer?.timeScale ?? 1;
  }

  /** Counts from now on. */
  set timeScale(value: number) {
    this.mixer.timeScale = value;
  }

  /** Multiplies the colour of the material, as `setColorAt`. */
  get color(): Color {
    const { crowd } = this;
    this.ownColor ??= new ObservedColor(
      crowd.instanceColor === null ? _color.set(1, 1, 1) : crowd.getColorAt(this.index, _color),
      (color) => crowd.setColorAt(this.index, color),
    );
    return this.ownColor;
  }

  /** Is added to what the material emits. */
  get emissive(): Color {
    const { crowd } = this;
    this.ownEmissive ??= new ObservedColor(
      uniformsOf(crowd, 'emissive').getAt(this.index, 'emissive', _color),
      (color) => this.setUniform('emissive', _color.copy(color).multiplyScalar(this.intensity)),
    );
    return this.ownEmissive;
  }

  /** Multiplies `emissive`. @default 1 */
  get emissiveIntensity(): number {
    return this.intensity;
  }

  /** See the getter. */
  set emissiveIntensity(value: number) {
    // Made first: it begins with what the instance emits already.
    const { emissive } = this;
    this.intensity = value;
    emissive.copy(emissive);
  }

  /** Multiplies the material's opacity. @default 1 */
  get opacity(): number {
    return this.numberOf('opacity', 1);
  }

  /** Shows only as the material lets it: with `transparent`, `alphaHash` or `alphaTest`. */
  set opacity(value: number) {
    this.setUniform('opacity', value);
  }

  /** In the place of the material's; null for that. */
  get roughness(): number | null {
    return this.numberOf('roughness', null);
  }

  /** See the getter. */
  set roughness(value: number | null) {
    this.setUniform('roughness', value);
  }

  /** In the place of the material's; null for that. */
  get metalness(): number | null {
    return this.numberOf('metalness', null);
  }

  /** See the getter. */
  set metalness(value: number | null) {
    this.setUniform('metalness', value);
  }

  /** Which layer of the material's `map` it shows, where that is an array of textures. @default 0 */
  get mapLayer(): number {
    return this.numberOf('mapLayer', 0);
  }

  /** See the getter. */
  set mapLayer(value: number) {
    this.setUniform('mapLayer', value);
  }

  /** The number that it has of the crowd's uniforms, or `none` while there are none. */
  private numberOf<T>(name: 'opacity' | 'roughness' | 'metalness' | 'mapLayer', none: T): number | T {
    return this.crowd.uniforms === null ? none : uniformsOf(this.crowd, name).getAt(this.index, name);
  }

  /**
   * Gives it the value of a uniform of the crowd's `InstanceUniforms`.
   *
   * @throws If the crowd has no `InstanceUniforms`, or there is no such uniform, or the value is of another type or not finite.
   */
  setUniform(name: string, value: UniformValue | null): this {
    uniformsOf(this.crowd, name).setAt(this.index, name, value as UniformValue);
    return this;
  }

  /** An influence of its own by the name of a morph target, see {@link InstanceMorphs}, which the crowd needs; null for the one that all share. */
  setMorphInfluence(name: string, influence: number | null): this {
    const { ofInstances } = this.crowd.morphs;
    if (ofInstances === null) throw new Error('setMorphInfluence needs a new InstanceMorphs(crowd).');
    ofInstances.setInfluenceAt(this.index, name, influence);
    return this;
  }

  /** Takes the pose of objects of the same names in the place of its clips, see {@link JointEdits.setPoseAt}; null lets the clips come back. */
  setPose(pose: Object3D | Skeleton | null, options?: { fade?: number }): this {
    jointEditsOf(this.crowd).setPoseAt(this.index, pose, options);
    return this;
  }

  /**
   * Turns a joint towards a place, see {@link JointEdits.lookAt}; null ends that.
   *
   * @param target In the space of the crowd.
   */
  lookAtJoint(joint: string | number, target: Vector3 | null, options?: LookAtOptions): this {
    jointEditsOf(this.crowd).lookAt(this.index, joint, target, options);
    return this;
  }

  /**
   * As that of `Object3D`, with what hangs on bones; between instances of one crowd also colours, uniforms and what the material has,
   * parts, morph influences, proportions, the kind, and how what is attached looks. What it plays, joints that were moved by hand and
   * listeners stay as they are.
   */
  override copy(source: this, recursive = true): this {
    super.copy(source, false);
    if (source === this) return this;
    const { crowd, index } = this;
    if (source.crowd === crowd) {
      const { members, features } = crowd.crowd;
      for (const { appearance } of members) for (const look of appearance) look.copyAt?.(source.index, index);
      for (const feature of features) feature.copyAt?.(source.index, index);
      // They are read anew when they are asked for.
      this.ownColor = this.ownEmissive = null;
      this.intensity = 1;
      storeOf(crowd)?.copyProportions(source.index, index);
    }
    if (!recursive) return this;
    for (const child of source.children) {
      // In the same order, by which `SkeletonUtils.clone` goes.
      if (isInstanceBone(child)) this.makeBones();
      else this.add(child.clone());
    }
    for (const bone of source.ownBones?.all ?? []) {
      for (const child of bone.children) {
        if (!isInstanceBone(child)) this.getObjectByName(bone.name)?.add(child.clone());
      }
    }
    return this;
  }

  /**
   * A further instance of the crowd, placed and coloured alike, with clones of the children. It plays nothing, as the clone of a
   * `SkinnedMesh` has no mixer, and begins as a child of the crowd.
   *
   * @throws If it was disposed, or the crowd's `count` has left it out.
   */
  override clone(recursive?: boolean): this {
    const { crowd, index } = this;
    const { count } = crowd.visibility;
    if (index >= count) {
      // The clone would be given its place.
      throw new Error(
        `SkinnedInstance.clone: "${this.name}" is instance ${index}, which the crowd's count of ${count} leaves out; raise count first.`,
      );
    }
    const Class = this.constructor as new (crowd: this['crowd']) => this;
    return new Class(crowd).copy(this, recursive);
  }

  /** The index by which the crowd knows it. @throws If it stands for no instance any more. */
  protected get index(): number {
    if (this.instanceId >= 0) return this.instanceId;
    throw new Error(
      `SkinnedInstance: "${this.name}" was disposed, and is no instance any more; make another one by new SkinnedInstance(crowd).`,
    );
  }

  /**
   * Its bones, in the order in which `traverse` meets them. They hang below the instance as the character's bones below its root, and
   * are made when they are first asked for: by this, by `getObjectByName`, or by `new SkeletonHelper(knight)`.
   *
   * With encodings other than `'tracks'` they follow the joints too, but cannot be written to, and nodes between joints are left out.
   */
  get bones(): InstanceBone[] {
    return this.makeBones().list;
  }

  /** Its bones as three.js's `Skeleton` has them, with the inverses of their bind matrices, for whatever asks for one. */
  get skeleton(): Skeleton {
    this.ownSkeleton ??= new Skeleton(
      [...this.bones],
      this.bones.map(({ name }) => this.inverseOf(name)),
    );
    return this.ownSkeleton;
  }

  /** False: it is no bone. three.js's `SkeletonHelper` asks this before it looks for bones below, which is when they are made. */
  get isBone(): false {
    this.makeBones();
    return false;
  }

  /** Finds bones as well, which it makes if the name is that of one. A warning says that there are no meshes. */
  override getObjectByProperty(name: string, value: unknown): Object3D | undefined {
    const { tracks, jointNames } = this.crowd.boneTexture.data;
    if (name === 'name' && (tracks?.names ?? jointNames).includes(value as string)) this.makeBones();
    const found = super.getObjectByProperty(name, value);
    if (found === undefined && IS_MESH.test(name)) warnOfNoMeshes(`getObjectByProperty('${name}')`);
    return found;
  }

  /** A warning says that there are no meshes. */
  override getObjectsByProperty(name: string, value: unknown, result: Object3D[] = []): Object3D[] {
    const { length } = result;
    super.getObjectsByProperty(name, value, result);
    if (result.length === length && IS_MESH.test(name))
      warnUnlessMet(this.home, result, `getObjectsByProperty('${name}')`);
    return result;
  }

  /**
   * Meets the bones, too, which it makes. One that begins at the crowd, where it stands, meets none but what hangs on them. A warning
   * says that there are no meshes where the callback looks for some.
   */
  override traverse(callback: (object: Object3D) => void): void {
    // Nothing else tells of `instanceof`. What hangs on it may be what is looked for.
    const sought = this.children.length === this.idleChildren && LOOKS_FOR_MESHES.exec(String(callback));
    if (sought) warnUnlessMet(this.home, callback, `traverse, by "${sought[0]}",`);
    this.makeBones();
    super.traverse(callback);
  }

  /** Ends all edits of its joints, whoever made them. Proportions and live poses stay. */
  clearEdits(): this {
    storeOf(this.crowd)?.clear(this.index, undefined, SLOT_BY_HAND);
    return this;
  }

  /**
   * Builds it otherwise than the character was, see {@link JointEdits.setProportionsAt}: `knight.setProportions({ Head: 1.4 })`.
   *
   * @throws As that.
   */
  setProportions(proportions: Proportions | null): this {
    jointEditsOf(this.crowd).setProportionsAt(this.index, proportions);
    return this;
  }

  /** @internal */
  advanced(): boolean {
    return this.ownBones?.advanced() === true;
  }

  private makeBones(): InstanceBones {
    this.ownBones ??= new InstanceBones(this);
    return this.ownBones;
  }

  private inverseOf(name: string): Matrix4 {
    const { jointNames, jointBinds } = this.crowd.boneTexture.data;
    const bind = jointBinds[jointNames.indexOf(name)] ?? null;
    return bind === null ? new Matrix4() : affineToMatrix4(bind, 0, new Matrix4()).invert();
  }

  /**
   * Intersects the instance as it is posed now, and what is attached to it. A ray that was cast at the crowd, or at the scene, has
   * hit it already; nothing is in one list of intersections twice.
   */
  override raycast(raycaster: Raycaster, intersects: CrowdIntersection[]): void {
    const { crowd, instanceId } = this;
    if (instanceId < 0 || !mayMeet(crowd, raycaster, instanceId)) return;
    for (const mesh of meshesOf(crowd, instanceId)) raycastCrowd(mesh, raycaster, intersects, instanceId);
  }

  /**
   * Box around it and what is attached to it, as it is posed now, in its own space: what `new Box3().setFromObject(knight)` asks for.
   * Computed anew each time, on the CPU.
   */
  get boundingBox(): Box3 {
    const box = new Box3();
    const { crowd, instanceId } = this;
    if (instanceId >= 0) for (const mesh of meshesOf(crowd, instanceId)) expandByPose(mesh, instanceId, box);
    return box;
  }

  /** Without vertices: `Box3` looks whether there is one before it asks for `boundingBox`. @internal */
  get geometry(): BufferGeometry {
    nothing ??= new BufferGeometry();
    return nothing;
  }

  override addEventListener<T extends Extract<keyof SkinnedInstanceEventMap, string>>(
    type: T,
    listener: EventListener<SkinnedInstanceEventMap[T], T, this>,
  ): void {
    super.addEventListener(type, listener);
    this.listened(type);
  }

  /** @internal */
  notified(event: PlaybackEvent & EventOfAction): void {
    if (!this.isListenedTo(event.type)) return;
    const action = () => event.action ?? this.clipAction(event.clip, { layer: event.layer });
    const told = {
      ...event,
      get action() {
        return action();
      },
    };
    this.dispatchEvent(told);
    this.ownMixer?.dispatchEvent(told as never);
  }

  /** @internal */
  listened(type: string): void {
    this.home.listened(type, this);
  }

  /** @internal */
  isListenedTo(type: string): boolean {
    return hasListeners(this, type) || (this.ownMixer !== null && hasListeners(this.ownMixer, type));
  }
}

let nothing: BufferGeometry | null = null;

/** The meshes that show an instance: the crowd, or that of its kind, and what is attached; rays pass levels of detail. */
function meshesOf(mesh: CrowdMesh, index: number): CrowdMesh[] {
  const attached = mesh.attachments.filter(isHit).flatMap((one) => meshesOf(one, index));
  return mesh.views.kinds?.shows(mesh, index) === false ? attached : [mesh, ...attached];
}

function isHit(mesh: object): boolean {
  const { isLevelMesh, isKindMesh } = mesh as { isLevelMesh?: boolean; isKindMesh?: boolean };
  return isLevelMesh !== true || isKindMesh === true;
}
