/**
 * Baked characters as files: written, read, and loaded by `GLTFLoader`.
 *
 * @module skinned-instanced-mesh/files
 */

export { addLevelsOf } from './format/addLevelsOf.js';
export type {
  ArrayJSON,
  ArrayOrder,
  ArrayType,
  BakeOptionsJSON,
  BoneTextureJSON,
  CharacterJSON,
  ClipJSON,
  Encoded,
  ExtensionJSON,
  LevelGroup,
  LevelJSON,
  LevelsJSON,
  MergeMaterialsJSON,
  MergingJSON,
  MeshoptJSON,
  Stored,
  StoredViews,
  TrackClipJSON,
  TracksJSON,
  VertexTextureInFile,
  ViewJSON,
} from './format/bakedJSON.js';
export { EXTENSION } from './format/bakedJSON.js';
export type { MeshoptDecoderLike, MeshoptEncoderLike } from './format/compressedViews.js';
export { decodeBoneTexture } from './format/decodeBoneTexture.js';
export { encodeBoneTexture } from './format/encodeBoneTexture.js';
export {
  type LevelHeight,
  type ReadLevel,
  type ReadLevels,
  readLevels,
  type StoredLevels,
  type WrittenLevel,
} from './format/levels.js';
export { type ReadOptions, readBoneTexture } from './format/readCharacters.js';
export {
  bakedCharactersOf,
  type ExtensionOptions,
  type LoadedCharacter,
  type ParserOfPlugin,
  type ResultOfLoader,
  SkinnedInstancedMeshExtension,
} from './format/SkinnedInstancedMeshExtension.js';
export type { VertexTextureReader } from './format/storedVertices.js';
export { type WriteOptions, writeBoneTexture } from './format/writeBoneTexture.js';
