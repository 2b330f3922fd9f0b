import type { BufferAttribute, BufferGeometry, InterleavedBufferAttribute } from 'three';
import { warnOnce } from '../utils/messages.js';

/** An attribute as three.js tells whether it goes from instance to instance rather than from vertex to vertex. */
interface Instanced {
  isInstancedBufferAttribute?: boolean;
  data?: { isInstancedInterleavedBuffer?: boolean };
}

/** Whether an attribute goes from instance to instance. */
export function isInstanced(attribute: (BufferAttribute | InterleavedBufferAttribute) & Instanced): boolean {
  return (
    attribute.isInstancedBufferAttribute === true || attribute.data?.isInstancedInterleavedBuffer === true
  );
}

/**
 * The first instanced attribute that the user has put on a geometry; null if there is none. GPUs read it by the drawn index,
 * whatever instance a view draws there.
 */
export function ownInstanced({ attributes }: BufferGeometry): string | null {
  for (const name in attributes) {
    if (isInstanced(attributes[name])) return name;
  }
  return null;
}

/** Says that instances which are not seen are drawn all the same. */
export function warnNotCulled(attribute: string): void {
  warnOnce(
    `SkinnedInstancedMesh: the instanced attribute "${attribute}" of your own is read by the index at which an instance is drawn, so all are drawn, and hidden instances in the place of others; ` +
      'read it from a texture by instanceIndex() in your shader.',
  );
}
