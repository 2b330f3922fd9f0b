import type { Box3, DataTexture, InstancedMesh, Intersection, Object3D, Vector3 } from 'three';
import type { MotionProgram } from '../../shaders/MotionProgram.js';
import type { BoneTexture } from '../animation/BoneTexture.js';
import type { PosedCrowd, PoseEditor, WrittenOnGPU } from '../animation/PoseSource.js';
import type { CharacterPart } from '../character/crowdGeometry.js';
import type { Influences } from '../constants.js';
import { CrowdViews } from '../culling/CrowdViews.js';
import type { InstanceGroups } from '../culling/InstanceGroups.js';
import type { ListNumber } from '../culling/LODSelector.js';
import type { InstanceColors } from '../instances/InstanceColors.js';
import type { InstanceData } from '../instances/InstanceData.js';
import type { InstanceTexture } from '../instances/InstanceTexture.js';
import { InstanceTransforms } from '../instances/InstanceTransforms.js';
import { InstanceVisibility } from '../instances/InstanceVisibility.js';
import type { MatrixTexels } from '../instances/MatrixTexels.js';
import type { UniformLayout } from '../instances/UniformLayout.js';
import { InstancePlayback } from '../playback/InstancePlayback.js';
import { type PlaybackEvent, PlaybackEvents, type PlaybackEventType } from '../playback/PlaybackEvents.js';
import { releaseBuffers } from '../utils/attributes.js';
import { type CrowdFeature, copyFeatures, type MeshFeature, sameKind } from './CrowdFeature.js';
import type { CrowdSkeleton } from './CrowdSkeleton.js';
import type { MorphInfluences } from './MorphInfluences.js';

/**
 * What all meshes of a crowd share: where its instances stand, what they play, and the bone texture that poses them. It
 * also keeps the meshes in step: whatever an instance has, in any of them, is resized, exchanged and copied together.
 */
export class Crowd {
  /** Which instances exist, and which of them are visible. */
  readonly visibility: InstanceVisibility;
  /** On which layers single instances are; null for those of the crowd. */
  layers: InstanceGroups['crowd']['layers'] = null;
  /** Where the instances stand. */
  readonly places: InstanceTransforms;
  /** What the instances play. */
  readonly playback: InstancePlayback;
  readonly events: PlaybackEvents = new PlaybackEvents(this);
  /** What cameras see of it. */
  readonly views: CrowdViews = new CrowdViews(this);
  /** What the instances have that belongs to no mesh. Whatever is added is carried along. */
  readonly data: InstanceData[];
  /** What the user has made with the crowd, in that order. */
  readonly features: CrowdFeature[] = [];
  /** Changes the poses of single instances; null while nothing does. */
  poseEdits: PoseEditor | null = null;
  /** Bodies of kinds that have other proportions, see `CrowdKinds`; null while there are none. */
  bodies: DataTexture | null = null;
  /** What the GPU writes of the instances; null while the CPU does. */
  written: WrittenOnGPU | null = null;
  /** Objects that stand for instances; null while there are none. */
  objects:
    | (InstanceData & {
        /** Instances exist again, and are visible, because `count` was raised. */
        returned(start: number, end: number): void;
        /** The instances were replaced by those of another crowd. */
        copied(): void;
        /** An instance was placed by its index. */
        placed(id: number): void;
        /** Call before instances are moved from where they are. */
        beforeMove(): void;
        /** Call once they were: objects go where their instances are. */
        afterMove(): void;
        /** Whether a ray may hit an instance: not if its hits in a mesh are in the list already. */
        mayHit(id: number, mesh: Object3D, intersects: readonly Intersection[]): boolean;
        /** The object that stands for an instance; null if none does. */
        objectOf(id: number): (Object3D & { notified(event: PlaybackEvent): void }) | null;
        /** The clock of the crowd has moved, and its events were dispatched. */
        advanced(): void;
        /** Whether an object has listeners for a type of events. */
        hasListeners(type: string): boolean;
      })
    | null = null;
  /** How often the crowd's own mesh was drawn, and updates of more than a second since one that was shorter. */
  draws = 0;
  longSteps = 0;
  /** When the first of these was, as of `performance.now()`. */
  longSince = 0;
  /** How many columns of palettes are joints, see `fitColumns`. */
  columns = 0;
  /** First the crowd's own mesh, whose `count` says which instances have events; then all that is attached. */
  members: readonly DrawnCrowd[] = [];

  constructor(
    /** Call `replaceBoneTexture` to set it. */
    public boneTexture: BoneTexture,
    count: number,
  ) {
    // There are no empty buffers.
    const capacity = Math.max(1, count);
    this.visibility = new InstanceVisibility(capacity);
    this.visibility.setCount(count);
    this.places = new InstanceTransforms(capacity);
    this.playback = new InstancePlayback(
      capacity,
      () => this.boneTexture.clipTable,
      () => this.boneTexture.data.tracks,
    );
    this.data = [this.visibility, this.places, this.playback];
  }

