import type { Precision } from '../encodings/BoneTextureData.js';
import type { BakedClip } from '../poses/ClipTable.js';
import type { BoxArray } from '../poses/jointBoxes.js';

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
  /** Three numbers that are very likely others if these are, or stand in another order; files of the first libraries lack them. */
  positions?: number[];
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

/** Frames that are stored. */
export const storedFrames = ({ boxes }: VertexTextureData): number => boxes.length / 6;

/**
 * The size of a texture for so many texels, which follow one another from row to row.
 *
 * @throws If they do not fit.
 */
export function layoutVertices(
  texels: number,
  maxSize: number,
  caller: string,
): { width: number; height: number } {
  const widest = 2 ** Math.floor(Math.log2(maxSize));
  const width = Math.min(widest, 2 ** Math.ceil(Math.log2(Math.sqrt(Math.max(1, texels)))));
  const height = Math.max(1, Math.ceil(texels / width));
  if (height <= maxSize) return { width, height };
  throw new Error(
    `${caller}: ${texels} vertices of all frames need a texture of ${width} × ${height}, but maxTextureSize is ${maxSize}; ` +
      'bake fewer clips, a lower fps, a mesh of fewer vertices, or allow a larger texture where devices have it.',
  );
}
