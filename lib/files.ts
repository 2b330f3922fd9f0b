/**
 * Baked characters as files: written, read, and loaded by `GLTFLoader`.
 *
 * @module skinned-instanced-mesh/files
 */

export {
  addLevelsOf,
  type LeveledCharacter,
  type LevelHeight,
  type StoredLevel,
} from './files/addLevelsOf.js';
export type { ParserOfSource, SourceOfLoader } from './files/copyMaterials.js';
export { EXTENSION } from './files/fileErrors.js';
export type { MeshoptEncoderLike } from './files/GltfWriter.js';
export {
  bakedCharactersOf,
  type ExtensionOptions,
  type LoadedCharacter,
  type ParserOfPlugin,
  type ResultOfLoader,
  SkinnedInstancedMeshExtension,
  type VertexTextureReader,
} from './files/SkinnedInstancedMeshExtension.js';
export { type WriteOptions, type WrittenLevel, writeCharacter } from './files/writeCharacter.js';
