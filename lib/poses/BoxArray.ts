import type { Box3 } from 'three';

/** A box along the axes as plain numbers: its least x, y and z, then its greatest. */
export type BoxArray = [minX: number, minY: number, minZ: number, maxX: number, maxY: number, maxZ: number];

/** The numbers of a box. */
export function boxToArray({ min, max }: Box3): BoxArray {
  return [min.x, min.y, min.z, max.x, max.y, max.z];
}

/** Grows a box by another. */
export function expandByArray(target: Box3, box: Readonly<BoxArray>): void {
  const { min, max } = target;
  min.set(Math.min(min.x, box[0]), Math.min(min.y, box[1]), Math.min(min.z, box[2]));
  max.set(Math.max(max.x, box[3]), Math.max(max.y, box[4]), Math.max(max.z, box[5]));
}
