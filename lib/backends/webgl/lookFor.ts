import type { ArrayCamera, Camera, WebGLRenderer } from 'three';
import type { View } from '../../views/View.js';
import { type DrawnCrowd, goesByInstanceLayers } from '../DrawnCrowd.js';
import { type Draw, drawnOf } from './Drawn.js';
import { knowsLists } from './patchMaterial.js';

/**
 * The camera that decides on levels of detail where a camera draws. Of a headset's eyes it is what both are part of, so that
 * they see the same.
 */
export function viewerOf({ xr }: WebGLRenderer, camera: Camera): Camera {
  if (!xr.isPresenting) return camera;
  const head = xr.getCamera() as ArrayCamera;
  return head.cameras.includes(camera as ArrayCamera['cameras'][number]) ? head : camera;
}

/** Chooses which instances are drawn for a camera; null for all, in shaders that know no views. */
export function lookFor(crowd: DrawnCrowd, { renderer, camera, viewer, material }: Draw): View | null {
  const drawn = drawnOf(crowd);
  drawn.wanted = null;
  if (!drawn.viewed || !readsLists(crowd, material)) return null;
  const { views, matrixWorld, level } = crowd;
  const byLayers = goesByInstanceLayers(crowd);
  const seen = views.of(camera, matrixWorld, renderer.info.render.frame, viewer, material === null, byLayers);
  drawn.looked[0] = seen;
  if (crowd.count <= views.visibility.count) drawn.wanted = drawn.looked;
  // Of a list that is sorted, no first part has the first instances. In shadow maps the order is of no use.
  if (material === null || isCut(crowd)) return seen.of(level);
  return seen.inOrder(level, material.transparent, matrixWorld, views);
}

/** How many instances are drawn: what three.js finds as the crowd's `count`. Null if it is what the user has set. */
export function drawnCount(crowd: DrawnCrowd, view: View | null): number | null {
  // In shaders that know no lists, level 0 draws all instances, also those that are at another level.
  // One that is drawn at levels of its own is drawn at none where there are none.
  const others = drawnOf(crowd).viewed || crowd.level === -1;
  if (view === null) return crowd.isLevelMesh === true && others ? 0 : null;
  if (view.isWhole ?? false) return null;
  // An attachment may be told to show fewer instances than there are. Lists are in ascending order then.
  return view.list.countBelow(crowd.count, view.count);
}

/** Whether the shaders of a draw know lists. Those of shadow maps do unless three.js uses its own, where the crowd has none. */
function readsLists(
  { customDepthMaterial: depth, customDistanceMaterial: distance }: DrawnCrowd,
  material: Draw['material'],
): boolean {
  if (material !== null) return knowsLists(material);
  return depth !== undefined && distance !== undefined && knowsLists(depth) && knowsLists(distance);
}

/** Whether an attachment was told to show fewer instances than there are. */
const isCut = ({ count, visibility }: DrawnCrowd): boolean => count < visibility.count;
