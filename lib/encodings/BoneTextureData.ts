import type { BoxArray } from '../poses/BoxArray.js';
import type { BakedClip } from '../poses/ClipTable.js';
import type { JointBoxes } from '../poses/jointBoxes.js';
import type { PartFlip } from '../poses/PartFlip.js';
import type { PoseTracks } from '../tracks/PoseTracks.js';
import type { EncodingName } from './Encoding.js';
import type { TextureLayout } from './textureLayout.js';

/** Kind of number that texels are made of: 32 or 16 bits. */
export type Precision = 'float' | 'half';

/** Everything a bone texture knows: plain data that a file or a worker can carry. It is not to be changed. */
export interface BoneTextureData {
  /** Four numbers a texel, row by row; half floats as their bits. */
  texels: Float32Array | Uint16Array;
  /** Where frames lie among the texels. */
  layout: TextureLayout;
  /** Frames of all clips, and the rest pose before them. */
  frames: number;
  /** How a joint's matrix is written. */
  encoding: EncodingName;
  /** Kind of number. */
  precision: Precision;
  /** In the order of their frames. */
  clips: BakedClip[];
  /** In the order of the texels. */
  jointNames: string[];
  /** For each joint, what carries an object in its own space to where its skinning matrix takes it up; see `socket`. */
  jointBinds: (number[] | null)[];
  /** Parts that clips mirror or flatten, and that have joints of their own for it. */
  flips: PartFlip[];
  /** Names of the morph targets whose influences are baked, behind the joints of each frame; empty if no clip moves any. */
  morphNames: string[];
  /** Bounds of the rest pose. */
  restBounds: BoxArray;
  /** Boxes of the vertices that follow each joint. */
  jointBoxes: JointBoxes;
  /** The clips' keys, of which `texels` are made, for encoding 'tracks'; else null. */
  tracks: PoseTracks | null;
}
