/** Texels that stand in rows, e.g. frames of a clip: so many rows of so many texels, one after the other. */
export interface Block {
  rows: number;
  columns: number;
}

/** Floats go as their bits: copied as numbers, not all of them would come out the same. */
export type Texels = Uint32Array | Uint16Array;

/** Numbers of a texel. */
const SIZE = 4;

/**
 * Writes blocks of texels column by column: all frames of one joint or track behind each other, where neighbours are alike and
 * compress well. What comes before `first` and behind the blocks is copied.
 *
 * @param first Texel at which the first block begins.
 */
export function toColumns<T extends Texels>(rows: T, blocks: readonly Block[], first: number): T {
  const out = rows.slice() as T;
  let start = first * SIZE;
  for (const { rows: count, columns } of blocks) {
    const next = columns * SIZE;
    let to = start;
    for (let column = 0; column < columns; column++) {
      let from = start + column * SIZE;
      for (let row = 0; row < count; row++, from += next, to += SIZE) {
        for (let i = 0; i < SIZE; i++) out[to + i] = rows[from + i];
      }
    }
    start = to;
  }
  return out;
}

/** The same the other way round. */
export function fromColumns<T extends Texels>(stored: T, blocks: readonly Block[], first: number): T {
  const out = stored.slice() as T;
  let start = first * SIZE;
  for (const { rows: count, columns } of blocks) {
    const next = columns * SIZE;
    let from = start;
    for (let column = 0; column < columns; column++) {
      let to = start + column * SIZE;
      for (let row = 0; row < count; row++, to += next, from += SIZE) {
        for (let i = 0; i < SIZE; i++) out[to + i] = stored[from + i];
      }
    }
    start = from;
  }
  return out;
}

/**
 * Writes blocks of 16-bit texels column by column, each number as what it differs from the straight line through the two before
 * it, modulo 65,536; the second as what it differs from the first. Differences are small numbers whatever their sign: 0, -1, 1, -2,
 * 2, … are 0, 1, 2, 3, 4, ….
 */
export function toDifferences(rows: Uint16Array, blocks: readonly Block[], first: number): Uint16Array {
  const out = toColumns(rows, blocks, first);
  let start = first * SIZE;
  for (const { rows: count, columns } of blocks) {
    for (let column = 0; column < columns; column++, start += count * SIZE) {
      for (let i = 0; i < SIZE; i++) {
        // `line` is where the straight line goes.
        let before = 0;
        let line = 0;
        for (let row = 0, at = start + i; row < count; row++, at += SIZE) {
          const value = out[at];
          const difference = ((value - line) << 16) >> 16;
          out[at] = (difference << 1) ^ (difference >> 15);
          line = row === 0 ? value : 2 * value - before;
          before = value;
        }
      }
    }
  }
  return out;
}

/** The same the other way round. */
export function fromDifferences(stored: Uint16Array, blocks: readonly Block[], first: number): Uint16Array {
  const out = stored.slice();
  let start = first * SIZE;
  for (const { rows: count, columns } of blocks) {
    const next = columns * SIZE;
    let from = start;
    for (let column = 0; column < columns; column++, from += count * SIZE) {
      for (let i = 0; i < SIZE; i++) {
        let before = 0;
        let line = 0;
        let to = start + column * SIZE + i;
        for (let row = 0, at = from + i; row < count; row++, at += SIZE, to += next) {
          const difference = stored[at];
          const value = (line + ((difference >>> 1) ^ -(difference & 1))) & 0xffff;
          out[to] = value;
          line = row === 0 ? value : 2 * value - before;
          before = value;
        }
      }
    }
    start = from;
  }
  return out;
}
