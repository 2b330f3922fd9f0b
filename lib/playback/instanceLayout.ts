import { LOOP_MODES } from '../constants.js';
import { MAX_ACTIONS } from './SlotOrder.js';

/**
 * Where the numbers lie that shaders know of each instance.
 *
 * A slot says how one clip plays. The newest slots of all instances are one array of floats. WebGL reads it as two instanced
 * attributes, `instanceClip` and `instanceTiming`; node materials read it as a texture, since WebGPU has no more than eight
 * vertex buffers. The slots of clips that fade out are a texture of their own, which shaders do not read for an instance
 * that does not fade. `PlaybackTexels` writes all of them from the doubles of `slots.ts`.
 */

/** First frame of the clip in the bone texture. */
export const CLIP_START = 0;
/** Frames of the clip, 1 for a pose, and bits `LOOP_…`; see `packCount`. */
export const CLIP_COUNT = 1;
/** Frames from the start of a pass at clock 0. */
export const CLIP_TIME = 2;
/**
 * Frames that warping puts the clip ahead: this, times the square of how far its fade is from done; of a clip
 * that fades out, of how much is done.
 */
export const CLIP_WARP = 3;
/** Frames per second of the clock, negative when played in reverse. */
export const CLIP_RATE = 4;
/** How many passes after the one that `CLIP_TIME` counts from the clip has finished. */
export const CLIP_PASSES = 5;
/** Share of the slots that fade out is this, less the clock times the rate below, but at least 0 and at most 1. */
export const CLIP_FADE = 6;
export const CLIP_FADE_RATE = 7;

/** Numbers per slot: two RGBA texels. */
export const SLOT_STRIDE = 8;

/** Numbers per instance of the two slots that fade out. */
export const FADES_STRIDE = 16;
/** Where the second of these begins: the oldest slot, below which nothing fades. */
export const OLDEST_FADE = 8;

/** Texels of an action, where a pass poses instances: what a slot has, then weights. */
export const ACTION_TEXELS = 3;
/** The first number of an action is its clip, counted from 1, and this times the number of its layer; 0 where there is none. */
export const ACTION_LAYER = 65536;
/** Seconds of the clock at which the action's weight begins to change; a slot has its fade here. */
export const ACTION_FADE_START = CLIP_FADE;
/** Share of that change that is done each second; 0 when its weight is `ACTION_TO`. */
export const ACTION_FADE_RATE = CLIP_FADE_RATE;
/** Weight before and after the change. */
export const ACTION_FROM = 8;
export const ACTION_TO = 9;
/** Seconds of the clock at which `CLIP_WARP` begins to change. */
export const ACTION_WARP_START = 10;
/** Share of the warp that is done each second: below 0 for a clip that fades in, above for one that fades out. */
export const ACTION_WARP_RATE = 11;

/** Layers of a crowd at most, the base among them. */
export const MAX_LAYERS = 5;

/** Where a pass poses instances, the first texel of each instance: seconds of the clock at which it last changed. */
export const HEADER_CHANGED = 0;
/** Poses that it is to have each second; 0 for one in every frame. */
export const HEADER_RATE = 1;
/** Where in the time between two poses its own lies, 0 to 1. */
export const HEADER_PHASE = 2;

/**
 * Where an instance's actions begin, in texels: behind the header, and a ramp of its weight for each layer over the base.
 *
 * @param layers How many there are, with the base.
 */
export const firstAction = (layers: number): number => layers;

/** Texels of an instance: up to `MAX_ACTIONS` for each layer, one behind another; unless all are used, one of clip 0 ends them. */
export const actionsTexels = (layers: number): number =>
  firstAction(layers) + layers * MAX_ACTIONS * ACTION_TEXELS;

/** Texels that a row of a texture may have on every device. */
const MAX_ROW = 2048;

/** Instances in a row of that texture, as an exponent of two. */
export const actionsRowBits = (layers: number): number =>
  Math.min(7, Math.floor(Math.log2(MAX_ROW / actionsTexels(layers))));

/** Frames of a clip and how it loops, in one number: exact in a float for clips of up to 524,288 frames. */
export function packCount(count: number, loop: number): number {
  return count * LOOP_MODES + loop;
}

/** The attributes by which shaders know the newest slot. */
export const INSTANCE_ATTRIBUTES = [
  { name: 'instanceClip', size: 4, offset: CLIP_START },
  { name: 'instanceTiming', size: 4, offset: CLIP_RATE },
] as const;
