import {
  type BoneTextureData,
  frameTexel,
  layoutTexture,
  type Precision,
  type TextureLayout,
} from '../animation/BoneTextureData.js';
import type { BakedClip } from '../animation/ClipTable.js';
import type { BoxArray } from '../animation/jointBoxes.js';
import { REST_FRAME } from '../constants.js';

/** How far a baked clip is from its source at most, as a share of the longest side of the box around all frames. */
export interface VertexErrors {
  /** Name of the clip. */
  clip: string;
  /** On frames: what 16 bits round away. */
  stored: number;
  /** Half-way between frames, where two of them are mixed; null if it was not measured. */
  between: number | null;
}

/** One mesh of what was baked. */
export interface VertexPart {
  /** Name of the mesh. */
  name: string;
  /** How many it has. */
  vertices: number;
}

/** Everything a vertex texture knows, as plain data that a file or a worker can carry. Do not change it. */
export interface VertexTextureData {
  /** The meshes that were baked, in the order of their vertices. */
  parts: VertexPart[];
  /** Vertices of a frame: those of all parts. */
  vertices: number;
  /** `'half'`: positions of 16 bits in the box of their frame, normals of 8 and 8. `'float'`: 32 bits, 16 and 16. */
  precision: Precision;
  /** Whether there are normals. Else those of the geometry stay as they are. */
  normals: boolean;
  /** For each frame, the rest pose first, which of the stored frames it shows: frames that are alike are stored once. */
  frames: Uint32Array;
  /** For each stored frame least x, y, z, and how much a step of 16 bits is in each. */
  boxes: Float32Array;
  /**
   * Texels of all stored frames one after another, two words a vertex with precision `'half'` and four with `'float'`; zero
   * behind the last.
   */
  texels: Uint32Array;
  /** Texels in a row: a power of two. */
  width: number;
  /** Rows. */
  height: number;
  /** In the order of their frames. */
  clips: BakedClip[];
  /** Bounds of the rest pose. */
  restBounds: BoxArray;
  /** For each clip. */
  errors: VertexErrors[];
}

/** Words of a vertex in a frame. */
export const WORDS: Record<Precision, number> = { half: 2, float: 4 };

/**
 * The size of a texture for so many texels, which follow one another from row to row.
 *
 * @param upTo Says in an error how much of the frames there are.
 * @throws If they do not fit.
 */
export function layoutVertices(
  texels: number,
  maxSize: number,
  upTo = '',
): { width: number; height: number } {
  const widest = 2 ** Math.floor(Math.log2(maxSize));
  const width = Math.min(widest, 2 ** Math.ceil(Math.log2(Math.sqrt(Math.max(1, texels)))));
  const height = Math.max(1, Math.ceil(texels / width));
  if (height <= maxSize) return { width, height };
  throw new Error(
    `${texels} vertices of all frames${upTo} need a texture of ${width} × ${height}, but maxTextureSize is ${maxSize}; ` +
      'bake fewer clips, a lower fps, a mesh of fewer vertices, or allow a larger texture where devices have it.',
  );
}

/** Texels of a frame in the table: as many as a joint has in a bone texture of matrices, which the table passes for. */
const STRIDE = 3;

/** Texels in a row that every device takes. */
const ANY_DEVICE = 2048;

/**
 * Where frames are in the table.
 *
 * @throws If so many would not fit, however few of them differ: a clip whose keys are at wild times has more than anybody could wait for.
 */
export const layoutFrames = (frames: number, maxTextureSize: number): TextureLayout =>
  layoutTexture(frames, STRIDE, Math.max(ANY_DEVICE, maxTextureSize));

/**
 * What a vertex texture has in the place of skinning matrices: for each frame two texels, how much a step of 16 bits is and which
 * stored frame it is, then the least corner of the box and the number of vertices, negative where there are no normals. The third
 * one is not used. It passes for a bone texture of one joint, which has the number of vertices for a name: two that can take the
 * place of each other have the same.
 */
export function frameTable(data: VertexTextureData): BoneTextureData {
  const { frames, boxes, vertices, normals, clips, restBounds, width, height } = data;
  const layout = layoutFrames(frames.length, Math.max(width, height));
  const texels = new Float32Array(layout.width * layout.height * 4);
  frames.forEach((stored, frame) => {
    const at = frameTexel(layout, frame) * 4;
    const box = stored * 6;
    texels.set([boxes[box + 3], boxes[box + 4], boxes[box + 5], stored], at);
    texels.set([boxes[box], boxes[box + 1], boxes[box + 2], normals ? vertices : -vertices], at + 4);
  });
  return {
    texels,
    layout,
    frames: Math.max(frames.length, REST_FRAME + 1),
    encoding: 'frames',
    precision: 'float',
    clips,
    jointNames: [`${vertices} vertices`],
    jointBinds: [null],
    flips: [],
    morphNames: [],
    restBounds,
    jointBoxes: new Float32Array(6),
    tracks: null,
  };
}
