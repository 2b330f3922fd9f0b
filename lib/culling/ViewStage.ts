import type { Matrix4 } from 'three';
import type { CameraView } from './CameraView.js';
import type { CrowdViews } from './CrowdViews.js';
import type { View } from './View.js';

/** Instances on layers of no camera are left out first, and then those that are too many. */
export const STAGE_LAYERS = 0;
export const STAGE_LIMITS = 1;

/** A feature that has a say in what cameras draw of what they see of a crowd. The CPU makes the lists then. */
export interface CrowdStage {
  /** Those of lower numbers come first. */
  readonly stage: number;
  /** Whether it does anything. */
  readonly isUsed: boolean;
  /** Whether levels of detail are to begin sooner where there are too many triangles. */
  readonly fitsLevels?: boolean;
  /** The same for what one camera sees. */
  forView(view: CameraView): ViewStage;
}

/** Gives a feature a say in what cameras draw of what they see. */
export function addStage(views: CrowdViews, stage: CrowdStage): void {
  views.stages.push(stage);
  views.stages.sort((a, b) => a.stage - b.stage);
  views.dropViews();
}

export function removeStage(views: CrowdViews, stage: CrowdStage): void {
  views.stages.splice(views.stages.indexOf(stage), 1);
  views.dropViews();
}

/** What a feature does to what one camera sees. */
export interface ViewStage {
  /** @returns Whether `apply` would leave the same as the last time, provided that the camera sees the same. */
  update(crowd: CrowdViews): boolean;
  /**
   * Clears bits of `view.seen`.
   *
   * @returns Whether all instances are left.
   */
  apply(crowdMatrixWorld: Matrix4, crowd: CrowdViews): boolean;
  /**
   * A list of the view in the order in which it is drawn.
   *
   * @param farFirst Whether the farthest come first, as in transparent materials.
   */
  sorted?(list: number | null, farFirst: boolean, crowdMatrixWorld: Matrix4, crowd: CrowdViews): View;
  /** Called when the view goes over to another camera. */
  clear?(): void;
  dispose?(): void;
}
