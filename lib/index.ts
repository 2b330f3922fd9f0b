/**
 * The main entry, for `WebGLRenderer`.
 *
 * @module skinned-instanced-mesh
 */

export type { Influences } from '../shaders/ShaderVariant.js';
export type {
  ClipOfInstance,
  InstanceRange,
  Instances,
  PlayOptionsOfInstance,
  SkinnedInstancedMeshEventMap,
} from './mesh/AnimatedInstancedMesh.js';
export type { CrowdIntersection } from './mesh/raycastCrowd.js';
export {
  type FromOptions,
  SkinnedInstancedMesh,
  type SkinnedInstancedMeshOptions,
} from './mesh/SkinnedInstancedMesh.js';
export type { FinishedEvent, LoopEvent, MarkEvent } from './playback/PlaybackEvents.js';
export type { PlayOptions } from './playback/PlayOptions.js';
export type { PlaybackJSON } from './playback/playbackJSON.js';
export type { BakedClip, ClipMark, ClipReference } from './poses/ClipTable.js';
export type { PartFlip } from './poses/partFlips.js';
export type { RootMotionOptions } from './poses/RootMotion.js';
export { BoneTexture, type BoneTextureData, type Precision } from './texture/BoneTexture.js';
export type { BakeAsyncOptions, BakeOptions, ClipChoice } from './texture/bake.js';
export type { EncodingName, MatrixEncodingName } from './texture/encodings/Encoding.js';
export type { JointBoxes } from './texture/jointBoxes.js';
export type { TextureLayout } from './texture/textureLayout.js';
export type { PoseTracks, TrackClip } from './tracks/PoseTracks.js';
export type { AffineArray } from './utils/affine.js';
