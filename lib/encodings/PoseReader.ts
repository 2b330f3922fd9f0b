import type { Box3 } from 'three';
import type { JointBoxes } from '../poses/jointBoxes.js';
import type { PoseMix } from '../poses/PoseMix.js';
import type { AffineArray } from '../utils/affine.js';

/** Reads poses out of baked data, as the shaders do on the GPU. */
export interface PoseReader {
  /**
   * Texels that the joints of a pose take where shaders read it: in a frame of the bone texture, or in the palette. The
   * influences of morph targets come after them.
   */
  readonly morphTexel: number;
  /**
   * Writes a joint's skinning matrix between two frames, 12 numbers from `at`, row by row. Null for tracks, which have no
   * frames of matrices.
   */
  readonly readJoint:
    | ((frame0: number, frame1: number, alpha: number, joint: number, out: AffineArray, at: number) => void)
    | null;
  /** Writes a joint's skinning matrix in a pose, 12 numbers from `at`, row by row. */
  readPose(pose: PoseMix, joint: number, out: AffineArray, at: number): void;
  /** Writes what a pose adds to the influence of each morph target. */
  readMorphs(pose: PoseMix, out: Float64Array): void;
  /**
   * Grows `target` by every pose there can be.
   *
   * @param boxes Joint boxes of other geometry than the data were baked with.
   * @param layers Layers on which clips may play, 1 by default.
   */
  expandBounds(target: Box3, boxes?: JointBoxes, layers?: number): void;
}
