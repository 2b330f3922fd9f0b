import type {
  Box3,
  BufferGeometry,
  InstancedBufferAttribute,
  Intersection,
  Matrix4,
  Mesh,
  Object3D,
  Vector3,
} from 'three';
import type { MotionProgram } from '../../shaders/MotionProgram.js';
import type { BoneTexture } from '../animation/BoneTexture.js';
import type { BoxArray } from '../animation/jointBoxes.js';
import type { EditModel } from '../animation/mixPose.js';
import type { PosedBeyondClips } from '../animation/posedBounds.js';
import type { InstanceTexture } from '../instances/InstanceTexture.js';
import type { UniformLayout } from '../instances/UniformLayout.js';
import type { PlaybackEvent } from '../playback/PlaybackEvents.js';
import type { CrowdMesh } from './CrowdMesh.js';

/**
 * Something that every instance of a crowd has: where it stands, what it plays, what it looks like. A crowd keeps a list of
 * them, and carries each along when instances are exchanged, copied or given more room.
 */
export interface InstanceData {
  /** Makes room for more instances, or gives room back; those that stay keep what they have. */
  resize(capacity: number): void;
  /** Exchanges two instances. */
  swap(i: number, j: number): void;
  /** Gives an instance what instances have to begin with, in place of what it has. */
  reset(index: number): void;
  /** Copies what the instances of another crowd have. Both crowds have room for the same number. */
  copy(source: this): void;
  /** Frees what was allocated. */
  dispose(): void;
}

/**
 * What a crowd can do beside playing: an object that the user makes with the crowd, `new JointEdits(crowd)`, and whose
 * constructor calls `crowd.use(this)`. The crowd carries it along with its instances; what it does to shaders, lists and
 * poses it puts where the crowd asks for that by an interface, never by the name of a feature. What draws the instances once more,
 * as an outline would, is an `AttachedMesh`; what shaders read of each instance are `InstanceUniforms`.
 */
export interface CrowdFeature {
  /** Makes room for more instances, or gives room back; those that stay keep what they have. */
  resize?(capacity: number): void;
  /** Exchanges two instances. */
  swap?(i: number, j: number): void;
  /** Gives an instance what instances have to begin with, in place of what it has. */
  reset?(index: number): void;
  /** Gives an instance what another one looks like. */
  copyAt?(from: number, to: number): void;
  /** Frees what was allocated. */
  dispose?(): void;
  /** Takes over what the other's is, of a crowd that has as many instances. */
  copy?(source: CrowdFeature): void;
  /**
   * Makes the same for a copy of the crowd, which calls `copy` with this one right afterwards. Features without it stay with
   * the crowd that they were made with.
   */
  cloneFor?(crowd: FeaturedCrowd): CrowdFeature | null;
  /**
   * Called once the crowd's mesh, with what is attached to it, has become a copy of another.
   *
   * @param source The other's feature of this kind; null if it has none.
   * @param recursive Whether children were copied.
   */
  meshesCopied?(source: CrowdFeature | null, recursive: boolean): void;
  /** Called in each update of the crowd, after what plays has moved on. */
  update?(delta: number): void;
  /** @throws If the crowd cannot show another bone texture. */
  checkBoneTexture?(boneTexture: BoneTexture): void;
  /** Called once the crowd shows another bone texture. */
  boneTextureReplaced?(): void;
  /** Grows the box around every pose of an instance. */
  extend?(box: Box3): void;
}

/** What features know of every crowd. */
export interface FeaturedCrowd {
  /** What was made with the crowd, in that order. */
  readonly features: readonly CrowdFeature[];
  /** @throws If the crowd has one of its kind. */
  use(feature: CrowdFeature): void;
}

/**
 * The feature of a class that a crowd uses; null if there is none.
 *
 * ```ts
 * featureOf(crowd, JointEdits)?.setRotationAt(0, 'Head', turned);
 * ```
 *
 * @category Crowd
 */
export function featureOf<T extends CrowdFeature>(
  { features }: FeaturedCrowd,
  kind: abstract new (...args: never[]) => T,
): T | null {
  for (const feature of features) if (feature instanceof kind) return feature;
  return null;
}

/** The one of a list that is of the same kind as another. */
export const sameKind = <T extends object>(list: readonly T[], other: object): T | undefined =>
  list.find((one) => one.constructor === other.constructor);

/**
 * Takes over features of another crowd or mesh; those that it has not are as at the beginning.
 *
 * @param add Makes the same as one of the other's.
 */
export function copyFeatures<T extends CrowdFeature & Partial<MeshFeature>>(
  own: readonly T[],
  source: readonly T[],
  capacity: number,
  add: (feature: T) => CrowdFeature | null | undefined,
): void {
  for (const feature of source) (sameKind(own, feature) ?? add(feature))?.copy?.(feature as never);
  for (const feature of own) {
    if (sameKind(source, feature)) continue;
    feature.geometryReplaced?.(true);
    for (let id = 0; feature.reset && id < capacity; id++) feature.reset(id);
  }
}

/** What instances have in one mesh alone: a crowd's own, or one that is attached to it. */
export interface MeshFeature extends InstanceData {
  /** Makes the same for a copy of the mesh, which calls `copy` with this one right afterwards. */
  cloneForMesh(mesh: object): MeshFeature;
  /** Gives an instance what another one has. */
  copyAt?(from: number, to: number): void;
  /** Called once the mesh has another geometry, which numbers its parts or is a single one. */
  geometryReplaced?(numbered: boolean): void;
}

/**
 * Called by a feature of the instances of one mesh.
 *
 * @throws If the mesh has one of its kind already.
 */
