import type { AnimationClip, Object3D } from 'three';
import type { BoneTexture } from '../texture/BoneTexture.js';
import type { BakeOptionsJSON, MergeMaterialsJSON } from './bakedJSON.js';
import type { ReadLevels } from './levels.js';

/** A baked character of a file that `GLTFLoader` has loaded, as `SkinnedInstancedMesh.from` takes it. */
export interface LoadedCharacter {
  /** As it was written; empty if it has no name. */
  name: string;
  /** What holds its meshes. */
  scene: Object3D;
  /** Clips of the file, which need not be there: the bone texture has all that crowds play. */
  animations: AnimationClip[];
  /** Whoever loads the file disposes it; crowds share it. */
  boneTexture: BoneTexture;
  /** How it was baked, as far as `from` has to know. */
  bakeOptions: BakeOptionsJSON;
  /** Parts that no instance shows to begin with. */
  hiddenParts: string[];
  /** Whether and how materials are merged, unless `from` is told otherwise. */
  mergeMaterials: MergeMaterialsJSON;
  /** Levels of detail; null if there are none. */
  levels: ReadLevels | null;
}

/** What `GLTFLoader` returns, as far as `SkinnedInstancedMesh.from` uses it. */
export interface LoadedFile {
  /** The file's scene. */
  scene: Object3D;
  /** Its clips, of which a crowd is baked if the file has no baked character. */
  animations: AnimationClip[];
  /** What `SkinnedInstancedMeshExtension` has found; the first is taken. */
  bakedCharacters?: readonly LoadedCharacter[];
  /** Extensions that the loader knows no plugin for are named there. */
  userData?: Record<string, unknown>;
}
