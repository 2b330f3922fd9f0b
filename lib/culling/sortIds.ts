/** Bits of a code for each axis, which are those of a digit when it is sorted by, and the largest number that they hold. */
const BITS = 10;
const CELLS = (1 << BITS) - 1;

/**
 * Sorts ids so that those whose spheres are near each other stand near each other, by Morton, "A Computer Oriented Geodetic
 * Data Base", 1966: the bits of a place's three coordinates are interleaved, and sorted by.
 *
 * @param spheres x, y, z and radius of each id.
 * @param order The ids; sorted in place.
 */
export function mortonOrder(spheres: Float32Array, order: Uint32Array): void {
  let minX = Infinity;
  let minY = Infinity;
  let minZ = Infinity;
  let size = 0;
  for (const id of order) {
    const at = id * 4;
    minX = Math.min(minX, spheres[at]);
    minY = Math.min(minY, spheres[at + 1]);
    minZ = Math.min(minZ, spheres[at + 2]);
  }
  for (const id of order) {
    const at = id * 4;
    size = Math.max(size, spheres[at] - minX, spheres[at + 1] - minY, spheres[at + 2] - minZ);
  }
  // One scale for all axes: cells shall be cubes, so that groups on a plain are as broad as they are long.
  const scale = size > 0 ? CELLS / size : 0;

  const codes = new Uint32Array(spheres.length / 4);
  for (const id of order) {
    const at = id * 4;
    codes[id] =
      spread((spheres[at] - minX) * scale) |
      (spread((spheres[at + 1] - minY) * scale) << 1) |
      (spread((spheres[at + 2] - minZ) * scale) << 2);
  }
  sortByCode(order, order.length, codes, order.slice());
}

/** Ten bits, with two zeros between each of them and the next. */
function spread(value: number): number {
  let bits = value & CELLS;
  bits = (bits | (bits << 16)) & 0x30000ff;
  bits = (bits | (bits << 8)) & 0x300f00f;
  bits = (bits | (bits << 4)) & 0x30c30c3;
  return (bits | (bits << 2)) & 0x9249249;
}

const _digits = /*@__PURE__*/ new Uint32Array(CELLS + 1);

/**
 * Sorts ids by their codes, in place: a radix sort, which leaves ids of the same code in their order.
 *
 * @param count How many of the ids: a part of the array would be an object, made in each frame.
 * @param codes A number of 30 bits for each id.
 * @param other As large as the ids, for what is kept meanwhile.
 */
export function sortByCode(ids: Uint32Array, count: number, codes: Uint32Array, other: Uint32Array): void {
  let from: Uint32Array = ids;
  let to: Uint32Array = other;
  for (let shift = 0; shift < 3 * BITS; shift += BITS) {
    _digits.fill(0);
    for (let i = 0; i < count; i++) _digits[(codes[from[i]] >> shift) & CELLS]++;
    let start = 0;
    for (let digit = 0; digit <= CELLS; digit++) {
      start += _digits[digit];
      // Where it ends: they are put there from the last to the first.
      _digits[digit] = start;
    }
    for (let i = count - 1; i >= 0; i--) to[--_digits[(codes[from[i]] >> shift) & CELLS]] = from[i];
    [from, to] = [to, from];
  }
  for (let i = 0; i < count; i++) ids[i] = from[i];
}