  /** The most instances there can be. */
  get capacity(): number {
    return this.places.attribute.count;
  }

  /** Instances that the crowd has now, with those that were deleted. */
  get count(): number {
    return this.visibility.count;
  }

  /** Whether the bounds of all meshes hold. */
  get frustumCulled(): boolean {
    return this.members.every(isFrustumCulled);
  }

  /** Bits of the layers that instances are on unless they have their own. */
  get layersMask(): number {
    return this.members[0]?.layers.mask ?? 1;
  }

  /** With frames, what instances play would be uploaded twice: as attributes, which a list does not fit, and as texels. */
  get culledByDefault(): boolean {
    return this.boneTexture.encoding === 'tracks';
  }

  /** @throws If the crowd has another of its kind. */
  use(feature: CrowdFeature): void {
    if (sameKind(this.features, feature))
      throw new Error(
        `The crowd has ${feature.constructor.name} already; use that one, or dispose it first.`,
      );
    this.features.push(feature);
  }

  /** Call when a feature was disposed. */
  drop(feature: CrowdFeature): void {
    const at = this.features.indexOf(feature);
    if (at >= 0) this.features.splice(at, 1);
  }

  /** Box around every pose of every mesh, relative to an instance. */
  boundsOfPoses(target: Box3): Box3 {
    target.makeEmpty();
    const { members } = this;
    for (let i = 0; i < members.length; i++) target.union(members[i].bounds.ofPoses());
    for (const feature of this.features) feature.extend?.(target);
    return target;
  }

  /** The mesh whose `count` says which instances there are. */
  get mesh(): DrawnCrowd {
    return this.members[0];
  }

  /** Call when the `count` of a mesh was set. That of the crowd's own mesh says which instances exist. */
  countChanged(member: DrawnCrowd, count: number): void {
    const { visibility } = this;
    if (member !== this.members[0]) return;
    for (let id = count; id < visibility.count; id++) if (visibility.isDeleted(id)) this.restore(id);
    const before = visibility.count;
    for (let id = before; id < count; id++) this.setVisible(id, true);
    visibility.setCount(count);
    if (before < count) this.objects?.returned(before, count);
  }

  /** Sets the `count` of all meshes. */
  setCount(count: number): void {
    this.members[0].count = count;
  }

  /** Shows or hides an instance. */
  setVisible(id: number, visible: boolean): void {
    if (this.visibility.setVisible(id, visible)) this.playback.observer?.started(id);
  }

  /** Lets an instance exist no more. What costs anything ends at once, all else when it exists again. */
  delete(id: number): void {
    this.visibility.delete(id);
    // First: actions that are brought to their end may tell listeners, who may ask for the object.
    this.objects?.reset?.(id);
    this.playback.reset(id);
    for (const feature of this.features) feature.reset?.(id);
  }

  /** Lets a deleted instance exist again, as a new one. */
  restore(id: number): void {
    this.visibility.restore(id);
    this.reset(id);
  }

  /** Gives out the lowest id that was deleted, else the next one, for which there is made room. */
  addInstance(): number {
    const deleted = this.visibility.lowestDeleted();
    if (deleted >= 0) {
      this.restore(deleted);
      return deleted;
    }
    const id = this.count;
    if (id === this.capacity) this.resize(id * 2);
    else this.reset(id);
    this.setCount(id + 1);
    return id;
  }

  /** Lets `count` fall past deleted instances, and puts those that are near each other into groups anew. */
  optimize(): void {
    let { count } = this;
    while (count > 0 && this.visibility.isDeleted(count - 1)) count--;
    this.setCount(count);
    this.views.groups.sort();
  }

  /** Lets an instance be as a new one is. */
  reset(id: number): void {
    const { data, features, members } = this;
    for (let i = 0; i < data.length; i++) data[i].reset?.(id);
    for (let i = 0; i < features.length; i++) features[i].reset?.(id);
    for (let i = 0; i < members.length; i++) {
      const { appearance } = members[i];
      for (let k = 0; k < appearance.length; k++) appearance[k].reset?.(id);
    }
  }

  /** Whether anyone listens to a type of events, on a mesh or on an object. */
  hasListeners(type: PlaybackEventType): boolean {
    const { members } = this;
    for (let i = 0; i < members.length; i++) if (hasListeners(members[i], type)) return true;
    return this.objects?.hasListeners(type) === true;
  }

