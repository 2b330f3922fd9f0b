import type { BufferGeometry, Object3D } from 'three';
import { isOfVertices } from '../utils/geometries.js';
import { warnOnce } from '../utils/messages.js';
import type { DrawnCrowd } from './Crowd.js';

/** Whether an object draws a crowd. */
export const isCrowd = (object: Object3D | null): object is DrawnCrowd =>
  (object as DrawnCrowd | null)?.isCrowdMesh === true;

/** What an object stands in: mostly the scene. */
export function rootOf(object: Object3D): Object3D {
  let root = object;
  while (root.parent !== null) root = root.parent;
  return root;
}

/**
 * Whether the layers of single instances say which cameras draw a mesh of a crowd. Not those of one that is on other layers than the
 * crowd itself: these say it, as of a thing in the hand of a clone.
 */
export const goesByInstanceLayers = ({ layers, crowd }: Pick<DrawnCrowd, 'layers' | 'crowd'>): boolean =>
  layers.mask === crowd.layersMask;

/**
 * The first instanced attribute that the user has put on a geometry; null if there is none. GPUs read it by the drawn index,
 * whatever instance a view draws there.
 */
export function ownInstanced({ attributes }: BufferGeometry): string | null {
  for (const name in attributes) {
    if (!isOfVertices(attributes[name])) return name;
  }
  return null;
}

/** @throws If a geometry has one: where several meshes draw the instances, each would read the first values. */
export function refuseInstanced(name: string, geometry: BufferGeometry): void {
  const own = ownInstanced(geometry);
  if (own === null) return;
  throw new Error(
    `${name}: the instanced attribute "${own}" of your own is read by the drawn index; read it from a texture, by instanceIndex() in your shader.`,
  );
}

/** Whether views of the crowd say which instances a mesh draws, and so which one the drawn index stands for. */
export function readsView({ views, geometry }: DrawnCrowd): boolean {
  if (!views.isUsed) return false;
  const own = ownInstanced(geometry);
  if (own !== null) warnNotCulled(own);
  return own === null;
}

/** Says that instances which are not seen are drawn all the same. */
export function warnNotCulled(attribute: string): void {
  warnOnce(
    `SkinnedInstancedMesh: the instanced attribute "${attribute}" of your own is read by the index at which an instance is drawn, so all are drawn, and hidden instances in the place of others; ` +
      'read it from a texture by instanceIndex() in your shader.',
  );
}
