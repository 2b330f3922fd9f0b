import type { Camera, GeometryGroup, Material, Scene } from 'three';
import type { ViewInfo } from '../culling/ViewInfo.js';
import type { DrawnCrowd } from './Crowd.js';

/** Poses and draws crowds with one kind of renderer. */
export interface Backend {
  /** Whether it is for `WebGLRenderer`; else for `WebGPURenderer`, on WebGPU and on WebGL 2. */
  readonly isWebGL: boolean;
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
   * @param lodCamera The camera that the frame is drawn for.
   * @param material In which it is drawn.
   */
  prepareShadow(
    renderer: object,
    crowd: DrawnCrowd,
    camera: Camera,
    lodCamera: Camera,
    material: Material,
    group: GeometryGroup | null,
  ): void;
  /** What a camera saw when it last drew the crowd, where the GPU finds that out; null where the CPU does. */
  readView?(renderer: object, crowd: DrawnCrowd, camera: Camera): Promise<ViewInfo> | null;
  /** Called when something of the crowd has changed that its materials are made for. */
  update?(crowd: DrawnCrowd): void;
  /** Called when a frame begins that draws the crowd, before shadow maps. */
  beginFrame?(crowd: DrawnCrowd): void;
  /** Called after each draw. */
  endDraw?(crowd: DrawnCrowd): void;
  /** Called when nothing is being drawn: an error thrown in the middle of a draw has kept `endDraw` from being called. */
  endAllDraws?(crowd: DrawnCrowd): void;
  /** Called when the crowd is drawn no more. */
  release?(crowd: DrawnCrowd): void;
}

/** The backends that the page has imported; each entry of the package brings its own. */
export const backends: Backend[] = [];

/** Lets every crowd of the page be drawn by one more kind of renderer. */
export function registerBackend(backend: Backend): void {
  if (!backends.includes(backend)) backends.push(backend);
}

/**
 * The backend for a renderer.
 *
 * @throws If the page has not imported it.
 */
export function backendOf(renderer: object): Backend {
  const isWebGL = (renderer as { isWebGLRenderer?: boolean }).isWebGLRenderer === true;
  for (let i = 0; i < backends.length; i++) if (backends[i].isWebGL === isWebGL) return backends[i];
  throw new Error(
    isWebGL
      ? "WebGLRenderer draws crowds of the entry 'skinned-instanced-mesh': import from there instead of 'skinned-instanced-mesh/webgpu'."
      : "WebGPURenderer draws crowds of the entry 'skinned-instanced-mesh/webgpu': import from there instead of 'skinned-instanced-mesh'.",
  );
}

/**
 * A value with which pieces come that it needs, made known as the module is loaded. Call it `@__PURE__`, so that bundlers drop value and
 * pieces for whoever does not use it.
 */
export function withPieces<T, P extends unknown[]>(
  value: T,
  register: (...pieces: P) => void,
  ...pieces: P
): T {
  register(...pieces);
  return value;
}
