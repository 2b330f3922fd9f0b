import { type BufferAttribute, type BufferGeometry, InstancedBufferAttribute, type TypedArray } from 'three';

/**
 * Typed arrays over memory that is not shared, as three.js's textures and WebGPU want them. Since TypeScript 5.7 the memory is a
 * type parameter of `Float32Array`, which older ones refuse; written this way, they can read the package's declarations too.
 */
export type OwnedFloats = ReturnType<typeof Float32Array.of>;
/** See {@link OwnedFloats}. */
export type OwnedBytes = ReturnType<typeof Uint8Array.of>;

/** Exchanges items `i` and `j` of an array whose items are `size` numbers each. */
export function swapItems(array: { [index: number]: number }, i: number, j: number, size: number): void {
  for (let k = 0; k < size; k++) {
    const kept = array[i * size + k];
    array[i * size + k] = array[j * size + k];
    array[j * size + k] = kept;
  }
}

interface Range {
  start: number;
  count: number;
}

/** Most ranges that are kept apart; each is an upload of its own. */
const MAX_RANGES = 16;

/**
 * Adds a range to those that three.js will upload. If another range is no further than `gap` away, it is extended instead; so
 * is the nearest one when there are many already.
 */
export function addRange(ranges: Range[], start: number, count: number, gap: number): void {
  let nearest: Range | null = null;
  let least = Infinity;
  for (const range of ranges) {
    const distance = Math.max(range.start - (start + count), start - (range.start + range.count));
    if (distance < least) {
      least = distance;
      nearest = range;
      if (distance <= 0) break;
    }
  }

  if (nearest === null || (least > gap && ranges.length < MAX_RANGES)) {
    ranges.push({ start, count });
    return;
  }
  const end = Math.max(nearest.start + nearest.count, start + count);
  nearest.start = Math.min(nearest.start, start);
  nearest.count = end - nearest.start;
}

/**
 * Has renderers upload an item of an attribute. `needsUpdate` alone would not, where ranges are set by the user, before or after
 * this, for other items: renderers upload nothing but the ranges then.
 */
export function itemChanged(attribute: BufferAttribute, index: number): void {
  const { updateRanges, itemSize, array } = attribute;
  // Without ranges all of it may be waiting for upload, which a range of the item alone would put a stop to.
  if (updateRanges.length === 0) attribute.addUpdateRange(0, array.length);
  else addRange(updateRanges, index * itemSize, itemSize, 0);
  attribute.needsUpdate = true;
}

/** Ranges of whole attributes, which serve again: in each frame, where instances move by themselves. */
const whole = /*@__PURE__*/ new WeakMap<BufferAttribute, { start: number; count: number }>();

/** The same for all items. */
export function allChanged(attribute: BufferAttribute): void {
  const { updateRanges, array } = attribute;
  let range = whole.get(attribute);
  if (range === undefined) {
    range = { start: 0, count: 0 };
    whole.set(attribute, range);
  }
  range.start = 0;
  range.count = array.length;
  updateRanges.length = 0;
  updateRanges.push(range);
  attribute.needsUpdate = true;
}

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
  source.dispose();
  return copy;
}

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
