/**
 * Clips as keys: for every node of a character its own rotation, translation and scale, frame by frame on the grid that the
 * clip's keys stand on. Nothing is resampled where tracks are linear or stepped: between two frames a track of three.js is
 * what slerp or lerp make of them. Plain data, which a file or a worker can carry; texels are what the GPU reads.
 */
export interface PoseTracks {
  /** Parent of each node, -1 for the first; parents come before children. Only nodes that some joint hangs on. */
  parents: Int32Array;
  /** Local transforms at rest: position 3, quaternion 4, scale 3 numbers a node. */
  rest: Float64Array;
  /** 12 numbers a node for those whose local matrix never changes and is no translation, rotation and scale; else NaN. */
  fixed: Float64Array;
  /** What stands before the first node: 12 numbers. */
  before: Float64Array;
  /** Node of each joint. */
  jointNodes: Int32Array;
  /** Inverse bind matrix of each joint, 12 numbers. */
  inverses: Float64Array;
  /** Influences of the morph targets at rest, four to a group; empty where no clip moves any. */
  morphRest: Float64Array;
  /** RGBA texels, four numbers each: rotations, translations and scales, and influences of four morph targets. */
  keys: Float32Array;
  /**
   * `NODE_ENTRIES` numbers for each node of each clip: where its rotation, translation and scale are among `keys`. Behind the
   * nodes, each group of morph targets has as many, of which the translation's is where its influences are.
   */
  table: Uint32Array;
  /** In the order of the bone texture's. */
  clips: TrackClip[];
}

/** One clip of pose tracks. */
export interface TrackClip {
  /** As in the bone texture. */
  name: string;
  /** Seconds. */
  duration: number;
  /** Frames per second of the grid its keys stand on; 0 for a pose. */
  fps: number;
  /** Frames that are stored. The last one is held until the clip's end. */
  frames: number;
  /** Texels from one frame to the next. */
  stride: number;
  /**
   * How far it was found off where its keys could not be kept as they are, as a share of the character's size at rest; 0 where
   * they could.
   */
  error: number;
  /** Whether its keys are added to what else plays, see `AnimationUtils.makeClipAdditive`. */
  additive: boolean;
}

/** Numbers in the table for each node of a clip: rotation, translation, scale, and one that is spare. */
export const NODE_ENTRIES = 4;
export const ROTATION = 0;
export const TRANSLATION = 1;
export const SCALE = 2;

/** The clip has no such track, and leaves the property to other clips. */
export const TRACK_ABSENT = 0xffffffff;
/** One texel for all frames. */
export const TRACK_CONSTANT = 0x40000000;
/** Values jump at keys. */
export const TRACK_STEP = 0x20000000;
/** Bits that say at which texel a track's first frame is. */
export const TRACK_TEXEL = 0x1fffffff;

/** Frames by which a stepped track jumps early, so that rounding cannot make it jump late. */
export const STEP_SLACK = 1e-4;
