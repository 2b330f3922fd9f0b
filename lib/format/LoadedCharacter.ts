import type { Object3D } from 'three';
import type { Character } from '../character/assembleCharacter.js';
import type { BakeOptionsJSON, MergeMaterialsJSON } from './bakedJSON.js';
import type { ReadLevels } from './levels.js';

/** A baked character of a file that `GLTFLoader` has loaded: `new SkinnedInstancedMesh(gltf.bakedCharacters[0], 1_000)`. */
export interface LoadedCharacter extends Character {
  /** What holds its meshes. */
  scene: Object3D;
  /** How it was baked. */
  bakeOptions: BakeOptionsJSON;
  /** Whether and how its materials were to be merged, which the extension does where it was given the means. */
  mergeMaterials: MergeMaterialsJSON;
  /** Levels of detail, which `addLevelsOf` adds to a crowd's; null if there are none. */
  levels: ReadLevels | null;
}
