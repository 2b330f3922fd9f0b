import { LOOP_MODES } from '../constants.js';

/**
 * Where the numbers lie that shaders know of what an instance plays: a header, then its actions, each of them three texels. A
 * pass that poses instances reads them, or each vertex does. `ActionTexels` writes them from the doubles of `actionNumbers.ts`.
 */

/** Actions that an instance can have on a layer at once. */
export const MAX_ACTIONS = 4;

/** First frame of the clip in the bone texture, plus `ACTION_LAYER` times the number of its layer; 0 where there is none. */
export const CLIP_START = 0;
/** Frames of the clip, 1 for a pose, and bits `LOOP_…`; see `packCount`. */
export const CLIP_COUNT = 1;
/** Frames from the start of a pass at the beginning of the instance's epoch. */
export const CLIP_TIME = 2;
/** Frames that warping puts the clip ahead: this, times the square of how far its warp is from done, or of how much is. */
export const CLIP_WARP = 3;
/** Frames per second of the clock, negative when played in reverse. */
export const CLIP_RATE = 4;
/** How many passes after the one that `CLIP_TIME` counts from the clip has finished. */
export const CLIP_PASSES = 5;
/** Seconds from the beginning of the instance's epoch at which `CLIP_WARP` begins to change. */
export const CLIP_WARP_START = 6;
/** Share of the warp that is done each second: below 0 for a clip that fades in, above for one that fades out. */
export const CLIP_WARP_RATE = 7;
/**
 * Frames that a clip without a warp is further on after each epoch, less whole turns of two passes: a sum of two numbers, of which the
 * first has so few digits that its product with an age below `MAX_AGE` is exact in a float32.
 */
export const CLIP_DRIFT = 6;
export const CLIP_DRIFT_REST = 7;
/** The weight: a ramp of four numbers, see `RAMP_FROM`. */
export const CLIP_WEIGHT = 8;

/** Texels of an action. */
export const ACTION_TEXELS = 3;
/** Bits by which an action's layer is shifted in `CLIP_START`. */
export const LAYER_SHIFT = 16;
export const ACTION_LAYER = 1 << LAYER_SHIFT;

/** Texels in a row of the texture that says where layers show, and the bits of a number in a row. */
export const MASKS_PER_ROW = 256;
export const MASK_BITS = 8;

/** Layers of a crowd at most, the base among them. */
export const MAX_LAYERS = 5;

/** The first texel of each instance: seconds from the beginning of its epoch at which it last changed. */
export const HEADER_CHANGED = 0;
/** Poses that it is to have each second; 0 for one in every frame. */
export const HEADER_RATE = 1;
/** Where in the time between two poses its own lies, 0 to 1; before the point, at which row of `Crowd.bodies` its kind begins. */
export const HEADER_PHASE = 2;
/** Number of the epoch from whose beginning its times count. */
export const HEADER_EPOCH = 3;

/** Epochs that an instance's times are exact for: 18 hours. */
export const MAX_AGE = 4096;

/**
 * Where an instance's actions begin, in texels: behind the header, and a ramp of its weight for each layer over the base.
 *
 * @param layers How many there are, with the base.
 */
export const firstAction = (layers: number): number => layers;

/**
 * Texels of an instance: as many actions as any has had at once, up to `MAX_ACTIONS` for each layer, one behind another; unless all are used, one of clip 0 ends them.
 */
export const actionsTexels = (layers: number, actions = layers * MAX_ACTIONS): number =>
  firstAction(layers) + actions * ACTION_TEXELS;

/** Texels that a row of a texture may have on every device. */
const MAX_ROW = 2048;

/** Instances in a row of that texture, as an exponent of two. */
export const actionsRowBits = (layers: number): number =>
  Math.min(7, Math.floor(Math.log2(MAX_ROW / actionsTexels(layers))));

/** Frames of a clip and how it loops, in one number: exact in a float for clips of up to 524,288 frames. */
export function packCount(count: number, loop: number): number {
  return count * LOOP_MODES + loop;
}
