import type { TypedArray } from 'three';
import { expectField } from '../utils/messages.js';

const KINDS = [Float32Array, Float64Array, Uint8Array, Uint16Array, Uint32Array, Int32Array];

/** Where an array is: in which view, of which kind, from which number on, and how many. `list` is 1 for what was no typed array. */
type Place = [view: number, kind: number, from: number, count: number, list?: 1];

/**
 * Where texels of four numbers stand in rows, e.g. those of a frame: from which texel on, then how many rows of how many, block by block.
 * They are stored column by column, where neighbours are alike, and of 16 bits as what they differ from the straight line through the two
 * before.
 */
export type Rows = readonly number[];

/** How a large array is stored: how many numbers are one element for compression, and where texels stand in rows. */
export interface Order {
  size?: number;
  rows?: Rows;
}

/** Bytes, and how many of them are one element, for compression. */
export interface PackedView {
  bytes: Uint8Array;
  stride: number;
}

/** Arrays with at least so many bytes have a view of their own. */
const LARGE = 8192;
/** Lists of numbers from this length on are stored as arrays, which hold what JSON cannot: -0, infinite and no numbers. */
const LONG = 3;
/** What is packed is flatter than this. */
const MAX_DEPTH = 16;

/** Plain data as JSON, in which arrays of numbers are places in views. */
export function pack(
  value: unknown,
  orderOf: (array: TypedArray) => Order,
): { value: unknown; views: PackedView[] } {
  const views: { kind: number; arrays: TypedArray[]; length: number; stride: number }[] = [];
  const store = (array: ArrayLike<number>, kind: number, list?: 1): { $: Place; rows?: Rows } => {
    // Views of files have bytes.
    if (array.length === 0) return { $: [0, kind, 0, 0] };
    const bytes = KINDS[kind].BYTES_PER_ELEMENT;
    const isLarge = array.length * bytes >= LARGE;
    const { size = 1, rows } = isLarge ? orderOf(array as TypedArray) : {};
    let at = isLarge ? -1 : views.findIndex((view) => view.kind === kind);
    if (at < 0)
      at = views.push({ kind: isLarge ? -1 : kind, arrays: [], length: 0, stride: bytes * size }) - 1;
    const view = views[at];
    const copy = new KINDS[kind](array);
    if (rows) reorder(copy, rows, false);
    view.arrays.push(copy);
    view.length += array.length;
    const place: Place = [at, kind, view.length - array.length, array.length];
    if (list) place.push(list);
    return { $: place, ...(rows && { rows }) };
  };
  const walk = (one: unknown): unknown => {
    if (ArrayBuffer.isView(one)) return store(one as TypedArray, KINDS.indexOf(one.constructor as never));
    if (Array.isArray(one)) {
      const isNumbers = one.length >= LONG && one.every((item) => typeof item === 'number');
      return isNumbers ? store(one, 1, 1) : one.map(walk);
    }
    if (typeof one !== 'object' || one === null) return one;
    return Object.fromEntries(Object.entries(one).map(([key, item]) => [key, walk(item)]));
  };
  // Without what is undefined, as it will be read.
  const json = JSON.parse(JSON.stringify(walk(value)));
  return { value: json, views: views.map(({ arrays, stride }) => ({ bytes: joined(arrays), stride })) };
}

/** The bytes of arrays, one after another. */
export function joined(arrays: readonly TypedArray[]): Uint8Array {
  const bytes = new Uint8Array(arrays.reduce((sum, { byteLength }) => sum + byteLength, 0));
  let at = 0;
  for (const { buffer, byteOffset, byteLength } of arrays) {
    bytes.set(new Uint8Array(buffer, byteOffset, byteLength), at);
    at += byteLength;
  }
  return bytes;
}

/**
 * What `pack` has packed. Arrays are views of the bytes: nothing is copied but short lists, and what stands in columns changes places.
 *
 * @throws If a place is none of the views', or so many are named that some must be named twice.
 */
