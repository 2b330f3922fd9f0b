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
/** Codes of merged materials are below this. */
export const MERGED_CODES = 128;
/** Further bits, of what other textures of a material ask of its shaders: its `map` has layers; its constants are in a palette. */
export const ARRAY_MAP = 128;
export const PALETTE = 256;

/** Whether a texture has layers in the shaders of such a code. */
export const hasLayers = (code: number, map: MergedMap): boolean =>
  (code & (1 << MERGED_MAPS.indexOf(map))) !== 0;
