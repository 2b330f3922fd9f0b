import { Material, type Texture } from 'three';

/** Textures of materials that merging puts together, in the order in which tables of merged materials name their layers. */
export const MERGED_MAPS = [
  'map',
  'normalMap',
  'roughnessMap',
  'metalnessMap',
  'emissiveMap',
  'aoMap',
] as const;

export type MergedMap = (typeof MERGED_MAPS)[number];

/** Texels of a table for each material; shaders read `MERGED_MAPS` by number from the first floats on. */
export const TABLE_TEXELS = 3;

/** Where roughness, metalness and the three numbers of the emission are among the floats of a material. */
export const TABLE_ROUGHNESS = 6;
export const TABLE_METALNESS = 7;
export const TABLE_EMISSIVE = 8;

/** Bit of a code that says that a material was made of several with different textures. */
export const MERGED = 64;

/** Further bits, of what other textures of a material ask of its shaders: instances choose a layer of its `map`; its constants are in a palette. */
export const ARRAY_MAP = 128;
export const PALETTE = 256;

/** Codes are below this. */
export const MAPS_CODES = 512;

/** Whether a texture has layers in the shaders of such a code. */
export const hasLayers = (code: number, map: MergedMap): boolean =>
  (code & (1 << MERGED_MAPS.indexOf(map))) !== 0;

/** Materials with the maps that are asked for here. */
type Mapped = Partial<
  Record<MergedMap, (Texture & { isDataArrayTexture?: boolean; isCompressedArrayTexture?: boolean }) | null>
>;

/** The tables of merged materials, found by their textures: materials for shadow maps are given these by three.js. */
const tables = /*@__PURE__*/ new WeakMap<Texture, Texture>();
/** Whether there was ever one: materials are asked in each draw. */
let anyMerged = false;

const isArray = (map: Mapped[MergedMap] | null | undefined): boolean =>
  map?.isDataArrayTexture === true || map?.isCompressedArrayTexture === true;

/**
 * Notes that a texture is one of a merged material.
 *
 * @param table A row of `TABLE_TEXELS` texels for each material that was merged: the layer in each of the textures, -1 where the
 * material had none, and the constants. Vertices have the number of their material as second component of `partIndex`.
 */
export function noteMerged(map: Texture, table: Texture): void {
  tables.set(map, table);
  anyMerged = true;
}

/** The table of a merged material with several textures; null for other materials. */
export function mergedTable(material: Material): Texture | null {
  if (!anyMerged) return null;
  for (let i = 0; i < MERGED_MAPS.length; i++) {
    const table = tables.get((material as Mapped)[MERGED_MAPS[i]] as Texture);
    if (table !== undefined) return table;
  }
  return null;
}

/** What shaders of a material are made for: 0, or for merged materials a number that says which textures have layers. */
export function mergedCode(material: Material): number {
  if (mergedTable(material) === null) return 0;
  let code = MERGED;
  for (let i = 0; i < MERGED_MAPS.length; i++) {
    if (isArray((material as Mapped)[MERGED_MAPS[i]])) code |= 1 << i;
  }
  return code;
}

/** Whether a material's `map` has several layers, one of which instances choose, and not the materials that were merged. */
export function hasArrayMap(material: Material): boolean {
  const { map } = material as Mapped;
  return isArray(map) && !tables.has(map as Texture);
}

/** Whether a texture holds roughness and metalness of merged materials, so that what takes their place is not multiplied by it. */
export const hasPalette = (material: Material): boolean =>
  (material as Mapped).roughnessMap?.userData.isPalette === true;

/** What shaders of a material are made for by its textures. */
export function mapsCode(material: Material): number {
  const maps = mergedCode(material) + (hasArrayMap(material) ? ARRAY_MAP : 0);
  return maps + (hasPalette(material) ? PALETTE : 0);
}

/**
 * Gives a program the table of its material, if that is merged, also with textures that take the place of others. Each program has it:
 * of several of a material three.js keeps the uniforms of the one that was compiled last.
 */
export function addTable(material: Material, uniforms: Record<string, object>): void {
  // Its uniforms are the user's.
  if ('isShaderMaterial' in material) return;
  uniforms.crowdMergedTable = {
    get value() {
      return mergedTable(material);
    },
  };
}

/** Whether the user set an `onBeforeCompile`, be it below that by which WebGLRenderer poses crowds. */
export function hasUserHook({ onBeforeCompile }: Material): boolean {
  const { userHook = onBeforeCompile } = onBeforeCompile as { userHook?: unknown };
  return userHook !== Material.prototype.onBeforeCompile;
}