  /** Moves the clock, and dispatches the events that are due on every mesh. */
  update(delta: number): void {
    const { events, features, playback, members } = this;
    for (let i = 0; i < members.length; i++) members[i].endDraws();
    events.beforeUpdate();
    playback.time.advance(delta);
    events.dispatch(this.announce);
    playback.driver?.advanced();
    for (let i = 0; i < features.length; i++) features[i].update?.(delta);
    this.objects?.advanced();
    playback.sweep();
  }

  /** Makes room for more instances, or gives room back. */
  resize(room: number): void {
    const capacity = Math.max(1, room);
    if (capacity === this.capacity) return;
    this.written?.refuse();
    this.releaseBuffers();
    for (const data of this.all()) data.resize?.(capacity);
    for (const member of this.members) member.instancesResized();
  }

  /** Exchanges two instances, with everything they have. */
  swap(i: number, j: number): void {
    if (i === j) return;
    this.written?.refuse();
    for (const data of this.all()) data.swap?.(i, j);
  }

  /**
   * @param except A mesh that need not be posed by it.
   * @throws If a bone texture cannot pose one of the others.
   */
  checkBoneTexture(boneTexture: BoneTexture, except?: DrawnCrowd): void {
    for (const member of this.members) if (member !== except) member.checkBoneTexture(boneTexture);
  }

  /** Takes over bone texture, places and playback of another crowd, and its number of instances. */
  copy(source: Crowd): void {
    if (source.boneTexture !== this.boneTexture) this.replaceBoneTexture(source.boneTexture);
    this.resize(source.capacity);
    this.views.copy(source.views);
    for (const data of this.data) {
      const same = sameKind(source.data, data);
      if (same !== undefined) data.copy?.(same);
    }
    copyFeatures(this.features, source.features, this.capacity, (feature) => feature.cloneFor?.(this));
    this.objects?.copied();
    this.events.restart();
  }

  dispose(): void {
    for (const feature of [...this.features]) feature.dispose?.();
    this.features.length = 0;
    for (const data of this.data) data.dispose?.();
    this.views.dispose();
  }

  /** Lets renderers free what is about to be replaced. */
  private releaseBuffers(): void {
    for (const { geometry, instanceColor } of this.members) {
      releaseBuffers(geometry, [this.places.attribute, instanceColor]);
    }
  }

  /** Lets another bone texture pose it, for which `checkBoneTexture` has been called. See `setBoneTexture` for what plays. */
  replaceBoneTexture(boneTexture: BoneTexture): void {
    for (const member of this.members) member.prepareBoneTexture(boneTexture);
    this.boneTexture = boneTexture;
    this.columns = 0;
    for (const feature of this.features) feature.boneTextureReplaced?.();
    for (const member of this.members) member.boneTextureReplaced();
  }

  /** Everything that an instance has, in all meshes. */
  private *all(): Iterable<InstanceData> {
    yield* this.data;
    yield this.events;
    if (this.playback.driver !== null) yield this.playback.driver;
    yield* this.features;
    for (const { appearance } of this.members) yield* appearance;
  }

  /** Dispatches an event of an instance on every mesh, and on the object that stands for it. */
  readonly announce = (event: PlaybackEvent): void => {
    // Before listeners may give its id to another one.
    const object = this.objects?.objectOf(event.instanceId);
    for (const member of this.members) member.dispatchEvent(event as never);
    object?.notified(event);
  };
}

/** Whether anyone listens to events of an object; three.js, which keeps listeners so, has no method that tells. */
export function hasListeners(object: object, type: string): boolean {
  const { _listeners } = object as { _listeners?: Record<string, unknown[]> };
  return _listeners?.[type] !== undefined && _listeners[type].length > 0;
}

const isFrustumCulled = ({ frustumCulled }: DrawnCrowd): boolean => frustumCulled;

/** What moves the vertices of a mesh beside clips: made by `InstanceMotions`. */
export interface MeshMotions {
  readonly program: MotionProgram;
  /** What shaders are told in each draw, see `MotionProgram`; `settle` writes them. */
  readonly numbers: Float32Array;
  /**
   * How far vertices may be moved: before they are skinned, in units of the geometry as it was modelled, and afterwards, in those of
   * the instance. They grow in steps, so that bounds need not be computed anew whenever a uniform changes.
   */
  readonly maxOffsetBefore: number;
  readonly maxOffsetAfter: number;
  /** Brings `numbers` up to what the crowd's clock and the uniforms are now. */
  settle(mesh: DrawnCrowd): void;
  /**
   * Moves a vertex as shaders do, so far as motions have a function for the CPU. Call `settle` before.
   *
   * @param target The vertex with morph targets applied; gets where it is in the instance's space.
   * @param pose Carries a position from where it was modelled to where it is posed.
   */
  moveVertex(
    mesh: DrawnCrowd,
    index: number,
    vertex: number,
    target: Vector3,
    pose: (position: Vector3) => Vector3,
  ): Vector3;
  /** Lets the same motions of another crowd go on from where they are in this one. */
  copyTime(from: DrawnCrowd, to: DrawnCrowd): void;
  /** What moves a mesh that is attached to the one that these move, and has no motions of its own. */
  attached(mesh: DrawnCrowd): MeshMotions | null;
  /** Of what random numbers of instances are made, where some are not made of ids; its texture is null while all are. */
  readonly seeds: { readonly texture: InstanceTexture | null };
}

