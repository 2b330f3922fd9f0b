import type { BoneTextureData } from '../encodings/BoneTextureData.js';
import type { ArrayOrder } from './bakedJSON.js';
import {
  type Block,
  fromColumns,
  fromDifferences,
  type Texels,
  toColumns,
  toDifferences,
} from './columns.js';
import { expectField } from './fileErrors.js';

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
