/**
 * Where the numbers lie that the pose pass reads of joint edits and live poses. `JointEdits` writes them; the shaders read
 * them by the same names.
 */

/** Texels of an instance: its edits, its live pose, and when they changed; then how much of the live pose shows. */
export const HEADER_TEXELS = 2;
/** Where its edits begin, counted in edits. */
export const HEADER_FIRST = 0;
/**
 * How many of them are applied to local transforms, plus `EDIT_MODELS` times how many, after those, to matrices relative to
 * the root.
 */
export const HEADER_COUNTS = 1;
export const EDIT_MODELS = 4096;
/** Number of its live pose, counted from 1; 0 for none. */
export const HEADER_LIVE = 2;
/** Clock at which any of this last changed: then the instance is due to be posed, whatever its pose rate. */
export const HEADER_CHANGED = 3;
/** Weight of the live pose before and after it changes, and when it does: as of an action, see `instanceLayout.ts`. */
export const HEADER_FROM = 4;
export const HEADER_TO = 5;
export const HEADER_FADE_START = 6;
export const HEADER_FADE_RATE = 7;

/** Texels of an edit. Those of an instance are sorted by node, parents first, then by slot, and then by kind. */
export const EDIT_TEXELS = 3;
/** Numbers of an edit. */
export const EDIT_STRIDE = EDIT_TEXELS * 4;
/** Node that is edited. */
export const EDIT_NODE = 0;
/** One of the kinds below, and bits. */
export const EDIT_KIND = 1;
/** How much of the edit shows, 0 to 1. */
export const EDIT_WEIGHT = 2;
/** Of look-at: cosine of half the largest angle. */
export const EDIT_COSINE = 3;
/** A quaternion, or x, y, z; of look-at the target, relative to the instance. */
export const EDIT_VALUE = 4;
/** Of look-at: sine of half the largest angle. */
export const EDIT_SINE = 7;
/** Of look-at: the axis that is pointed at the target, in the node's own space. */
export const EDIT_AXIS = 8;
/**
 * Which of two edits of one kind it is: an edit by hand, or, applied after it, one of the instance's proportions. Shaders do
 * not read it, since edits of a node lie in the order in which they are applied.
 */
export const EDIT_SLOT = 11;
export const SLOT_BY_HAND = 0;
export const SLOT_PROPORTION = 1;

/** What an edit changes. */
export const KIND_ROTATION = 0;
export const KIND_POSITION = 1;
export const KIND_SCALE = 2;
export const KIND_LOOK_AT = 3;
/** Bits of a kind: what the clips give is added to, not replaced; the value is relative to the root, not to the parent. */
export const KIND_ADD = 4;
export const KIND_MODEL = 8;

/** Edits in a row of their texture; a power of two, so few that every device has room for a row. */
export const EDITS_PER_ROW = 256;

/** Texels of a node in a live pose: rotation, position, scale. The position's fourth number is 1 for nodes that it has. */
export const LIVE_TEXELS = 3;
export const LIVE_HAS = 7;

/** Live poses in a row of their texture: a power of two. */
export function livePerRow(nodes: number): number {
  return 2 ** Math.min(8, Math.max(0, Math.floor(Math.log2(2048 / (nodes * LIVE_TEXELS)))));
}

/** Below this, the sum of two unit vectors is nothing but rounding: they point in opposite directions. */
export const OPPOSITE = 1e-4;
