import type { Material, Scene } from 'three';
import type { DrawnCrowd } from './DrawnCrowd.js';

/** Poses and draws crowds with one kind of renderer. */
export interface Backend {
  /**
   * Called right before a crowd is drawn.
   *
   * @param material The one that it is drawn in: its own, or one that stands in for it.
   * @throws If the device cannot draw the crowd.
   */
  prepare(renderer: object, crowd: DrawnCrowd, scene: Scene, material: Material): void;
  /** The same before it is drawn into a shadow map. */
  prepareShadow(renderer: object, crowd: DrawnCrowd): void;
}
