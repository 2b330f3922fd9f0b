import { TRS_SIZE } from './Rig.js';

/**
 * Clips as keys: the rotation, translation and scale of every node relative to its parent, frame by frame at the frame rate
 * that the clip's keys were made at. Linear and stepped tracks are not resampled: between two keys, slerp and lerp give what
 * three.js's own tracks give. Plain data, which a file or a worker can carry; the GPU reads it as texels.
 */
export interface PoseTracks {
  /** Name of each node; empty for those without one. */
  names: string[];
  /** Parent of each node, -1 for the first; parents come before children. Only joints and the nodes above them. */
  parents: Int32Array;
  /** Local transforms at rest: position 3, quaternion 4, scale 3 numbers a node. */
  rest: Float64Array;
  /** Local matrix, 12 numbers, of each node that updates its matrix itself, so that no clip moves it; NaN for all others. */
  fixed: Float64Array;
  /** Matrix by which the first node's is multiplied from the left, 12 numbers: the inverse of the root's own transform. */
  before: Float64Array;
  /** Node of each joint. */
  jointNodes: Int32Array;
  /** Inverse bind matrix of each joint, 12 numbers. */
  inverses: Float64Array;
  /** Influences of the morph targets at rest, in groups of four; empty if no clip moves any. */
  morphRest: Float64Array;
  /**
   * RGBA texels, four numbers each: a rotation, a translation, a scale, or the influences of a group of morph targets. Where
   * there are `shorts`, only what never changes, and the ranges of what does.
   */
  keys: Float32Array;
  /**
   * The keys of what changes as 16-bit numbers, four a texel, to whole rows of a texture; null if they are among `keys`.
   * Rotations are from -1 to 1; other values lie within the range of their track, see `readKey`.
   */
  shorts: Uint16Array | null;
  /**
   * `NODE_ENTRIES` numbers for each node of each clip: where its rotation, translation and scale are among `keys` or `shorts`,
   * and at which texel of `keys` the ranges of the latter two are. After the nodes of a clip, each group of morph targets has
   * as many; the one for translations says where its influences are.
   */
  table: Uint32Array;
  /** In the order of the bone texture's. */
  clips: TrackClip[];
  /**
   * Of a body with other proportions than that of the keys, four numbers a node: its translation is the first three, and what
   * clips give times the fourth.
   */
  fits?: Float64Array;
  /**
   * What such a body has in place of one node's translation, below 0 by whose fourth number that is known: for each clip a texel that
   * says by how many its first key is behind it, 0 for none, and which node it is; then `OWN_KEYS` for each of its frames.
   */
  hips?: Float32Array;
  /** Puts a translation among the local transforms where such a body has it. */
  fit?(node: number, out: Float64Array): void;
  /** Reads what is in place of it, if anything is. */
  readOwn?(node: number, clip: number, place: number, out: Float64Array): boolean;
}

/** One clip of pose tracks. */
export interface TrackClip {
  /** As in the bone texture. */
  name: string;
  /** Seconds. */
  duration: number;
  /** Frames per second at which its keys are stored; 0 for a pose. */
  fps: number;
  /** Frames that are stored. The last one is held until the clip's end. */
  frames: number;
  /**
   * Where the frames that are stored lie in time, if not evenly from 0 to the duration, else null. In time there are even places: first come
   * the frame at `fps` at which the first is, how many go to such a frame, the number of the last, and whether anything follows:
   * for each, where it is among the frames that are stored, which may be on the way from one to the next.
   */
  slots: Float32Array | null;
  /** Texels from one frame to the next. */
  stride: number;
  /**
   * The error that was found where the clip had to be sampled, as a share of the character's size at rest; 0 where its keys
   * could be stored as they are.
   */
  error: number;
  /** Whether its keys are added to what else plays, see `AnimationUtils.makeClipAdditive`. */
  additive: boolean;
}

/** Numbers in the table for each node of a clip: for its rotation, translation and scale, and their ranges. */
export const NODE_ENTRIES = 4;
export const ROTATION = 0;
export const TRANSLATION = 1;
export const SCALE = 2;
export const RANGES = 3;

/** Where each property is among the `TRS_SIZE` numbers of a local transform. */
export const PROPERTY_OFFSETS: readonly number[] = [3, 0, 7];

/** Table entry for a property that the clip has no track for, and leaves to other clips. */
export const TRACK_ABSENT = 0xffffffff;
/** Bit of a table entry: one texel holds for all frames. */
export const TRACK_CONSTANT = 0x40000000;
/** Bit of a table entry: values jump from key to key. */
export const TRACK_STEP = 0x20000000;
/**
 * Bit of the entry of a constant: the clip's keys tremble by rounding errors, so that a mixer writes the property anew each
 * time. Makes no difference to the pose, but ends what code has written to a bone.
 */
