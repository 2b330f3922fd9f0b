import type { BoneTextureData } from '../animation/BoneTextureData.js';
import type { ArrayOrder } from './bakedJSON.js';
import { expectField } from './fileErrors.js';

/** Where the rows of texels are that may be stored as columns. */
export interface Blocks {
  /** So many rows, e.g. frames of a clip, of so many texels, one after the other. */
  blocks: { rows: number; columns: number }[];
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
function areaOf(blocks: Blocks['blocks']): number {
  return blocks.reduce((sum, { rows, columns }) => sum + rows * columns, 0);
}

/** Whether all of the blocks lie within an array of so many texels. */
export function fitsIn({ blocks, first }: Blocks, texels: number): boolean {
  return first >= 0 && first + areaOf(blocks) <= texels;
}

/** An array in another order. */
export function reorder(rows: Float32Array | Uint16Array, order: ArrayOrder, where: Blocks): Texels {
  const bits = bitsOf(rows);
  if (order === 'rows') return bits;
  const columns = inColumns(bits, where);
  return order === 'columns' ? columns : differ(columns as Uint16Array, where);
}

/** The same the other way round. @throws If the blocks do not lie within the array. */
export function inRows<T extends Float32Array | Uint16Array>(
  stored: T,
  order: ArrayOrder,
  where: Blocks,
  field: string,
): T {
  if (order === 'rows') return stored;
  const isRoom = fitsIn(where, stored.length / 4);
  expectField(isRoom, `${field}.length`, stored.length, 'enough for the frames of all clips');
  const bits = bitsOf(stored);
  const columns = order === 'differences' ? differ(bits.slice() as Uint16Array, where, true) : bits;
  const rows = inColumns(columns, where, true);
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
 * Blocks of texels column by column: all frames of one joint or track behind each other, where neighbours are alike and compress well.
 * What comes before `first` and behind the blocks is copied.
 *
 * @param first Texel at which the first block begins.
 * @param back Whether `texels` are columns, and rows are wanted.
 */
function inColumns<T extends Texels>(texels: T, { blocks, first }: Blocks, back = false): T {
  const out = texels.slice() as T;
  let start = first * SIZE;
  for (const { rows, columns } of blocks) {
    let at = start;
    for (let column = 0; column < columns; column++) {
      let place = start + column * SIZE;
      for (let row = 0; row < rows; row++, at += SIZE, place += columns * SIZE) {
        for (let i = 0; i < SIZE; i++) {
          if (back) out[place + i] = texels[at + i];
          else out[at + i] = texels[place + i];
        }
      }
    }
    start = at;
  }
  return out;
}

/**
 * Makes each 16-bit number of columns what it differs from the straight line through the two before it, modulo 65,536; the second what
 * it differs from the first. Differences are small numbers whatever their sign: 0, -1, 1, -2, 2, … are 0, 1, 2, 3, 4, ….
 *
 * @param back Whether they are differences, and the numbers are wanted.
 */
function differ(texels: Uint16Array, { blocks, first }: Blocks, back = false): Uint16Array {
  let start = first * SIZE;
  for (const { rows, columns } of blocks) {
    for (let column = 0; column < columns; column++, start += rows * SIZE) {
      for (let i = 0; i < SIZE; i++) {
        // `line` is where the straight line goes.
        let before = 0;
        let line = 0;
        for (let row = 0, at = start + i; row < rows; row++, at += SIZE) {
          const given = texels[at];
          const difference = ((given - line) << 16) >> 16;
          const value = back ? (line + ((given >>> 1) ^ -(given & 1))) & 0xffff : given;
          texels[at] = back ? value : (difference << 1) ^ (difference >> 15);
          line = row === 0 ? value : 2 * value - before;
          before = value;
        }
      }
    }
  }
  return texels;
}
