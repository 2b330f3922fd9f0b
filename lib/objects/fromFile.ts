import type { LoadedCharacter, LoadedFile } from '../format/LoadedCharacter.js';
import { describe } from '../utils/describe.js';
import { warnOnce } from '../utils/warnOnce.js';
import type { CharacterOptions, FromOptions } from './createCharacter.js';

/** The name under which a loader keeps our extension if it had no plugin for it. */
const EXTENSION = 'SIM_baked_animation';

/**
 * The baked character of a file, or null if it has none and is to be baked.
 *
 * @throws If it is no file, or has one that was not read or has no meshes, and no clips that could be baked. With clips that is a warning.
 */
export function bakedCharacterOf(file: LoadedFile | LoadedCharacter, caller: string): LoadedCharacter | null {
  if (!file?.scene?.isObject3D) {
    throw new Error(
      `${caller}: ${describe(file)} has no scene; pass what GLTFLoader returns, or from(root, clips, count).`,
    );
  }
  if ('boneTexture' in file) return file;
  const [baked] = file.bakedCharacters ?? [];
  if (baked !== undefined) return baked;
  const unread = file.userData?.gltfExtensions as Record<string, unknown> | undefined;
  let lost: string | null = null;
  if (file.bakedCharacters !== undefined) {
    lost =
      "the file's baked character has no scene or node, which a tool may have removed; bake the file anew";
  } else if (unread?.[EXTENSION] !== undefined) {
    lost =
      "the file's animation is baked, and was not read; call loader.register((parser) => new SkinnedInstancedMeshExtension(parser))";
  }
  if (lost === null) return null;
  if (!file.animations?.length) throw new Error(`${caller}: ${lost}.`);
  warnOnce(`${caller}: ${lost}. Until then the file's own clips are baked.`);
  return null;
}

/** Options of a crowd of a baked character: what it was baked with, and what is given on top. */
export function optionsOf(baked: LoadedCharacter, options: FromOptions): CharacterOptions {
  // What is undefined was not given: it must not take the place of what the file says.
  const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
  const { bakeOptions, hiddenParts, mergeMaterials, boneTexture, check } = baked;
  return { ...bakeOptions, hiddenParts, mergeMaterials, boneTexture, check, ...given };
}
