/**
 * Baked characters as files: written, read, and loaded by `GLTFLoader`.
 *
 * @module skinned-instanced-mesh/files
 */

export { addLevelsOf } from './files/addLevelsOf.js';
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
} from './files/bakedJSON.js';
export { EXTENSION } from './files/bakedJSON.js';
export type { MeshoptDecoderLike, MeshoptEncoderLike } from './files/compressedViews.js';
export { decodeBoneTexture } from './files/decodeBoneTexture.js';
export { encodeBoneTexture } from './files/encodeBoneTexture.js';
export {
  type LevelHeight,
  type ReadLevel,
  type ReadLevels,
  readLevels,
  type StoredLevelOptions,
  type StoredLevels,
  type WrittenLevel,
} from './files/levels.js';
export { type ReadOptions, readBoneTexture } from './files/readCharacters.js';
export {
  bakedCharactersOf,
  type ExtensionOptions,
  type LoadedCharacter,
  type ParserOfPlugin,
  type ResultOfLoader,
  SkinnedInstancedMeshExtension,
} from './files/SkinnedInstancedMeshExtension.js';
export type { VertexTextureReader } from './files/storedVertices.js';
export { type WriteOptions, writeBoneTexture } from './files/writeBoneTexture.js';