export const TRACK_TREMBLES = 0x80000000;
/** Bits of a table entry that say at which texel the track's first frame is. */
export const TRACK_TEXEL = 0x1fffffff;

/** A stepped track jumps this many frames early, so that rounding cannot make it jump late. */
export const STEP_SLACK = 1e-4;

/** What `TrackClip.slots` begins with. */
export const SLOT_HEAD = 4;

/** Where a frame of a clip is among those that are stored. The shaders have the same. */
export function storedFrame({ slots, frames }: Pick<TrackClip, 'slots' | 'frames'>, frame: number): number {
  const [first, perFrame, last, isUneven] = slots ?? [0, 1, frames - 1, 0];
  const place = Math.min(Math.max((frame - first) * perFrame, 0), last);
  if (slots === null || !isUneven) return place;
  const slot = Math.floor(place) + SLOT_HEAD;
  const stored = slots[slot];
  return stored + (place % 1) * ((slots[slot + 1] ?? stored) - stored);
}

/** Where the entries of a node begin in the table. */
export const trackRow = ({ parents, morphRest }: PoseTracks, clip: number, node: number): number =>
  (clip * (parents.length + morphRest.length / 4) + node) * NODE_ENTRIES;

/** The table entry of a track. */
export const trackEntry = (tracks: PoseTracks, clip: number, node: number, property: number): number =>
  tracks.table[trackRow(tracks, clip, node) + property];

/** What 0 stands for in rotations of 16 bits, and the largest number but one: 0 and 1 are exact. */
export const SHORT_ONE = 32767;

/**
 * Writes a key of a track, four numbers.
 *
 * @param entry The track's entry in the table.
 * @param ranges The table's entry for ranges of the same node and clip.
 * @param texel Where the key is: the texel of the track's first frame, or of a later one.
 */
export function readKey(
  { keys, shorts }: Pick<PoseTracks, 'keys' | 'shorts'>,
  entry: number,
  ranges: number,
  property: number,
  texel: number,
  out: Float64Array,
): void {
  const at = texel * 4;
  if (shorts === null || entry & TRACK_CONSTANT) {
    for (let i = 0; i < 4; i++) out[i] = keys[at + i];
  } else if (property === ROTATION) {
    // Not by Math.hypot, which takes several times as long.
    let squared = 0;
    for (let i = 0; i < 4; i++) {
      out[i] = shorts[at + i] - SHORT_ONE;
      squared += out[i] ** 2;
    }
    for (let i = 0; i < 4; i++) out[i] /= Math.sqrt(squared);
  } else {
    const range = rangeTexel(ranges, property) * 4;
    for (let i = 0; i < 4; i++) out[i] = keys[range + i] + keys[range + 4 + i] * shorts[at + i];
  }
}

/**
 * The texel that holds the least value of a track of 16 bits; the next one holds what a step of one is worth. Those of a
 * node's scale come after those of its translation.
 */
export function rangeTexel(ranges: number, property: number): number {
  return ranges + (property === SCALE ? 2 : 0);
}

const PROPERTIES = 3;
const STILL = 1;
const MOVED = 2;

/** What was found out, for each property of each node. */
const known = /*@__PURE__*/ new WeakMap<PoseTracks, Uint8Array>();

/** Whether no clip gives a property of a node another value than it has at rest, so that it is the same whatever plays. */
export function isStill(tracks: PoseTracks, node: number, property: number): boolean {
  let found = known.get(tracks);
  if (found === undefined) {
    found = new Uint8Array(tracks.parents.length * PROPERTIES);
    known.set(tracks, found);
  }
  const at = node * PROPERTIES + property;
  if (found[at] === 0) {
    const still = tracks.clips.every((_, clip) => leavesAlone(tracks, clip, node, property));
    found[at] = still ? STILL : MOVED;
  }
  return found[at] === STILL;
}

/** Whether a clip gives a property of a node no other value than it has at rest. */
export function leavesAlone(tracks: PoseTracks, clip: number, node: number, property: number): boolean {
  const entry = trackEntry(tracks, clip, node, property);
  if (entry === TRACK_ABSENT) return true;
  // What an additive clip holds is added to the rest.
  if (tracks.clips[clip].additive || (entry & TRACK_CONSTANT) === 0 || (entry & TRACK_TREMBLES) !== 0) {
    return false;
  }
  const key = (entry & TRACK_TEXEL) * 4;
  const rest = node * TRS_SIZE + PROPERTY_OFFSETS[property];
  for (let i = 0; i < (property === ROTATION ? 4 : 3); i++) {
    if (tracks.keys[key + i] !== tracks.rest[rest + i]) return false;
  }
  return true;
}
