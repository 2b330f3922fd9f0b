import type { Camera, Matrix4 } from 'three';
import type { Node } from 'three/webgpu';

/** What is hidden from the cameras of a renderer by something else than the crowd. */
export interface CameraOcclusion {
  /** Tells it apart from others; greater than 0. */
  readonly id: number;
  /**
   * Finds out what hides something from a camera, unless that has been done in this frame. It may render, and so call hooks of the
   * user's, which may change anything, and render pictures for which it is asked anew.
   *
   * @returns Grows whenever something else may be hidden; 0 if nothing is.
   */
  prepare(camera: Camera): number;
  /**
   * Has shaders ask for the camera that was prepared last.
   *
   * @param version What `prepare` returned; 0 if nothing is hidden.
   * @param clip From the crowd's space into what the camera shows.
   * @param matrixWorld That of the crowd.
   */
  use(version: number, clip: Matrix4, matrixWorld: Matrix4): void;
  /** Whether a sphere in the crowd's space is hidden. Builds on the current stack. */
  hides(sphere: Node<'vec4'>): Node<'bool'>;
}
