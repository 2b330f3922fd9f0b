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

/** An array of another length with what is in one, as far as there is room; numbers beyond are 0 unless `more` says otherwise. */
export function resized<T extends TypedArray>(array: T, length: number, more = 0): T {
  const made = new (array.constructor as new (length: number) => T)(length);
  made.set(array.subarray(0, length));
  // Memory that is not touched costs nothing.
  return more === 0 ? made : (made.fill(more, array.length) as T);
}

type Range = BufferAttribute['updateRanges'][number];

/** Most ranges that are kept apart; each is an upload of its own. */
const MAX_RANGES = 16;

/** Numbers between two ranges that are uploaded along with them: one upload more costs more than that. */
const GAP = 256;

/** Has renderers upload single items of an attribute, such as the places or the colours of instances, and no more than needed. */
export class ItemUploads {
  /** The attribute of which an item has changed last, and the version it had then. */
  private last: BufferAttribute | null = null;
  private version = -1;
  /** These serve again: some are needed in each frame. */
  private readonly ranges: Range[] = [];
  private used = 0;

  /**
   * Call once an item was written.
   *
   * @param shared Whether several renderers draw it: one forgets the ranges that it has uploaded, and others then do not know of them.
   */
  changed(attribute: BufferAttribute, index: number, shared: boolean): void {
    const { itemSize } = attribute;
    if (shared || this.wasTouched(attribute)) allChanged(attribute);
    else {
      this.addRange(attribute.updateRanges, index * itemSize, itemSize);
      attribute.needsUpdate = true;
    }
    this.last = attribute;
    this.version = attribute.version;
  }

  /** Call before the attribute is uploaded: `needsUpdate`, set by others since an item has changed, shall go for all of them. */
  settle(attribute: BufferAttribute): void {
    if (this.last !== attribute || !this.wasTouched(attribute) || attribute.updateRanges.length === 0) return;
    allChanged(attribute);
    this.version = attribute.version;
  }

  /** Whether others may have changed items. */
  private wasTouched(attribute: BufferAttribute): boolean {
    return attribute !== this.last || attribute.version !== this.version;
  }

  /** Extends the nearest range, if it is near, or there are many already. */
  private addRange(ranges: Range[], start: number, count: number): void {
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

    if (nearest === null || (least > GAP && ranges.length < MAX_RANGES)) {
      if (ranges.length === 0) this.used = 0;
      const range = this.ranges[this.used] ?? { start: 0, count: 0 };
      this.ranges[this.used++] = range;
      range.start = start;
      range.count = count;
      ranges.push(range);
      return;
    }
    const end = Math.max(nearest.start + nearest.count, start + count);
    nearest.start = Math.min(nearest.start, start);
    nearest.count = end - nearest.start;
  }
}

/** Ranges of whole attributes, which serve again: in each frame, where instances move by themselves. */
const whole = /*@__PURE__*/ new WeakMap<BufferAttribute, Range>();

/** Has renderers upload all items of an attribute. */
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
  if (count > source.count) {
    for (let k = 0; k < itemSize; k++) copy.setComponent(source.count, k, added[k] ?? 1);
    repeatItem(copy.array, source.count * itemSize, itemSize);
  }
  source.dispose();
  return copy;
}

/** Fills what follows an item, to the end of an array, with copies of it. */
export function repeatItem(array: TypedArray, start: number, size: number): void {
  for (let filled = size; start + filled < array.length; filled *= 2)
    array.copyWithin(start + filled, start, start + filled);
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
  geometry.dispose();
  geometry.attributes = own;
}
