/**
 * Numbers that the CPU and the shaders share. Both sides read them from here, so that a layout is changed in one place.
 */

/** Floats of one affine 3×4 matrix, row by row: `m00 m01 m02 tx  m10 m11 m12 ty  m20 m21 m22 tz`. */
export const AFFINE_SIZE = 12;

/** Texels of a joint's skinning matrix: its three upper rows. */
export const MATRIX_TEXELS = 3;

/** The first frame of every bone texture holds the rest pose: the scene as it stood when it was baked. */
export const REST_FRAME = 0;

/** Bits of the per-instance `loop` value, as shaders read it: runs back and forth; holds its last frame when finished. */
export const LOOP_PING_PONG = 1;
export const LOOP_CLAMP = 2;
/** Of a ping-pong: the pass in which the instance's time is zero runs back. */
export const LOOP_BACK = 4;
/** Of a ping-pong: the pass in which it finishes runs back. */
export const LOOP_ENDS_BACK = 8;
/** There is no pass before the one in which the instance's time is zero. */
export const LOOP_FIRST = 16;
/** More than all of these bits together. */
export const LOOP_MODES = 32;

/** `repetitions` of an instance that never finishes; a float32 cannot hold a larger whole number exactly. */
export const REPEAT_FOREVER = 1e9;

/** Bits of the number by which `GPUInstances` are told a clip, over that of the clip. */
export const PLAY_ONCE = 0x10000;
export const PLAY_IN_STEP = 0x20000;

/**
 * Seconds of an epoch. Shaders get the time as the number of the epoch and the seconds since it began, so that float32 times stay
 * as fine as in the first seconds (at 16 s the spacing of float32 is a microsecond). Times of an instance count from the epoch in
 * which they were written, which its header names.
 */
export const CLOCK_EPOCH = 16;

/**
 * Where a draw's parameters lie in the 16 floats that three.js uploads per object, see `setDrawParameters`. Shaders of
 * WebGLRenderer know them by the names in `drawSlots.glsl.ts`.
 */
export const PARAM_CLOCK = 0;
/** Frames that lie below each other in the bone texture; of a palette, log2 of the instances in a row, and its first row times 32. */
export const PARAM_ROWS = 1;
/** Texels of a frame in the bone texture; of a palette, those of an instance. */
export const PARAM_STRIDE = 2;
/** Code of the shader variant, and of the one for shadow maps. */
export const PARAM_VARIANT = 3;
export const PARAM_SHADOW_VARIANT = 4;
/** How many parts the character has, and how many instances' parts are in a row of their texture. */
export const PARAM_PARTS = 5;
export const PARAM_PARTS_PER_ROW = 6;
/**
 * Texels of a frame, or of an instance in a palette, before the influences of morph targets; of a vertex texture, log2 of its
 * width.
 */
export const PARAM_MORPH_TEXEL = 7;
/**
 * Which entry of a list says what is drawn first, counted from `FIRST_LISTED`. Floats from there on have the number in their last bits, where shaders find it without a conversion for each vertex.
 */
export const PARAM_LISTED = 8;
export const FIRST_LISTED = 0x800000;
/** Whether entries of the list are rows of a palette whose instances have to be looked up. */
export const PARAM_LOOKS_UP = 9;
/** Number of the epoch in which `PARAM_CLOCK` is. */
export const PARAM_EPOCH = 10;

/**
 * Textures that shaders of WebGLRenderer may read for a draw: `list` is `CROWD_LIST` there. First which instances are drawn, or their rows
 * in the palette, and the instance of each row where they have to be looked up; what instances have of their own; and what sources
 * read whose vertices find out by themselves what their instance plays.
 */
export const FLOAT_TEXTURES = [
  'list',
  'instances',
  'matrices',
  'colors',
  'parts',
  'uniforms',
  'seeds',
  'baked',
  'played',
] as const;
/** The same of unsigned integers: the palette, and the vertices of a vertex texture. */
export const INTEGER_TEXTURES = ['row0', 'row1', 'row2', 'vertices'] as const;

/** Steps in a map's width or height by which it may be moved for a part of an instance: two such numbers fit into one float32. */
export const MAP_STEPS = 4096;

/** Instances in a row of a texture that holds numbers of each instance, and the same as an exponent of two. */
export const INSTANCES_PER_ROW = 256;
export const INSTANCES_PER_ROW_BITS = 8;

/**
 * Texels in a row of a texture that lists instances, and the same as an exponent of two: as many as every device takes, since each
 * row is sent in a call of its own. A list that is shorter has one row.
 */
export const LIST_TEXELS = 2048;
export const LIST_TEXELS_BITS = 11;

/**
 * Steps in which an instance passes over from one level of detail to the next. An entry of a list says for such an instance which
 * of its pixels the level draws: those whose threshold, 0 to 63, is below its step, or, with `FADE_NEAR` added, the others. It is
 * zero for all pixels. `entryOf` has the layout of entries.
 */
export const FADE_STEPS = 64;
/** Marks the nearer of both levels. */
export const FADE_NEAR = 64;
/** More than all such numbers; entries of lists in textures have them as a fraction of this, behind the id. */
export const FADE_CODES = 128;
/** Bits of the id in an entry of a list that is made of whole numbers; above them is the number of the fade. */
export const ID_BITS = 24;
export const ID_MASK = 0xffffff;

/** The most levels of detail that a crowd may have, its own mesh among them. Shaders hold arrays of this length. */
export const MAX_LEVELS = 8;
/** A bit for each of them: as a `ListNumber`, all levels of all kinds. */
export const ALL_LEVELS = 0xff;
/** The bits of the number of a level. */
export const LEVEL_MASK = MAX_LEVELS - 1;
/** Added to the level of an instance that is passing over to the next one. */
export const FADING = MAX_LEVELS;
/** Numbers of levels are below this, those with `FADING` among them. */
export const LEVEL_CODES = 2 * MAX_LEVELS;
/** Place of the scale in `LevelMeasure.measure`. */
export const LEVEL_SCALE = 12;

/** What errors say that is needed, and how one has it. */
export const MIXED_POSES =
  'poses that are mixed before they are drawn; bake with encoding "tracks": bakeCharacter(root, clips).';

/** The least that a component of a material's colour counts as where parts have colours: what is divided by it stays a number. */
export const NEARLY_BLACK = 2 ** -20;

/** What a part has not of what others have: shadows, and tangents for its normal maps; bits. */
export const NO_CASTING = 1;
export const NO_RECEIVING = 2;
export const NO_TANGENTS = 4;

/** The uv channel by which merged materials look up their palette. */
export const PALETTE_CHANNEL = 3;

/** How joints are named that say how normals of skins are turned, before the number of the part. */
export const SHADING_JOINT = 'normals of part ';

/** What normals of a crowd are turned by besides poses: where instances are scaled unevenly, and where meshes stand below what is. */
export const UNEVEN_INSTANCES = 1;
export const UNEVEN_PARTS = 2;

/**
 * The attributes that shaders read in place of `skinIndex` and `shadingJoint`: which columns of a palette these joints have. Named as
 * further influences are, so that whatever leaves those out leaves them out.
 */
export const PALETTE_COLUMNS = 'joints_9';
export const SHADING_COLUMN = 'weights_9';

/** How many joints a vertex may follow. */
export type Influences = 1 | 2 | 4;
