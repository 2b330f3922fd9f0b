/**
 * Baked characters as files: written, read, and loaded by `GLTFLoader`.
 *
 * @module skinned-instanced-mesh/files
 */

export { addLevelsOf, type LeveledCharacter } from './files/addLevelsOf.js';
export type { ParserOfSource, SourceOfLoader } from './files/copyMaterials.js';
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
export { EXTENSION, type LevelHeight, type StoredLevel } from './files/StoredCharacter.js';
export { type WriteOptions, type WrittenLevel, writeCharacter } from './files/writeCharacter.js';
