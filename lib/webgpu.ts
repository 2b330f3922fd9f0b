/**
 * The same for `WebGPURenderer`, with node materials.
 *
 * @module skinned-instanced-mesh/webgpu
 */

import { registerNodeBackend } from './backends/backendOf.js';
import { webGPUBackend } from './backends/webgpu/WebGPUBackend.js';
import { SkinnedInstancedMesh as Base } from './objects/SkinnedInstancedMesh.js';

function withNodeMaterials(): typeof Base {
  registerNodeBackend(webGPUBackend);
  return Base;
}

/**
 * The class of the main entry, the very same, which `WebGPURenderer` can draw once it was taken from here. It still
 * works with `WebGLRenderer`.
 *
 * A value of this module rather than a re-export: whoever uses it makes the node materials known, and bundlers may drop
 * all of it for whoever does not.
 */
export const SkinnedInstancedMesh = /*@__PURE__*/ withNodeMaterials();
export type SkinnedInstancedMesh = Base;

export type { Influences } from '../shaders/ShaderVariant.js';
export { skinnedInstanceNormal, skinnedInstancePosition } from './backends/webgpu/WebGPUBackend.js';
export type { BakeAsyncOptions, BakeOptions, ClipChoice } from './baking/BakeOptions.js';
export type { ClipOfInstance, PlayOptionsOfInstance } from './crowd/playClips.js';
export type { BoneTextureData, Precision } from './encodings/BoneTextureData.js';
export type { EncodingName, MatrixEncodingName } from './encodings/Encoding.js';
export type { TextureLayout } from './encodings/textureLayout.js';
export type { InstanceRange, Instances } from './instances/instanceRange.js';
export type { CharacterMesh } from './objects/CharacterMesh.js';
export type { CrowdMesh } from './objects/CrowdMesh.js';
export type { FromOptions } from './objects/createCharacter.js';
export type { SkinnedInstancedMeshEventMap, SkinnedInstancedMeshOptions } from './objects/crowdTypes.js';
export type { JointAttachment } from './objects/JointAttachment.js';
export type { PlayOptions } from './playback/PlayOptions.js';
export type { FinishedEvent, LoopEvent, MarkEvent, MarkerEvent } from './playback/playbackEventTypes.js';
export type { PlaybackJSON } from './playback/playbackJSON.js';
export type { BoxArray } from './poses/BoxArray.js';
export type { BakedClip, ClipMark, ClipMarker, ClipReference } from './poses/ClipTable.js';
export type { JointBoxes } from './poses/jointBoxes.js';
export type { PartFlip } from './poses/PartFlip.js';
export type { RootMotionOptions } from './poses/RootMotion.js';
export type { CrowdIntersection } from './queries/raycastCrowd.js';
export { BoneTexture } from './texture/BoneTexture.js';
export type { PoseTracks, TrackClip } from './tracks/PoseTracks.js';
export type { AffineArray } from './utils/affine.js';
