export type { Influences } from '../shaders/ShaderVariant.js';
export {
  type FromOptions,
  SkinnedInstancedMesh,
  type SkinnedInstancedMeshOptions,
} from './mesh/SkinnedInstancedMesh.js';
export type { PlayOptions } from './playback/InstancePlayback.js';
export type { BakedClip } from './poses/ClipTable.js';
export { BoneTexture, type BoneTextureData, type Precision } from './texture/BoneTexture.js';
export type { BakeAsyncOptions, BakeOptions, ClipChoice } from './texture/bake.js';
export type { EncodingName } from './texture/encodings/Encoding.js';
