import type { Box3, BufferGeometry, Matrix4, Texture, Vector3, WebGLRenderer } from 'three';
import type { Influences } from '../../shaders/ShaderVariant.js';
import type { SlotSource, SourceGLSL } from '../../shaders/SourceGLSL.js';
import type { Palette } from '../crowd/Palette.js';
import type { JointEdits } from '../edits/JointEdits.js';
import type { InstanceVisibility } from '../instances/InstanceVisibility.js';
import type { InstancePlayback } from '../playback/InstancePlayback.js';
import type { JointBoxes } from '../poses/jointBoxes.js';
import type { BoneTexture } from '../texture/BoneTexture.js';
import type { AffineArray } from '../utils/affine.js';
import type { WantedPoses } from '../views/WantedPoses.js';

/** What pose sources read of a mesh that draws a crowd. The classes of such meshes lie in a layer below. */
export interface PosedCrowd {
  readonly geometry: BufferGeometry;
  readonly boneTexture: BoneTexture;
  readonly playback: InstancePlayback;
  /** Changes to the poses of single instances. */
  readonly edits: JointEdits;
  /** Which instances exist and are visible. */
  readonly visibility: InstanceVisibility;
  /** Instances in use. */
  readonly count: number;
  readonly influences: Influences;
  readonly interpolate: boolean;
  readonly palette: Palette;
  /** Not a transform: the parameters of the draw, see `setDrawParameters`. */
  readonly bindMatrix: Matrix4;
  /** What poses the crowd; null for what the encoding of its bone texture says. */
  readonly poseSource: PoseSource | null;
}

/**
 * Where the poses of a crowd come from: what its vertices are multiplied with, on the GPU and, for rays and sockets, on the
 * CPU. One object and one line in `registerSource`; for WebGPURenderer there is a `NodeSource` of the same name.
 */
export interface PoseSource {
  /** Tells sources apart. Those that read a bone texture have the name of its encoding. */
  readonly name: string;
  /** Whether there are frames to be mixed or not; else `interpolate` makes no difference. */
  readonly hasFrames: boolean;
  /** Whether each vertex reads what its instance plays. */
  readonly readsSlots: boolean;
  /** The shaders of WebGLRenderer. */
  readonly glsl: SourceGLSL;

  /** Writes those of the draw's parameters that its shaders read: some of `PARAM_…`. */
  setParameters(crowd: PosedCrowd, parameters: number[]): void;
  /** Writes the textures of floats that its shaders read, at least one and at most `SOURCE_TEXTURES`. */
  bindTextures(crowd: PosedCrowd, slots: SlotSource, textures: Texture[]): void;
  /** Writes the textures of unsigned integers that they read; none as long as `update` has not been called. */
  bindIntegers?(crowd: PosedCrowd, textures: Texture[]): void;
  /**
   * Brings these up to date; called before the crowd is drawn, also into a shadow map.
   *
   * @param wanted What cameras are about to draw; null for all instances.
   * @throws If the device cannot do it.
   */
  update?(renderer: WebGLRenderer, crowd: PosedCrowd, wanted: readonly WantedPoses[] | null): void;
  /** How many instances a renderer has posed as they are now. */
  posedCount?(renderer: WebGLRenderer, crowd: PosedCrowd): number;

  /** Prepares what the next four give of an instance: its pose as it is shown now. */
  pose(crowd: PosedCrowd, instance: number): void;
  /**
   * Writes a joint's skinning matrix, 12 numbers from `at`, row by row: what shaders multiply vertices with. Sources without
   * joints do not have it.
   */
  jointMatrix?(crowd: PosedCrowd, joint: number, out: AffineArray, at: number): void;
  /** Writes what clips add to the influence of each morph target. */
  readMorphs?(crowd: PosedCrowd, out: Float64Array): void;
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
