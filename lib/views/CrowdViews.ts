import type { Camera, Matrix4 } from 'three';
import { CameraView } from './CameraView.js';
import { type GroupedCrowd, InstanceGroups } from './InstanceGroups.js';

/** Which instances of a crowd each camera sees. */
export class CrowdViews {
  /** Whether instances that a camera does not see are left out. */
  perObjectFrustumCulled = true;
  readonly groups: InstanceGroups;

  constructor(private readonly crowd: GroupedCrowd) {
    this.groups = new InstanceGroups(crowd);
  }

  /** Whether the meshes of the crowd are drawn by lists. Changing it compiles materials anew. */
  get isUsed(): boolean {
    return false;
  }

  /**
   * What a camera sees.
   *
   * @param camera Its `matrixWorldInverse` and `projectionMatrix` are up to date.
   * @param crowdMatrixWorld Where the crowd is.
   * @param frame The renderer's: a view that was not asked for in a frame may be used for something else.
   * @param viewer The camera that the frame is drawn for, if `camera` is a light's: it decides on levels of detail.
   */
  of(_camera: Camera, _crowdMatrixWorld: Matrix4, _frame: number, _viewer = _camera): CameraView {
    return new CameraView(this.crowd.count);
  }

  dispose(): void {}
}
