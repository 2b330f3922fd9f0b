/**
 * The main entry, for `WebGLRenderer`.
 *
 * @module skinned-instanced-mesh
 */

export type { Influences } from '../shaders/ShaderVariant.js';
export type { BakeAsyncOptions, BakeOptions, ClipChoice } from './baking/BakeOptions.js';
export type { MergeMaterialsOptions } from './character/mergeMaterials.js';
export type { Simplified, Simplifier } from './character/simplifyGeometry.js';
export type { LayerOption } from './crowd/clipTimes.js';
export type { WeightOptions } from './crowd/clipWeights.js';
export type { JointEditOptions, LookAtOptions, ValueOfInstance } from './crowd/editJoints.js';
export type { Palette } from './crowd/Palette.js';
export type { ClipOfInstance, PlayOptionsOfInstance } from './crowd/playClips.js';
export type { Proportions } from './crowd/setProportions.js';
export type { BoneTextureData, Precision } from './encodings/BoneTextureData.js';
export type { EncodingName, MatrixEncodingName } from './encodings/Encoding.js';
export type { TextureLayout } from './encodings/textureLayout.js';
export type { LoadedCharacter, LoadedFile } from './format/LoadedCharacter.js';
export type { InstanceRange, Instances } from './instances/instanceRange.js';
export type { InstanceUniformTypes, UniformType } from './instances/UniformLayout.js';
export type { UniformValue } from './instances/uniformTypes.js';
export type { AnyMotion } from './motion/CrowdMotions.js';
export type { AttachmentLevel } from './objects/AttachmentLevel.js';
export type { CharacterMesh } from './objects/CharacterMesh.js';
export type { CrowdAction, CrowdInstance } from './objects/CrowdInstance.js';
export type { CrowdMesh } from './objects/CrowdMesh.js';
export type { FromOptions } from './objects/createCharacter.js';
export type { LevelOptions } from './objects/createLevel.js';
export type {
  DrawOptions,
  EventOfAction,
  SkinnedInstancedMeshEventMap,
  SkinnedInstancedMeshOptions,
} from './objects/crowdTypes.js';
export type { DrawnMesh } from './objects/DrawnMesh.js';
export type { EditableMesh } from './objects/EditableMesh.js';
export type { IdentityMesh } from './objects/IdentityMesh.js';
export type { AttachmentLevelOptions, JointAttachment } from './objects/JointAttachment.js';
export type {
  LeveledMesh,
  LevelShare,
  LevelStart,
  SimplifiedLevel,
  SimplifiedLevelOptions,
} from './objects/LeveledMesh.js';
export type { LevelMesh, LevelNumbers } from './objects/LevelMesh.js';
export type { MovedMesh } from './objects/MovedMesh.js';
export type { OrderedMesh } from './objects/OrderedMesh.js';
export type { PlayingMesh } from './objects/PlayingMesh.js';
export type { ShadedMesh } from './objects/ShadedMesh.js';
export { SkinnedInstancedMesh } from './objects/SkinnedInstancedMesh.js';
export type { LayerOptions } from './playback/LayerTable.js';
export type { LayerReference, PlayOptions } from './playback/PlayOptions.js';
export type { FinishedEvent, LoopEvent, MarkEvent, MarkerEvent } from './playback/playbackEventTypes.js';
export type { PlaybackJSON } from './playback/playbackJSON.js';
export type { BoxArray } from './poses/BoxArray.js';
export type { BakedClip, ClipMark, ClipMarker, ClipReference } from './poses/ClipTable.js';
export type { JointBoxes } from './poses/jointBoxes.js';
export type { PartFlip } from './poses/PartFlip.js';
export type { RootMotionOptions } from './poses/RootMotion.js';
export type { CrowdIntersection } from './queries/raycastInstance.js';
export { BoneTexture } from './texture/BoneTexture.js';
export type { LayerMask } from './tracks/layerMask.js';
export type { PoseTracks, TrackClip } from './tracks/PoseTracks.js';
export type { AffineArray } from './utils/affine.js';
export type { CrowdOcclusion } from './views/CrowdOcclusion.js';
export type { CustomSort, SortedInstance } from './views/DrawOrder.js';
export type { Level } from './views/Level.js';
export type { ViewInfo } from './views/ViewInfo.js';
