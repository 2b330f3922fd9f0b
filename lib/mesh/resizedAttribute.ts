import { InstancedBufferAttribute } from 'three';

/** A copy with room for more instances, or less, in place of an attribute that is no longer used. */
export function resizedAttribute(source: InstancedBufferAttribute, count: number): InstancedBufferAttribute {
  const array = new Float32Array(count * source.itemSize);
  array.set(source.array.subarray(0, array.length));
  const copy = new InstancedBufferAttribute(array, source.itemSize);
  copy.setUsage(source.usage);
  source.dispose?.();
  return copy;
}
