import type { Camera, Material, Scene } from 'three';
import type { DrawnCrowd } from './DrawnCrowd.js';

/** Poses and draws crowds with one kind of renderer. */
export interface Backend {
  /**
   * Called right before a crowd is drawn.
   *
   * @param camera What it is drawn for. Where WebGLRenderer draws for an array of cameras, it is one of them.
   * @param material The one that it is drawn in: its own, or one that stands in for it.
   * @throws If the device cannot draw the crowd.
   */
  prepare(renderer: object, crowd: DrawnCrowd, scene: Scene, camera: Camera, material: Material): void;
  /**
   * The same before it is drawn into a shadow map.
   *
   * @param camera That of the light.
   * @param viewer The camera that the frame is drawn for.
   */
  prepareShadow(renderer: object, crowd: DrawnCrowd, camera: Camera, viewer: Camera): void;
}
