import { type BufferGeometry, InterleavedBuffer, InterleavedBufferAttribute } from 'three';
import type { NumberArray } from '../../utils/geometries.js';

/** What is put into one buffer where the geometry would otherwise have too many. */
const PACKED = ['normal', 'tangent', 'uv', 'uv1', 'uv2', 'uv3'];

/**
 * Puts normals, tangents and uv sets of a crowd geometry into one buffer for each kind of numbers that they are, or if there are too
 * many kinds all of them, as floats, into one.
 *
 * @param most Vertex buffers that the device binds.
 */
export function packAttributes(geometry: BufferGeometry, most: number): void {
  const isCrowded = () => {
    const attributes = Object.values(geometry.attributes) as InterleavedBufferAttribute[];
    return new Set(attributes.map((attribute) => attribute.data ?? attribute)).size > most;
  };
  if (!isCrowded()) return;
  const names = PACKED.filter((name) => geometry.hasAttribute(name));
  const kindOf = (name: string) => geometry.getAttribute(name).array.constructor as NumberArray;
  for (const kind of new Set(names.map(kindOf))) {
    const alike = names.filter((name) => kindOf(name) === kind);
    if (alike.length > 1) packTogether(geometry, alike, kind);
  }
  if (isCrowded() && names.length > 1) packTogether(geometry, names, Float32Array);
}

function packTogether(geometry: BufferGeometry, names: readonly string[], Numbers: NumberArray): void {
  const sources = names.map((name) => geometry.getAttribute(name));
  // Each begins at a multiple of four bytes.
  const perWord = 4 / new Numbers(0).BYTES_PER_ELEMENT;
  const sizes = sources.map(({ itemSize }) => Math.ceil(itemSize / perWord) * perWord);
  const stride = sizes.reduce((sum, size) => sum + size, 0);
  const { count } = geometry.getAttribute('position');
  const packed = new InterleavedBuffer(new Numbers(count * stride), stride);
  let offset = 0;
  sources.forEach((source, i) => {
    const normalized = source.normalized && Numbers !== Float32Array;
    const attribute = new InterleavedBufferAttribute(packed, source.itemSize, offset, normalized);
    for (let vertex = 0; vertex < count; vertex++) {
      for (let k = 0; k < source.itemSize; k++)
        attribute.setComponent(vertex, k, source.getComponent(vertex, k));
    }
    geometry.setAttribute(names[i], attribute);
    offset += sizes[i];
  });
}
