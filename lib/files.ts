/**
 * Baked characters as files: written, read, and loaded by `GLTFLoader`.
 *
 * @module skinned-instanced-mesh/files
 */

export type { ParserOfSource, SourceOfLoader } from './files/copyMaterials.js';
export type { MeshoptEncoderLike } from './files/glb.js';
export {
  addLevelsOf,
  bakedCharactersOf,
  type ExtensionOptions,
  type LeveledCharacter,
  type LoadedCharacter,
  type ParserOfPlugin,
  type ResultOfLoader,
  SkinnedInstancedMeshExtension,
  type VertexTextureReader,
} from './files/SkinnedInstancedMeshExtension.js';
export { EXTENSION, type LevelHeight, type StoredLevel } from './files/StoredCharacter.js';
export { type WriteOptions, type WrittenLevel, writeCharacter } from './files/writeCharacter.js';
