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

/** The same for all items. */
export function allChanged(attribute: BufferAttribute): void {
  attribute.clearUpdateRanges();
  attribute.addUpdateRange(0, attribute.array.length);
  attribute.needsUpdate = true;
}
