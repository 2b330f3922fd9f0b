import type { Camera } from 'three';
import type { DrawFrame } from '../../../../shaders/tsl.js';
import type { View } from '../../../culling/View.js';
import { type DrawnCrowd, goesByInstanceLayers } from '../../DrawnCrowd.js';
import { ownInstanced, warnNotCulled } from '../../ownInstanced.js';

/** What is read of a WebGPURenderer. */
interface Renderer {
  readonly info: { readonly frame: number };
}

/** Cameras of a renderer. */
interface Cameras {
  /** What was drawn last that is no shadow map. */
  last: Camera | null;
  /** By camera: the one that decides on levels of detail. For a light's, that is the one whose picture has its shadows. */
  viewers: WeakMap<Camera, Camera>;
}

/** What a draw shows. Several nodes of a build ask for it. */
interface Draw {
  renderer: object | null;
  /** The call of `render` that it belongs to. */
  renderId: number;
  camera: Camera | null;
  /** Whether far instances come first. */
  transparent: boolean;
  view: View | null;
}

const camerasOf = /*@__PURE__*/ new WeakMap<object, Cameras>();
const draws = /*@__PURE__*/ new WeakMap<DrawnCrowd, Draw>();

/** Whether shaders ask which instance the drawn index stands for. */
export function readsView({ views, geometry }: DrawnCrowd): boolean {
  if (!views.isUsed) return false;
  const own = ownInstanced(geometry);
  if (own !== null) warnNotCulled(own);
  return own === null;
}

/** Call it before a draw, in `onBeforeRender`. three.js may draw shadow maps between that and the draw. */
export function announceCamera(renderer: object, camera: Camera, isShadowMap: boolean): void {
  let cameras = camerasOf.get(renderer);
  if (cameras === undefined) {
    cameras = { last: null, viewers: new WeakMap() };
    camerasOf.set(renderer, cameras);
  }
  if (!isShadowMap) cameras.last = camera;
  const lodCamera = cameras.last ?? camera;
  if (cameras.viewers.get(camera) !== lodCamera) cameras.viewers.set(camera, lodCamera);
}

/** The camera that decides on levels of detail where another one, or the same, draws. */
export const lodCameraOf = (renderer: object, camera: Camera): Camera =>
  camerasOf.get(renderer)?.viewers.get(camera) ?? camera;

/** What is drawn right now; null if that is all instances in their order. Call it right before a draw, see `OnObjectUpdate`. */
export function viewAtDraw(
  crowd: DrawnCrowd,
  { renderer, renderId, camera, material }: DrawFrame,
): View | null {
  if (!crowd.views.isUsed || renderer === null || camera === null) return null;
  let draw = draws.get(crowd);
  if (draw === undefined) {
    draw = { renderer: null, renderId: -1, camera: null, transparent: false, view: null };
    draws.set(crowd, draw);
  }
  const transparent = material?.transparent === true;
  const same = draw.renderId === renderId && draw.camera === camera && draw.renderer === renderer;
  if (same && draw.transparent === transparent) return draw.view;
  const { frame } = (renderer as Renderer).info;
  const lodCamera = lodCameraOf(renderer, camera);
  const { views, matrixWorld, level } = crowd;
  const byLayers = goesByInstanceLayers(crowd);
  const seen = views.of(camera, matrixWorld, frame, lodCamera, lodCamera !== camera, byLayers);
  draw.renderer = renderer;
  draw.renderId = renderId;
  draw.camera = camera;
  draw.transparent = transparent;
  // In shadow maps the order is of no use.
  const isSorted = lodCamera === camera && crowd.count === crowd.visibility.count;
  draw.view = isSorted ? seen.inOrder(level, transparent, matrixWorld, views) : seen.of(level);
  return draw.view;
}
