import type { BufferGeometry, InstancedBufferAttribute } from 'three';

/**
 * Makes renderers free the buffers of a geometry, and of instanced attributes that belong to the mesh which draws it. If they
 * are drawn again, renderers create new buffers.
 *
 * WebGLRenderer frees a mesh's own attributes only when the mesh dispatches `dispose`, which a user's listeners would take
 * for the end of the mesh. But when a geometry is disposed it frees all attributes of that geometry; so for a moment the
 * mesh's attributes are made part of it.
 */
export function releaseBuffers(
  geometry: BufferGeometry,
  attributes: readonly (InstancedBufferAttribute | null)[],
): void {
  // Objects from which properties were deleted are slow ever after, and renderers go through attributes in each draw.
  const { attributes: own } = geometry;
  geometry.attributes = { ...own };
  attributes.forEach((attribute, i) => {
    if (attribute !== null) geometry.setAttribute(`released${i}`, attribute);
  });
  releasing = geometry;
  geometry.dispose();
  releasing = null;
  geometry.attributes = own;
}

let releasing: BufferGeometry | null = null;

/** Whether a geometry that is being disposed is so only for its buffers to be freed. */
export const isReleasing = (geometry: BufferGeometry): boolean => geometry === releasing;
