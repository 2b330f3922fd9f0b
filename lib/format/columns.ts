import type { BoneTextureData } from '../encodings/BoneTextureData.js';
import type { ArrayOrder } from './bakedJSON.js';
import { expectField } from './fileErrors.js';

/** Texels that stand in rows, e.g. frames of a clip: so many rows of so many texels, one after the other. */
interface Block {
  rows: number;
  columns: number;
}

/** Where the rows of texels are that may be stored as columns. */
export interface Blocks {
  blocks: Block[];
  /** Texel at which the first begins. */
  first: number;
}

/** Frames of skinning matrices, in rows of a texture. */
export function blocksOfFrames({ layout }: Pick<BoneTextureData, 'layout'>): Blocks {
  return { blocks: [{ rows: layout.height, columns: layout.width }], first: 0 };
}

/**
 * Frames of the keys of clips, clip after clip. In float32 they stand behind what never changes, at the end of the array.
 *
 * @param texels Of the whole array.
 */
export function blocksOfKeys(
  clips: readonly { frames: number; stride: number }[],
  texels: number,
  atEnd: boolean,
): Blocks {
  const blocks = clips.map(({ frames, stride }) => ({ rows: frames, columns: stride }));
  return { blocks, first: atEnd ? texels - areaOf(blocks) : 0 };
}

/** Texels of all blocks. */
function areaOf(blocks: readonly Block[]): number {
  return blocks.reduce((sum, { rows, columns }) => sum + rows * columns, 0);
}

/** Whether all of the blocks lie within an array of so many texels. */
export function fitsIn({ blocks, first }: Blocks, texels: number): boolean {
  return first >= 0 && first + areaOf(blocks) <= texels;
}

/** An array in another order. */
export function reorder(rows: Float32Array | Uint16Array, order: ArrayOrder, where: Blocks): Texels {
  const { blocks, first } = where;
  const bits = bitsOf(rows);
  if (order === 'rows') return bits;
  if (order === 'columns') return toColumns(bits, blocks, first);
  return toDifferences(bits as Uint16Array, blocks, first);
}

/** The same the other way round. @throws If the blocks do not lie within the array. */
export function inRows<T extends Float32Array | Uint16Array>(
  stored: T,
  order: ArrayOrder,
  where: Blocks,
  field: string,
): T {
  if (order === 'rows') return stored;
  const { blocks, first } = where;
  const isRoom = fitsIn(where, stored.length / 4);
  expectField(isRoom, `${field}.length`, stored.length, 'enough for the frames of all clips');
  if (order === 'differences') return fromDifferences(stored as Uint16Array, blocks, first) as T;
  const rows = fromColumns(bitsOf(stored), blocks, first);
  return (stored instanceof Float32Array ? new Float32Array(rows.buffer as ArrayBuffer) : rows) as T;
}

/** The bits of floats as whole numbers; nothing is copied. */
function bitsOf(array: Float32Array | Uint16Array): Texels {
  return array instanceof Uint16Array ? array : new Uint32Array(array.buffer, array.byteOffset, array.length);
}

/** Floats go as their bits: copied as numbers, not all of them would come out the same. */
type Texels = Uint32Array | Uint16Array;

/** Numbers of a texel. */
const SIZE = 4;

/**
 * Writes blocks of texels column by column: all frames of one joint or track behind each other, where neighbours are alike and
 * compress well. What comes before `first` and behind the blocks is copied.
 *
 * @param first Texel at which the first block begins.
 */
function toColumns<T extends Texels>(rows: T, blocks: readonly Block[], first: number): T {
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
function fromColumns<T extends Texels>(stored: T, blocks: readonly Block[], first: number): T {
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
function toDifferences(rows: Uint16Array, blocks: readonly Block[], first: number): Uint16Array {
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
function fromDifferences(stored: Uint16Array, blocks: readonly Block[], first: number): Uint16Array {
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
