import type { BufferGeometry, InstancedBufferAttribute } from 'three';

/**
 * Lets renderers free the buffers of a geometry, and of attributes that belong to the mesh which draws it. They make them
 * anew if they draw them again.
 *
 * WebGLRenderer frees a mesh's own attributes only when the mesh dispatches `dispose`, and listeners of the user would
 * take that for the end of the mesh. With a geometry it frees whatever attributes the geometry has; so for a moment these
 * are among them.
 */
export function releaseBuffers(
  geometry: BufferGeometry,
  attributes: readonly (InstancedBufferAttribute | null)[],
): void {
  attributes.forEach((attribute, i) => {
    if (attribute !== null) geometry.setAttribute(`released${i}`, attribute);
  });
  geometry.dispose();
  attributes.forEach((_, i) => geometry.deleteAttribute(`released${i}`));
}
