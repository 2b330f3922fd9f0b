import type { Box3 } from 'three';
import type { JointBoxes } from '../poses/jointBoxes.js';
import type { PoseMix } from '../poses/PoseMix.js';
import type { AffineArray } from '../utils/affine.js';

/** Reads poses out of what was baked, as the shaders do: the CPU's half of an encoding. */
export interface PoseReader {
  /** Writes a joint's skinning matrix in a pose, 12 numbers from `at`, row by row. */
  readPose(pose: PoseMix, joint: number, out: AffineArray, at: number): void;
  /** Writes what a pose adds to the influence of each morph target. */
  readMorphs(pose: PoseMix, out: Float64Array): void;
  /**
   * Grows `target` by every pose there can be.
   *
   * @param boxes Boxes of other geometry than was baked with.
   */
  expandBounds(target: Box3, boxes?: JointBoxes): void;
}
