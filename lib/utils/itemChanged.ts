import type { BufferAttribute } from 'three';
import { addRange } from './addRange.js';

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
