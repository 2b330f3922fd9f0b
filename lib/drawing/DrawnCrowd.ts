import type { Box3, InstancedMesh, Intersection, Object3D, Vector3 } from 'three';
import type { MotionProgram } from '../../shaders/MotionProgram.js';
import type { PosedCrowd } from '../animation/PoseSource.js';
import type { CharacterPart } from '../character/crowdGeometry.js';
import type { Influences } from '../constants.js';
import type { CrowdViews } from '../culling/CrowdViews.js';
import type { InstanceData } from '../instances/InstanceData.js';
import type { InstanceTexture } from '../instances/InstanceTexture.js';
import type { InstanceVisibility } from '../instances/InstanceVisibility.js';
import type { MatrixTexels } from '../instances/MatrixTexels.js';
import type { UniformLayout } from '../instances/UniformLayout.js';
import type { InstancePlayback } from '../playback/InstancePlayback.js';
import type { PlaybackEvent } from '../playback/PlaybackEvents.js';
import type { CrowdSkeleton } from './CrowdSkeleton.js';
import type { MorphInfluences } from './MorphInfluences.js';

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
  readonly seeds: { readonly texture: InstanceTexture | null; readonly areSwapped: boolean };
}

/** What backends read of a mesh that draws a crowd. The classes of such meshes come later in the order of imports. */
export interface DrawnCrowd extends InstancedMesh, Omit<PosedCrowd, 'geometry' | 'count' | 'playback'> {
  readonly isCrowdMesh: true;
  /** Whether it draws what is far away in the place of another mesh. */
  readonly isLevelMesh?: boolean;
  /** The mesh that it is attached to. */
  readonly owner?: object;
  /** Whether it follows a joint: what its bone texture knows is then of the mesh that it is attached to. */
  readonly isJointAttachment?: boolean;
  readonly playback: InstancePlayback;
  readonly crowd: PosedCrowd['crowd'] & { readonly objects: CrowdObjects | null };
  /** Parts of the character; those of another geometry have numbers for names. */
  readonly characterParts: readonly CharacterPart[];
  /** `ofPoses` is the box around every pose, relative to an instance. */
  readonly bounds: { ofPoses(): Box3 };
  /** The most instances there can be. */
  readonly capacity: number;
  /** Whether three.js shall bind `skeleton.boneTexture` and `bindMatrix` at each draw. */
  isSkinnedMesh: boolean;
  readonly skeleton: CrowdSkeleton;
  /** Seconds since the epoch of the shared clock began. */
  readonly clock: number;
  /** Seconds by which the crowd was advanced in all. */
  readonly elapsed: number;

  readonly shadowInfluences: Influences;
  /** Whether clips move the geometry's morph targets. */
  readonly clipsMorph: boolean;

  /** Which instances exist and are visible. */
  readonly visibility: InstanceVisibility;
  /** Which instances each camera sees. */
  readonly views: CrowdViews;
  /** The list of instances that it draws, see `LODSelector.listOf`; null for all that are seen. */
  readonly level: number | null;

  /** Which parts of instances are shown and in what colour; null for all, as they were baked. */
  readonly parts: MeshParts | null;
  /** What instances have for shaders in the place of the material's; null while there is nothing. */
  readonly instanceUniforms: MeshUniforms['numbers'];
  /** What moves vertices; null where nothing does. */
  readonly motions: MeshMotions | null;
  /** Influences of morph targets that instances have had. */
  readonly morphs: MorphInfluences;
  /** Matrices and colours as texels. */
  readonly texels: MatrixTexels;
}

/** Whether an object draws a crowd. */
export const isCrowd = (object: Object3D | null): object is DrawnCrowd =>
  (object as DrawnCrowd | null)?.isCrowdMesh === true;

/**
 * Whether the layers of single instances say which cameras draw a mesh of a crowd. Not those of one that is on other layers than the
 * crowd itself: these say it, as of a thing in the hand of a clone.
 */
export const goesByInstanceLayers = ({ layers, views }: Pick<DrawnCrowd, 'layers' | 'views'>): boolean =>
  layers.mask === views.layersMask;
