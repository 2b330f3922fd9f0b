import type { BufferGeometry } from 'three';
import { isOfVertices } from '../utils/geometries.js';
import { warnOnce } from '../utils/messages.js';
import type { DrawnCrowd } from './DrawnCrowd.js';

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
