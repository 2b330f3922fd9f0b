import type { AnimationClip } from 'three';

/** Numbers per frame of a root motion: x, y, z in scene units, and the turn about y in radians. */
export const MOTION_SIZE = 4;

/** What to extract from clips that walk away from where they begin. */
export interface RootMotionOptions {
  /**
   * Name of the joint or node whose way over the ground is the character's. By default the first, parents before
   * children, whose position the clips change.
   */
  joint?: string;
  /** Whether turns about the y axis are extracted too. @default true */
  yaw?: boolean;
  /** Whether motion along y is extracted too, e.g. of clips that climb. @default false */
  vertical?: boolean;
  /** The clips, or the names that they are baked by; by default all of them. */
  clips?: readonly (string | Pick<AnimationClip, 'name'>)[];
}
