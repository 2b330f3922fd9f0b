/** Bits of a code for each axis, and the largest number that they hold. */
const BITS = 10;
const CELLS = 2 ** BITS - 1;
/** A digit of the sort has as many bits as an axis, so that three of them are a code. */
const DIGITS = 2 ** BITS;

const _digits = /*@__PURE__*/ new Uint32Array(DIGITS);
let _codes = /*@__PURE__*/ new Uint32Array(0);
let _other = /*@__PURE__*/ new Uint32Array(0);

/**
 * Sorts ids so that those whose spheres are near each other stand near each other, by Morton, "A Computer Oriented Geodetic
 * Data Base", 1966: the bits of a place's three coordinates are interleaved, and sorted by.
 *
 * @param spheres x, y, z and radius of each id.
 * @param order The ids; sorted in place.
 */
export function mortonOrder(spheres: Float32Array, order: Uint32Array): void {
  const count = order.length;
  let minX = Infinity;
  let minY = Infinity;
  let minZ = Infinity;
  let size = 0;
  for (let i = 0; i < count; i++) {
    const at = order[i] * 4;
    minX = Math.min(minX, spheres[at]);
    minY = Math.min(minY, spheres[at + 1]);
    minZ = Math.min(minZ, spheres[at + 2]);
  }
  for (let i = 0; i < count; i++) {
    const at = order[i] * 4;
    size = Math.max(size, spheres[at] - minX, spheres[at + 1] - minY, spheres[at + 2] - minZ);
  }
  // One scale for all axes: cells shall be cubes, so that groups on a plain are as broad as they are long.
  const scale = size > 0 ? CELLS / size : 0;

  if (_codes.length < spheres.length / 4) _codes = new Uint32Array(spheres.length / 4);
  if (_other.length < count) _other = new Uint32Array(count);
  for (let i = 0; i < count; i++) {
    const id = order[i];
    const at = id * 4;
    _codes[id] =
      spread((spheres[at] - minX) * scale) |
      (spread((spheres[at + 1] - minY) * scale) << 1) |
      (spread((spheres[at + 2] - minZ) * scale) << 2);
  }
  const other = _other.subarray(0, count);
  sortByDigit(order, other, 0);
  sortByDigit(other, order, BITS);
  sortByDigit(order, other, 2 * BITS);
  order.set(other);
}

/** Ten bits, with two zeros between each of them and the next. */
function spread(value: number): number {
  let bits = value & CELLS;
  bits = (bits | (bits << 16)) & 0x30000ff;
  bits = (bits | (bits << 8)) & 0x300f00f;
  bits = (bits | (bits << 4)) & 0x30c30c3;
  return (bits | (bits << 2)) & 0x9249249;
}

/** One pass of a radix sort, which leaves ids of the same digit in their order. */
function sortByDigit(from: Uint32Array, to: Uint32Array, shift: number): void {
  _digits.fill(0);
  for (let i = 0; i < from.length; i++) _digits[(_codes[from[i]] >> shift) & CELLS]++;
  let start = 0;
  for (let digit = 0; digit < DIGITS; digit++) {
    const count = _digits[digit];
    _digits[digit] = start;
    start += count;
  }
  for (let i = 0; i < from.length; i++) {
    const digit = (_codes[from[i]] >> shift) & CELLS;
    to[_digits[digit]++] = from[i];
  }
}
