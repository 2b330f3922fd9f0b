import {
  assembleCharacter,
  type BakeCharacterOptions,
  type BoneTexture,
  bakeCharacter,
  type Character,
  CrowdLevels,
  type MergeMaterialsOptions,
  mergeMaterials as merge,
  SkinnedInstancedMesh,
  type SkinnedInstancedMeshOptions,
} from 'skinned-instanced-mesh';
import { addLevelsOf, bakedCharactersOf, type LoadedCharacter } from 'skinned-instanced-mesh/files';
import type { AnimationClip, Object3D } from 'three';

/** Options of baking a character and of a crowd of it. */
export interface CrowdOptions
  extends Omit<BakeCharacterOptions, 'mergeMaterials'>,
    SkinnedInstancedMeshOptions {
  mergeMaterials?: boolean | MergeMaterialsOptions;
  /** One that was baked before. */
  boneTexture?: BoneTexture;
}

/** Bakes a character: what `new SkinnedInstancedMesh(...)` takes for a crowd of it. */
export function crowdArguments(
  root: Object3D,
  clips: readonly AnimationClip[],
  count: number,
  options: CrowdOptions = {},
): [Character, number, SkinnedInstancedMeshOptions] {
  const { influences, shadowInfluences, interpolate, mergeMaterials = false, boneTexture, ...bake } = options;
  const merging = mergeMaterials === false ? undefined : merge(mergeMaterials === true ? {} : mergeMaterials);
  const character =
    boneTexture === undefined
      ? bakeCharacter(root, clips, { ...bake, mergeMaterials: merging })
      : assembleCharacter(root, boneTexture, { ...bake, mergeMaterials: merging });
  return [character, count, { influences, shadowInfluences, interpolate }];
}

/** A crowd of a loaded file, or of one of its characters, with its levels of detail. */
export function crowdOfFile(
  file: object,
  count: number,
  options: SkinnedInstancedMeshOptions = {},
): SkinnedInstancedMesh {
  const character = 'boneTexture' in file ? (file as LoadedCharacter) : bakedCharactersOf(file)[0];
  const crowd = new SkinnedInstancedMesh(character, count, options);
  addLevelsOf(character, new CrowdLevels(crowd));
  return crowd;
}
