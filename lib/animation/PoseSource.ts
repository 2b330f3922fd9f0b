import type { Box3, BufferGeometry, Matrix4, Vector3 } from 'three';
import type { Influences } from '../constants.js';
import type { InstanceTexture } from '../instances/InstanceTexture.js';
import type { InstanceVisibility } from '../instances/InstanceVisibility.js';
import type { AffineArray } from '../utils/affine.js';
import type { BoneTextureData, TextureLayout } from './BoneTextureData.js';
import type { JointBoxes } from './jointBoxes.js';
import type { EditModel, PoseMix } from './mixPose.js';
import type { PosedBeyondClips } from './posedBounds.js';

/**
 * Changes poses of single instances after their clips were mixed: what the pose pass, poses on the CPU and bounds ask for.
 * Its shader text is registered with each backend, see `registerPassGLSL` and `registerPoseEditNodes`.
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

/** What pose sources read of a mesh that draws a crowd. The classes of such meshes lie in a layer below. */
export interface PosedCrowd {
  readonly geometry: BufferGeometry;
  readonly boneTexture: {
    readonly data: BoneTextureData;
    readonly layout: TextureLayout;
    readonly jointBoxes: JointBoxes;
    readonly poseSource: PoseSource;
    /** Reads poses; vertex textures have none. */
    readonly reader: PoseReader;
  };
  /** What poses the mesh, where the bone texture does not say it. */
  readonly poseSource?: PoseSource;
  readonly playback: {
    /** Another number after each change. */
    readonly version: number;
    readonly time: { timeOf(instance: number): number };
    readonly layers: readonly unknown[];
    /** What layers show beyond clips; null without. */
    readonly over: Pick<PosedBeyondClips, 'posedBounds'> | null;
    /** What an instance plays now, in `target`. */
    pose(instance: number, interpolate: boolean, target: PoseMix): PoseMix;
  };
  /** What all meshes of the crowd share. @internal */
  readonly crowd: {
    /** Null as long as nothing edits them; that costs nothing. */
    readonly poseEdits: PoseEditor | null;
    /** Null where the CPU knows everything. */
    readonly written: WrittenOnGPU | null;
    /** How many columns of palettes are joints, see `fitColumns`. */
    columns: number;
  };
  /** Which instances exist and are visible. @internal */
  readonly visibility: InstanceVisibility;
  /** Instances in use. */
  readonly count: number;
  readonly influences: Influences;
  readonly interpolate: boolean;
  /** Not a transform: the parameters of the draw, see `setDrawParameters`. @internal */
  readonly bindMatrix: Matrix4;
}

/** Reads poses out of baked data, as the shaders do on the GPU. */
export interface PoseReader {
  /** Chooses the pose that the next two read, until another is chosen. */
  pose(pose: PoseMix): void;
  /** Writes a joint's skinning matrix, 12 numbers from `at`, row by row. */
  jointMatrix(joint: number, out: AffineArray, at: number): void;
  /** Writes what the pose adds to the influence of each morph target. */
  readMorphs(out: Float64Array): void;
}

/**
 * Where the poses of a crowd come from: what its vertices are multiplied with, on the GPU and, for rays and sockets, on the
 * CPU. A bone texture brings it along; backends have its shaders under the same name: a `GLSLSource`, a `NodeSource`.
 */
export interface PoseSource {
  /** Tells sources apart. */
  readonly name: string;
  /** Whether there are frames to be mixed or not; else `interpolate` makes no difference. */
  readonly hasFrames: boolean;
  /** Whether vertices follow joints: once it has posed an instance, the bone texture's `reader` has their matrices and the morphs. */
  readonly hasJoints?: boolean;

  /** What poses crowds whose bone texture has no clips; by default the same. */
  readonly atRest?: PoseSource;

  /** Of sources with joints, what reads the poses of a bone texture. */
  createReader?(data: BoneTextureData): PoseReader;
  /** Writes those of the draw's parameters that its shaders read: some of `PARAM_…`. */
  setParameters(crowd: PosedCrowd, parameters: number[]): void;

  /** Prepares what the next two give of an instance, or `reader`: its pose as it is shown now. */
  pose(crowd: PosedCrowd, instance: number): void;
  /** Carries a vertex, with its morph targets applied, to where it is posed. Only for sources without joints. */
  posedVertex?(crowd: PosedCrowd, vertex: number, target: Vector3): Vector3;
  /** Turns the normal of a vertex to where it is posed. Sources without joints that do not have it leave normals as they are. */
  posedNormal?(crowd: PosedCrowd, vertex: number, target: Vector3): Vector3;
  /**
   * Grows a box by every pose there can be.
   *
   * @param boxes Boxes of the joints' vertices, where the geometry is not the one that was baked.
   */
  expandBounds(crowd: PosedCrowd, target: Box3, boxes?: JointBoxes): void;
}

/** What poses a crowd. */
export const sourceOf = ({
  boneTexture,
  poseSource = boneTexture.poseSource,
}: Pick<PosedCrowd, 'boneTexture' | 'poseSource'>): PoseSource => poseSource;

/** The sources that crowds have had, in the order of the numbers that shader variants carry. */
const sources: PoseSource[] = [];

/** The number of a source, for `ShaderVariant.source`. */
export function numberOfSource(source: PoseSource): number {
  const number = sources.indexOf(source);
  return number >= 0 ? number : sources.push(source) - 1;
}

/** The source of a number. */
export const sourceOfNumber = (number: number): PoseSource => sources[number];
