/** Bits of a digit, of which a code has three. */
const BITS = 10;
const DIGITS = 2 ** BITS;

const _digits = /*@__PURE__*/ new Uint32Array(DIGITS);
let _other = /*@__PURE__*/ new Uint32Array(0);

/**
 * Sorts ids by their codes, in place: a radix sort, which leaves ids of the same code in their order.
 *
 * @param count How many of the ids: a part of the array would be an object, made in each frame.
 * @param codes A number of 30 bits for each id.
 */
export function sortByCode(ids: Uint32Array, count: number, codes: Uint32Array): void {
  if (_other.length < count) _other = new Uint32Array(ids.length);
  sortByDigit(ids, _other, count, codes, 0);
  sortByDigit(_other, ids, count, codes, BITS);
  sortByDigit(ids, _other, count, codes, 2 * BITS);
  for (let i = 0; i < count; i++) ids[i] = _other[i];
}

function sortByDigit(
  from: Uint32Array,
  to: Uint32Array,
  size: number,
  codes: Uint32Array,
  shift: number,
): void {
  _digits.fill(0);
  for (let i = 0; i < size; i++) _digits[(codes[from[i]] >> shift) & (DIGITS - 1)]++;
  let start = 0;
  for (let digit = 0; digit < DIGITS; digit++) {
    const count = _digits[digit];
    _digits[digit] = start;
    start += count;
  }
  for (let i = 0; i < size; i++) {
    const digit = (codes[from[i]] >> shift) & (DIGITS - 1);
    to[_digits[digit]++] = from[i];
  }
}
