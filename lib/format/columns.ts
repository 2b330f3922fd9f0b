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
  move(blocks, first, (row, column) => {
    for (let i = 0; i < SIZE; i++) out[column + i] = rows[row + i];
  });
  return out;
}

/** The same the other way round. */
export function fromColumns<T extends Texels>(columns: T, blocks: readonly Block[], first: number): T {
  const out = columns.slice() as T;
  move(blocks, first, (row, column) => {
    for (let i = 0; i < SIZE; i++) out[row + i] = columns[column + i];
  });
  return out;
}

/** Calls back with the place of each texel's numbers in rows, and in columns. */
function move(blocks: readonly Block[], first: number, copy: (row: number, column: number) => void): void {
  let start = first;
  for (const { rows, columns } of blocks) {
    for (let column = 0, at = start; column < columns; column++) {
      for (let row = 0; row < rows; row++, at++) copy((start + row * columns + column) * SIZE, at * SIZE);
    }
    start += rows * columns;
  }
}

/**
 * Writes blocks of 16-bit texels column by column, each number as what it differs from the straight line through the two before
 * it, modulo 65,536. Differences are small numbers whatever their sign: 0, -1, 1, -2, 2, … are 0, 1, 2, 3, 4, ….
 */
export function toDifferences(rows: Uint16Array, blocks: readonly Block[], first: number): Uint16Array {
  const out = rows.slice();
  move(blocks, first, (row, column) => {
    for (let i = 0; i < SIZE; i++) out[column + i] = rows[row + i];
  });
  eachColumn(blocks, first, (from, to) => {
    // From the last row up, so that those before it are still what they were.
    for (let at = to - SIZE; at >= from; at -= SIZE) {
      for (let i = 0; i < SIZE; i++) {
        const line = straight(out, at + i, (at - from) / SIZE);
        const difference = ((out[at + i] - line) << 16) >> 16;
        out[at + i] = (difference << 1) ^ (difference >> 15);
      }
    }
  });
  return out;
}

/** The same the other way round. */
export function fromDifferences(columns: Uint16Array, blocks: readonly Block[], first: number): Uint16Array {
  const values = columns.slice();
  eachColumn(blocks, first, (from, to) => {
    for (let at = from; at < to; at += SIZE) {
      for (let i = 0; i < SIZE; i++) {
        const stored = values[at + i];
        values[at + i] = straight(values, at + i, (at - from) / SIZE) + ((stored >>> 1) ^ -(stored & 1));
      }
    }
  });
  return fromColumns(values, blocks, first);
}

/** Where the line through the two numbers before one in its column goes. */
function straight(values: Uint16Array, at: number, row: number): number {
  if (row === 0) return 0;
  const before = values[at - SIZE];
  return row === 1 ? before : 2 * before - values[at - 2 * SIZE];
}

/** Calls back with where each column begins and ends, in numbers. */
function eachColumn(blocks: readonly Block[], first: number, use: (from: number, to: number) => void): void {
  let start = first;
  for (const { rows, columns } of blocks) {
    for (let column = 0; column < columns; column++, start += rows) use(start * SIZE, (start + rows) * SIZE);
  }
}
