/**
 * Where things lie in the atlas of an impostor. A block of tiles, `AZIMUTHS` by as many as there are `RINGS`, holds a character in
 * one phase of a clip from all directions. The table that shaders read beside it begins with a row of two texels (how many
 * clips follow, blocks in a row, width and height of a tile; width of a tile over its height, and the middle of the character) and
 * one for each clip, the first for the rest pose: its start, its first block, its phases. Then a row for each block: half the depth
 * that its tiles hold, in halves of their height; then for each direction the middle of the tile along its three axes, and half
 * its height.
 */

/** Directions around a character. */
export const AZIMUTHS = 12;
/** Elevations, degrees. */
export const RINGS: readonly number[] = [8, 30, 58];
export const DIRECTIONS = 36;
/** Texels of a row of a block. */
export const BLOCK_TEXELS = 1 + DIRECTIONS;
/** Where clips begin in the first row. */
export const FIRST_ENTRY = 2;
/** Phases of a clip at most. */
export const PHASES = 12;
/** Texels of a tile, about. */
export const TILE_TEXELS = 960;
/**
 * By what share of half the depth of a tile the surface is further from the light in a shadow map: else impostors, whose surface is
 * found a little elsewhere from another direction, would shadow themselves.
 */
export const SHADOW_BEHIND = 0.2;
