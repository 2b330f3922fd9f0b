import type { BufferGeometry } from 'three';
import { pickVertices } from '../character/pickVertices.js';
import type { LoadedCharacter, LoadedFile } from '../format/LoadedCharacter.js';
import type { ReadLevel } from '../format/levels.js';
import { describe } from '../utils/describe.js';
import type { FromOptions } from './createCharacter.js';
import type { LeveledMesh } from './LeveledMesh.js';

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

/**
 * Adds a file's levels of detail to a crowd of its character.
 *
 * @throws If they were made of other meshes.
 */
export function addLevelsOf({ levels }: LoadedCharacter, crowd: LeveledMesh, caller: string): void {
  if (levels === null) return;
  const { geometry } = crowd;
  const { count } = geometry.getAttribute('position');
  if (count !== levels.vertices) {
    throw new Error(
      `${caller}: the file's levels of detail were made for ${levels.vertices} vertices, and the crowd has ${count}; ` +
        'bake the file anew, and leave mergeMaterials as it was baked.',
    );
  }
  for (const level of levels.list) {
    const { start, hysteresis, influences } = level;
    const options = influences === undefined ? {} : { influences };
    if (level.indices === null) {
      crowd.addLevel(null, start, hysteresis, options);
      continue;
    }
    const made = geometryOf(geometry, level.indices, level.groups);
    crowd.addLevel(made, start, hysteresis, options);
    made.dispose();
  }
}

/** The geometry of a level: those of the crowd's vertices that its triangles have. */
function geometryOf(
  source: BufferGeometry,
  corners: Uint32Array,
  groups: ReadLevel['groups'],
): BufferGeometry {
  const places = new Map<number, number>();
  const index = Array.from(corners, (vertex) => {
    const place = places.get(vertex) ?? places.size;
    places.set(vertex, place);
    return place;
  });
  const geometry = pickVertices(source, [...places.keys()]);
  geometry.setIndex(index);
  for (const { start, count, materialIndex } of groups) geometry.addGroup(start, count, materialIndex);
  return geometry;
}
