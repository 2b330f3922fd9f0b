import { BufferAttribute, InterleavedBuffer, InterleavedBufferAttribute, type TypedArray } from 'three';

/** A class of arrays of numbers. */
export type NumberArray = new (length: number) => TypedArray;

/**
 * An attribute of whole numbers that stand for shares of one, with room for so many vertices. Each begins at a multiple of four bytes,
 * as WebGPU wants it.
 */
export function shareAttribute(
  Shares: NumberArray,
  vertices: number,
  itemSize: number,
): BufferAttribute | InterleavedBufferAttribute {
  const array = new Shares(0);
  const perWord = 4 / array.BYTES_PER_ELEMENT;
  const stride = Math.ceil(itemSize / perWord) * perWord;
  const shares = new Shares(vertices * stride);
  if (stride === itemSize) return new BufferAttribute(shares, itemSize, true);
  return new InterleavedBufferAttribute(new InterleavedBuffer(shares, stride), itemSize, 0, true);
}
