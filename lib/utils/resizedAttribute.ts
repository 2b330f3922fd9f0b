import { InstancedBufferAttribute, type TypedArray } from 'three';

/**
 * A copy of an instanced attribute with room for more or fewer instances. The attribute that it replaces is disposed.
 *
 * @param added The item that each added instance begins with.
 */
export function resizedAttribute(
  source: InstancedBufferAttribute,
  count: number,
  added: readonly number[],
): InstancedBufferAttribute {
  const { array, itemSize, normalized, meshPerAttribute } = source;
  const Numbers = array.constructor as new (length: number) => TypedArray;
  const copy = new InstancedBufferAttribute(
    new Numbers(count * itemSize),
    itemSize,
    normalized,
    meshPerAttribute,
  );
  copy.setUsage(source.usage);
  copy.name = source.name;
  copy.array.set(array.subarray(0, count * itemSize));
  for (let i = source.count; i < count; i++) {
    for (let k = 0; k < itemSize; k++) copy.setComponent(i, k, added[k] ?? 1);
  }
  // The oldest three.js that is supported has no such method.
  source.dispose?.();
  return copy;
}
