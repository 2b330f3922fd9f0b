/**
 * Where things lie in the atlas of an impostor. A block of tiles, `AZIMUTHS` by as many as there are `RINGS`, holds a character in
 * one phase of a clip from all directions. The table that shaders read beside it begins with two texels: how many entries follow,
 * blocks in a row, width and height of a tile; width of a tile over its height, and the middle of the character. Each entry is of
 * one clip, the first of the rest pose: a texel with the clip's start, its first block, its phases, and half the depth of a
 * tile in halves of its height; then one for each direction, with the middle of the tile along the three axes and half its height.
 */

/** Directions around a character. */
export const AZIMUTHS = 12;
/** Elevations, degrees. */
export const RINGS: readonly number[] = [8, 30, 58];
export const DIRECTIONS = 36;
/** Texels of an entry, and where the first one begins. */
export const ENTRY_TEXELS = 1 + DIRECTIONS;
export const FIRST_ENTRY = 2;
/** Phases of a clip at most. */
export const PHASES = 12;
/** Texels of a tile, about. */
export const TILE_TEXELS = 960;