/** How a mesh of a crowd is drawn. */
export interface DrawOptions {
  /** Joints that a vertex follows at most; its strongest are kept. @default 4 */
  influences?: Influences;
  /** The same in shadow maps, where two or one are often enough. @default influences */
  shadowInfluences?: Influences;
  /** Whether two baked frames are mixed; else the nearest is shown. @default true */
  interpolate?: boolean;
}

/**
 * A mesh that draws a crowd, as all know it that does not make one: backends, features, queries. The class is `CrowdMesh`, which
 * comes later in the order of imports.
 */
export interface DrawnCrowd
  extends InstancedMesh,
    Omit<PosedCrowd, 'geometry' | 'count' | 'playback' | 'boneTexture' | 'crowd'> {
  /** @internal */
  readonly isCrowdMesh: true;
  /** Whether it draws what is far away in the place of another mesh. */
  readonly isLevelMesh?: boolean;
  /** The mesh that it is attached to. @internal */
  readonly owner?: object;
  /** Whether it follows a joint: what its bone texture knows is then of the mesh that it is attached to. */
  readonly isJointAttachment?: boolean;
  /** What all meshes of the crowd share. @internal */
  readonly crowd: Crowd;
  /** @internal */
  readonly playback: InstancePlayback;
  readonly boneTexture: BoneTexture;
  /** The most instances there can be. */
  readonly capacity: number;
  /** Whether three.js shall bind `skeleton.boneTexture` and `bindMatrix` at each draw. @internal */
  isSkinnedMesh: boolean;
  /** @internal */
  readonly skeleton: CrowdSkeleton;
  /** Seconds since the epoch of the shared clock began. @internal */
  readonly clock: number;
  /** Seconds by which the crowd was advanced in all. */
  readonly elapsed: number;
  readonly shadowInfluences: Influences;
  /** Whether clips move the geometry's morph targets. @internal */
  readonly clipsMorph: boolean;
  /** Which instances each camera sees. @internal */
  readonly views: CrowdViews;
  /** Which instances it draws. @internal */
  readonly list: ListNumber;
  /** `ofPoses` is the box around every pose, relative to an instance. @internal */
  readonly bounds: { ofPoses(): Box3; dropStale(): void; drop(): void };
  /** Parts of the character; those of another geometry have numbers for names. @internal */
  readonly characterParts: readonly CharacterPart[];
  /** Which parts of instances are shown and in what colour; null for all, as they were baked. */
  readonly parts: {
    readonly count: number;
    readonly texture: InstanceTexture;
    /** Whether parts of instances were given colours. */
    readonly isColored: boolean;
    isShown(index: number, part: number): boolean;
  } | null;
  /** @internal */
  instanceParts: (NonNullable<DrawnCrowd['parts']> & MeshFeature) | null;
  /** What instances have for shaders in the place of the material's. */
  uniforms: {
    /** Null while there are none. */
    readonly numbers: { readonly layout: UniformLayout; readonly texture: InstanceTexture } | null;
  } | null;
  /** Its numbers; null while there is nothing. @internal */
  readonly instanceUniforms: NonNullable<DrawnCrowd['uniforms']>['numbers'];
  /** What moves vertices; null where nothing does. @internal */
  readonly motions: MeshMotions | null;
  /** Influences of morph targets that instances have had. @internal */
  readonly morphs: MorphInfluences;
  /** @internal */
  readonly colors: InstanceColors;
  /** Matrices and colours as texels. @internal */
  readonly texels: MatrixTexels;
  /** What the instances look like in this mesh, and what features made of it. @internal */
  readonly appearance: InstanceData[];
  /** Brings materials and draw parameters up to what the mesh is now. @internal */
  prepareDraw(): void;
  /** Called when there is room for another number of instances, and buffers may be other objects. @internal */
  instancesResized(): void;
  /** @throws If a bone texture cannot pose the mesh. @internal */
  checkBoneTexture(boneTexture: BoneTexture): void;
  /** Called before another bone texture, which was checked, takes the place of the present one. @internal */
  prepareBoneTexture(boneTexture: BoneTexture): void;
  /** Called once it has. @internal */
  boneTextureReplaced(): void;
  /** Called when nothing is being drawn: a draw in which an error was thrown has not ended by itself. @internal */
  endDraws(): void;
}
