import type { LoadedCharacter, LoadedFile } from '../format/LoadedCharacter.js';
import { describe } from '../utils/describe.js';
import type { FromOptions } from './createCharacter.js';

/** The name under which a loader keeps our extension if it had no plugin for it. */
const EXTENSION = 'SIM_baked_animation';

/**
 * The baked character of a file, or null if it has none and is to be baked.
 *
 * @throws If it is no file, or has one that was not read and no clips that could be baked.
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
  if (unread?.[EXTENSION] !== undefined && !file.animations?.length) {
    throw new Error(
      `${caller}: the file's animation is baked, and was not read; call loader.register((parser) => new SkinnedInstancedMeshExtension(parser)).`,
    );
  }
  return null;
}

/** Options of a crowd of a baked character: what it was baked with, and what is given on top. */
export function optionsOf(baked: LoadedCharacter, options: FromOptions): FromOptions {
  const { bakeOptions, hiddenParts, mergeMaterials, boneTexture } = baked;
  return { ...bakeOptions, hiddenParts, mergeMaterials, boneTexture, ...options };
}
