import { type BufferGeometry, InterleavedBuffer, InterleavedBufferAttribute } from 'three';

/** What is put into one buffer where the geometry would otherwise have too many. */
const PACKED = ['normal', 'tangent', 'uv', 'uv1', 'uv2', 'uv3'];

/**
 * Puts normals, tangents and uv sets of a crowd geometry into one buffer, as floats, where it has more than there is room for.
 *
 * @param most Vertex buffers that the device binds.
 */
export function packAttributes(geometry: BufferGeometry, most: number): void {
  const attributes = Object.values(geometry.attributes) as InterleavedBufferAttribute[];
  if (new Set(attributes.map((attribute) => attribute.data ?? attribute)).size <= most) return;
  const names = PACKED.filter((name) => geometry.hasAttribute(name));
  const stride = names.reduce((sum, name) => sum + geometry.getAttribute(name).itemSize, 0);
  const { count } = geometry.getAttribute('position');
  const packed = new InterleavedBuffer(new Float32Array(count * stride), stride);
  let offset = 0;
  for (const name of names) {
    const source = geometry.getAttribute(name);
    const attribute = new InterleavedBufferAttribute(packed, source.itemSize, offset);
    for (let vertex = 0; vertex < count; vertex++) {
      for (let k = 0; k < source.itemSize; k++)
        attribute.setComponent(vertex, k, source.getComponent(vertex, k));
    }
    geometry.setAttribute(name, attribute);
    offset += source.itemSize;
  }
}
