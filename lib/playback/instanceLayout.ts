/**
 * Where each field of an instance's playback state lies. The state of all instances is one array of floats; WebGL reads
 * it as two instanced attributes, `instanceClip` (vec4) and `instanceTiming` (vec2), out of one buffer; node materials read
 * the same array as a texture, since WebGPU has no more than eight vertex buffers.
 */

/** First frame of the clip in the bone texture. */
export const CLIP_START = 0;
/** Frames of the clip; 1 for a pose. */
export const CLIP_COUNT = 1;
/** Frames into the clip at clock 0; whole loops are counted in. */
export const CLIP_TIME = 2;
/** `LOOP_PING_PONG` and `LOOP_CLAMP`, added up. */
export const CLIP_LOOP = 3;
/** Frames per second of the clock, negative when played in reverse. */
export const CLIP_RATE = 4;
/** Repetitions until the instance has finished. */
export const CLIP_REPETITIONS = 5;

/** Floats per instance: two RGBA texels, of which the last half is not in use. */
export const INSTANCE_STRIDE = 8;

/** Instances in a row of the texture by which node materials read the state; a power of two. */
export const INSTANCES_PER_ROW = 256;

/** The attributes by which shaders know the state. */
export const INSTANCE_ATTRIBUTES = [
  { name: 'instanceClip', size: 4, offset: CLIP_START },
  { name: 'instanceTiming', size: 2, offset: CLIP_RATE },
] as const;
