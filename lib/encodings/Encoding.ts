import type { AffineArray } from '../utils/affine.js';

/** How a joint's matrix is written: three texels for any, or two for rotation, translation and uniform scale. */
export type MatrixEncodingName = 'matrix' | 'quaternion';

/**
 * How poses are stored: as skinning matrices frame by frame, which each vertex reads and mixes; or as the clips' own tracks,
 * from which a pass of its own poses each instance as `AnimationMixer` does.
 */
export type EncodingName = MatrixEncodingName | 'tracks';

/**
 * How a joint's skinning matrix is written as texels and read again. `shaders/encodings` has the decoder in GLSL and TSL.
 * A new encoding takes one file here, two there, and a line in `encodings/index.ts`.
 */
export interface Encoding {
  readonly name: MatrixEncodingName;
  /** RGBA texels per joint. */
  readonly texels: number;
  /**
   * Writes one joint.
   *
   * @param affine 3×4 matrix, 12 numbers from `at`.
   * @param out Floats; `4 × texels` of them are written from `outAt`.
   * @param previousAt Where the same joint of the clip's previous frame was written, or -1.
   * @returns The largest error of the matrix's 3×3 part, relative to its scale; 0 where the encoding is exact.
   */
  encode(affine: AffineArray, at: number, out: Float32Array, outAt: number, previousAt: number): number;
  /** Writes the 3×4 matrix that the shader gets when it mixes two frames of a joint; `alpha` from 0 to 1. */
  decode(first: Float32Array, second: Float32Array, alpha: number, out: AffineArray, at: number): void;
}
