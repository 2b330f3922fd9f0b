/** What the entries for both renderers export beside the class. */

export type { MotionStage } from '../shaders/MotionProgram.js';
export type {
  Columns,
  MatrixNode,
  MotionNodes,
  MotionUniformNode,
  MovedNodes,
  TurnedNodes,
} from '../shaders/motion.tsl.js';
export type {
  ActionOptions,
  ActionOwner,
  ActionPlace,
  EventOfAction,
  InstanceAction,
  InstanceMixer,
  SkinnedInstancedMeshEventMap,
  SkinnedInstanceEventMap,
} from './actions/InstanceMixer.js';
export { BoneTexture } from './animation/BoneTexture.js';
export type { BoneTextureData, EncodingName, Precision, TextureLayout } from './animation/BoneTextureData.js';
export type { BakedClip, BakedSource, ClipMarker, ClipReference } from './animation/ClipTable.js';
export type { BoxArray, JointBoxes } from './animation/jointBoxes.js';
export type { PoseTracks, TrackClip } from './animation/PoseTracks.js';
export type { PartFlip } from './animation/Rig.js';
export type { BakeAsyncOptions, BakeOptions, Encoding } from './baking/BakeOptions.js';
export {
  type BakeCharacterAsyncOptions,
  type BakeCharacterOptions,
  bakeBoneTexture,
  bakeBoneTextureAsync,
  bakeCharacter,
  bakeCharacterAsync,
} from './baking/bakeCharacter.js';
export type { ClipChoice } from './baking/planClips.js';
export { type RetargetedBody, retargetBody } from './baking/retargetBody.js';
export {
  type BodyNames,
  type Retargeted,
  type RetargetOptions,
  retargetClips,
} from './baking/retargetClips.js';
export { extractRootMotion, type RootMotion, type RootMotionOptions } from './baking/rootMotion.js';
export {
  type AssembleCharacterOptions,
  assembleCharacter,
  type Character,
  type CharacterOptions,
  disposeCharacter,
} from './character/assembleCharacter.js';
export type { CharacterPart } from './character/crowdGeometry.js';
export { type MergeMaterialsOptions, mergeMaterials } from './character/mergeMaterials.js';
export type { MaterialMerger } from './character/mergeParts.js';
export {
  type Simplified,
  type Simplifier,
  simplifyGeometry,
  simplifyGeometryAsync,
} from './character/simplifyGeometry.js';
export type { Influences } from './constants.js';
export type { DrawOptions } from './core/Crowd.js';
export { type CrowdFeature, type FeaturedCrowd, featureOf } from './core/CrowdFeature.js';
export type { CrowdMesh } from './crowd/CrowdMesh.js';
export { getViewInfo, readViewInfo } from './crowd/getViewInfo.js';
export { getSkinningMatrix, getSocketMatrix, getVertexPosition } from './crowd/poseQueries.js';
export type { SkinnedInstancedMeshOptions } from './crowd/SkinnedInstancedMesh.js';
export type { ViewInfo } from './culling/ViewInfo.js';
export { applyRootMotion } from './features/applyRootMotion.js';
export { JointAttachment, type JointAttachmentOptions } from './features/attachments/JointAttachment.js';
export { type BlendOptions, type BlendStop, ClipBlend } from './features/blend/ClipBlend.js';
export { Gait, type GaitOptions } from './features/blend/Gait.js';
export {
  type BudgetStep,
  FrameBudget,
  type FrameBudgetEventMap,
  type FrameBudgetOptions,
  type OwnBudgetSteps,
} from './features/budget/FrameBudget.js';
export type { ImpostorMesh } from './features/impostors/Impostor.js';
export type { ImpostorOptions } from './features/impostors/ImpostorAtlas.js';
export type {
  JointEditOptions,
  LookAtOptions,
  Proportions,
  ValueOfInstance,
} from './features/jointEdits/JointEdits.js';
export type { KindMesh, KindOptions } from './features/kinds/CrowdKinds.js';
export type { LayerMask, LayerOptions } from './features/layers/AnimationLayers.js';
export type {
  AttachmentLevelOptions,
  CrowdLevelsOptions,
  LevelMaker,
  LevelOptions,
  LevelSource,
  LevelStart,
} from './features/levels/CrowdLevels.js';
export { type CreateLevelOptions, createLevel, type LevelOfObject } from './features/levels/createLevel.js';
export type { LevelMesh } from './features/levels/LevelMesh.js';
export type { Level } from './features/levels/LevelTable.js';
export { InstanceMorphs } from './features/morphs/InstanceMorphs.js';
export {
  defineMotion,
  Motion,
  type MotionMaker,
  type MotionOptions,
  type MotionSettings,
  type MotionUniform,
  type MotionUniforms,
  type MotionValue,
  type MotionValues,
  type MotionVertex,
} from './features/motion/defineMotion.js';
export {
  type CustomSort,
  DrawOrder,
  type DrawOrderOptions,
  type SortedInstance,
} from './features/order/DrawOrder.js';
export {
  type PickedInstance,
  type PickOptions,
  pickInstance,
  selectInstances,
} from './features/picking/pickInstance.js';
export { type InstanceJSON, loadPlayback, type PlaybackJSON, savePlayback } from './features/savePlayback.js';
export { setBoneTexture } from './features/setBoneTexture.js';
export type { InstanceRange, Instances } from './instances/instanceRange.js';
export type { InstanceUniformTypes, UniformType } from './instances/UniformLayout.js';
export type { InstanceBone } from './objects/InstanceBones.js';
export type { PlacedInstance } from './objects/PlacedInstance.js';
export { SkinnedInstance } from './objects/SkinnedInstance.js';
export type { FinishedEvent, LoopEvent, MarkerEvent, PlaybackEvent } from './playback/PlaybackEvents.js';
export type {
  ClipOfInstance,
  ClipOption,
  LayerOption,
  LayerReference,
  PlayOptions,
  PlayOptionsOfInstance,
  WeightOptions,
} from './playback/PlayOptions.js';
export type { CrowdIntersection } from './queries/raycastCrowd.js';
export { createPalettes, type PaintPalette } from './surface/createPalettes.js';
export type { PartName } from './surface/InstanceParts.js';
export type { UniformEntry, UniformValue } from './surface/uniformValues.js';
export type { AffineArray } from './utils/affine.js';
export type { SliceOptions } from './utils/slices.js';
