import type { InstanceTexture } from '../instances/InstanceTexture.js';
import type { EditModel } from '../tracks/mixPose.js';
import type { PosedBeyondClips } from '../tracks/reachBounds.js';

/**
 * Changes poses of single instances after their clips were mixed: what the pose pass, poses on the CPU and bounds ask for.
 * Its shader text is registered with each backend, see `registerPoseEditGLSL` and `registerPoseEditNodes`.
 */
export interface PoseEditor {
  /** Another number after each change. No two editors ever have the same, and none has 0. */
  readonly version: number;
  /** What shaders read, always as many; each may become another one. */
  readonly textures: readonly InstanceTexture[];
  /** Where nodes may be other than where clips put them. */
  readonly reach: PosedBeyondClips;
  /** As `version`, of `reach`. */
  readonly reachVersion: number;
  /** Call before instances are posed: it brings what shaders read up to the present time. */
  update(): void;
  /** The same for one instance that is posed on the CPU. */
  place(index: number): void;
  /** Whether an instance was changed since a time of the clock. Twin of `PoseEditNodes.editedSince`. */
  changedSince(index: number, time: number): boolean;
  /** Changes local transforms: `TRS_SIZE` numbers a node. */
  applyLocals(index: number, trs: Float64Array): void;
  /** What is to be applied to matrices relative to the root, parents first; undefined for nothing. */
  modelEdits(index: number): EditModel | undefined;
}

/** Whose poses may be edited. */
export interface EditedCrowd {
  /** Null as long as nothing edits them; that costs nothing. */
  readonly poseEdits: PoseEditor | null;
}
