import type { BakedClip } from './ClipTable.js';
import type { BoxArray, JointBoxes } from './jointBoxes.js';
import type { PoseTracks } from './PoseTracks.js';
import type { PartFlip } from './Rig.js';

/** Kind of number that poses are stored in: 32 or 16 bits; for tracks the latter are whole numbers, not halves of floats. */
export type Precision = 'float' | 'half';

/**
 * How poses are stored: as skinning matrices frame by frame, three texels a joint, which each vertex reads and mixes; or as the
 * clips' own tracks, from which a pass of its own poses each instance as `AnimationMixer` does.
 */
export type EncodingName = 'frames' | 'tracks';

/** Everything a bone texture knows, as plain data that a file or a worker can carry. Do not change it. */
export interface BoneTextureData {
  /** Four numbers a texel, row by row; half floats as their bits. Of tracks, keys of 16 bits are in `tracks` alone. */
  texels: Float32Array | Uint16Array;
  /** Where each frame is among the texels. */
  layout: TextureLayout;
  /** Frames of all clips, and the rest pose before them. */
  frames: number;
  /** How poses are stored. */
  encoding: EncodingName;
  /** Kind of number. */
  precision: Precision;
  /** In the order of their frames. */
  clips: BakedClip[];
  /** In the order of the texels. */
  jointNames: string[];
  /**
   * For each joint its bind matrix, 12 numbers row by row: it takes an object in the joint's own space to where the
   * skinning matrix moves it from. Null for joints of skins in detached bind mode.
   */
  jointBinds: (number[] | null)[];
  /**
   * For each joint the nearest joint above it, -1 for none; itself if it is of the same node as a joint before it. Data with
   * `tracks`, which have all nodes, do without.
   */
  jointParents?: number[];
  /** Parts that clips mirror or flatten, and that have joints of their own therefore. */
  flips: PartFlip[];
  /** Joints below nodes that are scaled unevenly, by which normals of what is attached are turned. */
  unevenJoints?: number[];
  /**
   * How meshes and bones were collected where a scene leaves a choice, for whoever collects others for the same joints; vertex textures
   * do without.
   */
  collected?: {
    /** Which bones are joints. @default 'all' */
    joints?: 'all' | 'used';
    /** Whether meshes with the same morph targets share them. @default true */
    shareMorphs?: boolean;
    /** Whether bones have joints of their own that lie still below others of their names. @default false */
    keepNamesakes?: boolean;
  };
  /** Names of the morph targets whose influences are stored after the joints of each frame; empty if no clip moves any. */
  morphNames: string[];
  /** Bounds of the rest pose. */
  restBounds: BoxArray;
  /** Boxes of the vertices that follow each joint. */
  jointBoxes: JointBoxes;
  /** For encoding 'tracks' the clips' keys, from which `texels` are made; else null. */
  tracks: PoseTracks | null;
}

/**
 * Where frames are in a bone texture. A frame is a run of texels within one row, and the next frame is in the row below, so
 * that the texture cache holds both frames that a vertex mixes. When all rows are used, frames continue in a further
 * column from the top.
 */
export interface TextureLayout {
  /** Texels. */
  width: number;
  /** Texels; as many frames are below each other. */
  height: number;
  /** Texels of one frame. */
  stride: number;
}

/**
 * Lays out `frames` frames of `stride` texels.
 *
 * @throws If they do not fit into a texture of `maxSize` × `maxSize`.
 */
export function layoutTexture(frames: number, stride: number, maxSize: number): TextureLayout {
  // As few columns as possible, all of the same height; one where there is no limit.
  const columns = Math.ceil(frames / Math.max(1, Math.floor(maxSize))) || 1;
  const height = Math.ceil(frames / columns);
  const width = columns * stride;

  if (width > maxSize) {
    throw new Error(
      `${frames} frames of ${stride} texels need a texture of ${width} × ${height}, ` +
        `but maxTextureSize is ${maxSize}; bake fewer clips, a lower fps, or allow a larger texture where devices have it.`,
    );
  }
  return { width, height, stride };
}

/** Index of a frame's first texel. */
export function frameTexel(layout: TextureLayout, frame: number): number {
  const column = Math.floor(frame / layout.height);
  return (frame - column * layout.height) * layout.width + column * layout.stride;
}
