import type { Box3, InstancedMesh, Object3D, Vector3 } from 'three';
import type { MotionProgram } from '../../shaders/MotionProgram.js';
import type { BoneTexture } from '../animation/BoneTexture.js';
import type { PosedCrowd } from '../animation/PoseSource.js';
import type { CharacterPart } from '../character/crowdGeometry.js';
import type { Influences } from '../constants.js';
import type { CrowdViews } from '../culling/CrowdViews.js';
import type { InstanceColors } from '../instances/InstanceColors.js';
import type { InstanceData } from '../instances/InstanceData.js';
import type { InstanceTexture } from '../instances/InstanceTexture.js';
import type { MatrixTexels } from '../instances/MatrixTexels.js';
import type { UniformLayout } from '../instances/UniformLayout.js';
import type { InstancePlayback } from '../playback/InstancePlayback.js';
import type { Crowd } from './Crowd.js';
import type { MeshFeature } from './CrowdFeature.js';
import type { CrowdSkeleton } from './CrowdSkeleton.js';
import type { MorphInfluences } from './MorphInfluences.js';

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
  /** The list of instances that it draws, see `LODSelector.listOf`; null for all that are seen. @internal */
  readonly level: number | null;
  /** `ofPoses` is the box around every pose, relative to an instance. @internal */
  readonly bounds: { ofPoses(): Box3 };
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
  /** @internal */
  readonly meshFeatures: MeshFeature[];
  /** Brings materials and draw parameters up to what the mesh is now. @internal */
  prepareDraw(): void;
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
