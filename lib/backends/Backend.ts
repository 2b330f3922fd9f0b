import type { Camera, GeometryGroup, Material, Scene } from 'three';
import type { ViewInfo } from '../views/ViewInfo.js';
import type { DrawnCrowd } from './DrawnCrowd.js';

/** Poses and draws crowds with one kind of renderer. */
export interface Backend {
  /**
   * Called right before a crowd is drawn.
   *
   * @param camera What it is drawn for. Where WebGLRenderer draws for an array of cameras, it is one of them.
   * @param material The one that it is drawn in: its own, or one that stands in for it.
   * @param group The part of the geometry that is drawn; null for all of it.
   * @throws If the device cannot draw the crowd.
   */
  prepare(
    renderer: object,
    crowd: DrawnCrowd,
    scene: Scene,
    camera: Camera,
    material: Material,
    group: GeometryGroup | null,
  ): void;
  /**
   * The same before it is drawn into a shadow map.
   *
   * @param camera That of the light.
   * @param viewer The camera that the frame is drawn for.
   * @param material In which it is drawn.
   */
  prepareShadow(
    renderer: object,
    crowd: DrawnCrowd,
    camera: Camera,
    viewer: Camera,
    material: Material,
  ): void;
  /** What a camera saw when it last drew the crowd, where the GPU finds that out; null where the CPU does. */
  readView?(renderer: object, crowd: DrawnCrowd, camera: Camera): Promise<ViewInfo> | null;
}
