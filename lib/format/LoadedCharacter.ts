import type { AnimationClip, Object3D } from 'three';
import type { ScenePart } from '../baking/collectParts.js';
import type { BoneTexture } from '../texture/BoneTexture.js';
import type { BakeOptionsJSON, MergeMaterialsJSON } from './bakedJSON.js';
import type { ReadLevels } from './levels.js';

/** The meshes that a crowd draws. */
interface DrawnParts {
  parts: readonly ScenePart[];
  /** Without inverses of joints if vertices follow none. */
  rig: { jointInverses?: Float64Array };
}

/**
 * Checks that the meshes which a crowd draws are those that its bone texture was baked of.
 *
 * @throws If they are not; the message begins with the caller.
 */
export type MeshCheck = (root: Object3D, drawn: DrawnParts, boneTexture: BoneTexture, caller: string) => void;

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
  /**
   * Called by `from` with what it draws.
   *
   * @internal
   */
  check?: MeshCheck;
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