export function addMeshFeature({ meshFeatures, appearance }: CrowdMesh, feature: MeshFeature): void {
  if (sameKind(meshFeatures, feature))
    throw new Error(`The mesh has ${feature.constructor.name} already; use that one.`);
  meshFeatures.push(feature);
  appearance.push(feature);
}

export function dropMeshFeature({ meshFeatures, appearance }: CrowdMesh, feature: MeshFeature): void {
  for (const list of [meshFeatures, appearance]) list.splice(list.indexOf(feature), 1);
}

/** Parts of instances as shaders and rays read them. */
export interface MeshParts {
  readonly count: number;
  readonly texture: InstanceTexture;
  /** Whether parts of instances were given colours. */
  readonly isColored: boolean;
  isShown(index: number, part: number): boolean;
}

/** Numbers of instances that surfaces and shaders of the user read. */
export interface MeshUniforms {
  /** Null while there are none. */
  readonly numbers: { readonly layout: UniformLayout; readonly texture: InstanceTexture } | null;
}

/** Gives instances influences of morph targets of their own. */
export interface MeshMorphs {
  /** Call before `InstancedMesh.setMorphAt`. @throws If the object's influences do not fit. @internal */
  prepare(object: Mesh): void;
  setInfluenceAt(index: number, name: string, influence: number | null): unknown;
}

/** On which layers single instances are, where the crowd's do not say it. */
export interface LayersOfInstances {
  /** Whether some instance has layers of its own. */
  readonly isUsed: boolean;
  /** Bits of all layers that some instance is on by itself. */
  readonly union: number;
  /** Whether an instance is on one of some layers. */
  test(index: number, mask: number, crowdMask: number): boolean;
}

/** The objects that stand for instances of a crowd, see `SkinnedInstance`. */
export interface CrowdObjects extends InstanceData {
  /** An instance exists no more. */
  deleted(id: number): void;
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
  objectOf(id: number): Object3D | null;
  /** The clock of the crowd has moved, and its events were dispatched. */
  advanced(): void;
  /** Whether an object has listeners for a type of events. */
  hasListeners(type: string): boolean;
  /** Something happened to what the instance of an object plays. */
  notify(object: Object3D, event: PlaybackEvent): void;
}

/**
 * Changes poses of single instances after their clips were mixed: what the pose pass, poses on the CPU and bounds ask for.
 * Its shader text is registered with each backend, see `registerPoseEditGLSL` and `registerPoseEditNodes`.
 */
export interface PoseEditor {
  /** Another number after each change. No two editors ever have the same, and none has 0. */
  readonly version: number;
  /** Whether anything was ever edited. */
  readonly isUsed: boolean;
  /** What shaders read, always as many; each may become another one. */
  readonly textures: readonly InstanceTexture[];
  /** Where nodes may be other than where clips put them; null while nothing is edited. */
  readonly extent: PosedBeyondClips | null;
  /** As `version`, of `extent`. */
  readonly extentVersion: number;
  /** Call before instances are posed: it brings what shaders read up to the present time. */
  update(): void;
  /** The same for one instance that is posed on the CPU. */
  place(index: number): void;
  /** Whether an instance was changed since a time of the clock. */
  changedSince(index: number, time: number): boolean;
  /** Changes the local transform of a node: `TRS_SIZE` numbers a node. */
  applyLocal(index: number, node: number, trs: Float64Array): void;
  /** What is to be applied to matrices relative to the root, parents first; undefined for nothing. */
  modelEdits(index: number): EditModel | undefined;
}

/** What the GPU itself writes of instances, and the CPU does not know: see `GPUInstances`. */
export interface WrittenOnGPU {
  /** Whether it writes where they stand. */
  readonly places: boolean;
  /** Warns that something asks for what the CPU does not know. */
  warn(what: string): void;
  /** Whether it writes what they play. */
  readonly plays: boolean;
  /** @throws Since the CPU can neither exchange instances, nor make room for more, nor lay something over what they play. */
  refuse(): void;
}

/** Whose poses may be edited. */
export interface EditedCrowd {
  /** Null as long as nothing edits them; that costs nothing. */
  readonly poseEdits: PoseEditor | null;
  /** Null where the CPU knows everything. */
  readonly written: WrittenOnGPU | null;
}

/** What motions read of a mesh that they move. */
export interface MovedMesh {
  readonly geometry: BufferGeometry;
  readonly boneTexture: { readonly data: { readonly restBounds: BoxArray } };
  /** Whether it follows a joint: what its bone texture knows is then of the mesh that it is attached to. */
  readonly isJointAttachment?: boolean;
  readonly matrixWorld: Matrix4;
  readonly instanceMatrix: InstancedBufferAttribute;
  /** Seconds by which the crowd was advanced. */
  readonly elapsed: number;
  /** What all meshes of a crowd have in common, and those of others have not. */
  readonly playback: object;
}

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
  settle(mesh: MovedMesh): void;
  /**
   * Moves a vertex as shaders do, so far as motions have a function for the CPU. Call `settle` before.
   *
   * @param target The vertex with morph targets applied; gets where it is in the instance's space.
   * @param pose Carries a position from where it was modelled to where it is posed.
   */
  moveVertex(
    mesh: MovedMesh,
    index: number,
    vertex: number,
    target: Vector3,
    pose: (position: Vector3) => Vector3,
  ): Vector3;
  /** Lets the same motions of another crowd go on from where they are in this one. */
  copyTime(from: MovedMesh, to: MovedMesh): void;
  /** What moves a mesh that is attached to the one that these move, and has no motions of its own. */
  attached(mesh: MovedMesh): MeshMotions | null;
  /** Of what random numbers of instances are made, where some are not made of ids; its texture is null while all are. */
  readonly seeds: { readonly texture: InstanceTexture | null; readonly areSwapped: boolean };
}
