import { LOOP_MODES } from '../constants.js';

/**
 * What the GPU knows of each instance, and where it lies.
 *
 * A slot says how one clip plays. The first slot of all instances is one array of floats, which WebGL reads as two
 * instanced attributes, `instanceClip` and `instanceTiming`, and node materials as a texture, since WebGPU has no more
 * than eight vertex buffers. The two older slots hold the clips that fade out; they are a texture of their own, which no
 * shader reads for an instance that does not fade. `drawSlot` writes them from the doubles of `slots.ts`.
 */

/** First frame of the clip in the bone texture. */
export const CLIP_START = 0;
/** Frames of the clip, 1 for a pose, and bits `LOOP_…`; see `packCount`. */
export const CLIP_COUNT = 1;
/** Frames from the start of a pass at clock 0. */
export const CLIP_TIME = 2;
/** Frames that warping puts the clip ahead, times the square of how far its fade is from done. */
export const CLIP_WARP = 3;
/** Frames per second of the clock, negative when played in reverse. */
export const CLIP_RATE = 4;
/** How many passes after the one that `CLIP_TIME` counts from the clip has finished. */
export const CLIP_PASSES = 5;
/** Weight that the older slots would have at clock 0, if it were not kept between 0 and 1. */
export const CLIP_FADE = 6;
/** What that weight loses each second of the clock. */
export const CLIP_FADE_RATE = 7;

/** Numbers per slot: two RGBA texels. */
export const SLOT_STRIDE = 8;

/** Numbers per instance of the two older slots. */
export const OLDER_STRIDE = 16;
/** Where the last of the slots begins, beneath which nothing fades. */
export const OLDEST = 8;

/** Frames of a clip and how it loops, in one number: exact in a float for clips of up to 524,288 frames. */
export function packCount(count: number, loop: number): number {
  return count * LOOP_MODES + loop;
}

/** The attributes by which shaders know the newest slot. */
export const INSTANCE_ATTRIBUTES = [
  { name: 'instanceClip', size: 4, offset: CLIP_START },
  { name: 'instanceTiming', size: 4, offset: CLIP_RATE },
] as const;