export function unpack(json: unknown, views: readonly Uint8Array[]): unknown {
  let left = views.reduce((sum, { byteLength }) => sum + byteLength, 0);
  const take = (place: Place, rows: unknown, field: string): unknown => {
    const [view, kind, from, count, list] = place;
    const Kind = KINDS[kind];
    if (Kind && count === 0) return new Kind(0);
    const size = Kind?.BYTES_PER_ELEMENT * count;
    const fits =
      [from, count].every((one) => Number.isSafeInteger(one) && one >= 0) &&
      from * Kind?.BYTES_PER_ELEMENT + size <= views[view]?.byteLength;
    left -= size;
    expectField(fits && left >= 0, field, JSON.stringify(place), 'a place of its own in what is stored');
    const { buffer, byteOffset } = views[view];
    const array = new Kind(buffer as ArrayBuffer, byteOffset + from * Kind.BYTES_PER_ELEMENT, count);
    if (rows !== undefined) {
      expectField(areRows(rows, array), `${field}.rows`, rows, 'rows within it');
      reorder(array, rows, true);
    }
    return list ? [...array] : array;
  };
  const walk = (one: unknown, field: string, depth: number): unknown => {
    expectField(depth < MAX_DEPTH, field, one, 'nested less deeply');
    if (Array.isArray(one)) return one.map((item, i) => walk(item, `${field}[${i}]`, depth + 1));
    if (typeof one !== 'object' || one === null) return one;
    const { $, rows } = one as { $?: Place; rows?: unknown };
    if (Array.isArray($)) return take($, rows, field);
    const entries = Object.entries(one).map(([key, item]) => [key, walk(item, `${field}.${key}`, depth + 1)]);
    return Object.fromEntries(entries);
  };
  return walk(json, 'value', 0);
}

/** Whether they are rows of texels, all of them within an array. */
function areRows(rows: unknown, { length, BYTES_PER_ELEMENT: bytes }: TypedArray): rows is Rows {
  if (!Array.isArray(rows) || rows.length % 2 === 0 || (bytes !== 2 && bytes !== 4)) return false;
  if (!rows.every((one) => Number.isSafeInteger(one) && one >= 0 && one <= length)) return false;
  let end = rows[0] * 4;
  for (let block = 1; block < rows.length; block += 2) end += rows[block] * rows[block + 1] * 4;
  return end <= length;
}

/** Puts rows in columns, or back. */
function reorder(
  { buffer, byteOffset, byteLength, BYTES_PER_ELEMENT: size }: TypedArray,
  rows: Rows,
  back: boolean,
): void {
  // Floats go as their bits.
  const Bits = size === 2 ? Uint16Array : Uint32Array;
  const bits = new Bits(buffer as ArrayBuffer, byteOffset, byteLength / size);
  // Of each number of a texel the one before, and where the straight line goes.
  const before = new Int32Array(4);
  const line = new Int32Array(4);
  let start = rows[0] * 4;
  for (let block = 1; block < rows.length; block += 2) {
    const count = rows[block];
    const width = count && rows[block + 1] * 4;
    const given = bits.slice(start, start + count * width);
    for (let column = 0, at = 0; column < width; column += 4) {
      before.fill(0);
      line.fill(0);
      for (let row = 0, place = column; row < count; row++, at += 4, place += width) {
        const [from, to] = back ? [at, start + place] : [place, start + at];
        for (let k = 0; k < 4; k++) {
          const value = given[from + k];
          if (size > 2) {
            bits[to + k] = value;
            continue;
          }
          // Differences are small numbers whatever their sign: 0, -1, 1, -2, 2, … are 0, 1, 2, 3, 4, ….
          const difference = back ? (value >>> 1) ^ -(value & 1) : ((value - line[k]) << 16) >> 16;
          const own = (line[k] + difference) & 0xffff;
          bits[to + k] = back ? own : (difference << 1) ^ (difference >> 15);
          line[k] = row === 0 ? own : 2 * own - before[k];
          before[k] = own;
        }
      }
    }
    start += count * width;
  }
}

/**
 * A number that changes with any of the bytes: FNV-1a by words of four, whose upper bits are mixed into the lower ones, where two changes of
 * signs would take each other back else.
 */
export function digestOf(json: unknown, views: readonly ArrayBufferView[]): number {
  let hash = 0x811c9dc5;
  const texts = new TextEncoder().encode(JSON.stringify(json));
  for (const { buffer, byteOffset, byteLength } of [texts, ...views]) {
    const words = new Uint32Array(Math.ceil(byteLength / 4));
    new Uint8Array(words.buffer).set(new Uint8Array(buffer, byteOffset, byteLength));
    for (let i = 0; i < words.length; i++) {
      hash = Math.imul(hash ^ words[i], 0x01000193);
      hash ^= hash >>> 16;
    }
  }
  return hash >>> 0;
}
