import type { Camera } from 'three';

/** An instance that is to be drawn, for a function that sorts them. */
export interface SortedInstance {
  /** Its id. */
  index: number;
  /** How far its middle lies in front of the camera, in world units along the way it looks. */
  z: number;
}

/**
 * Brings the instances that a camera sees into the order in which they are drawn.
 *
 * @param list Is sorted in place. The same objects serve again in the next frame.
 */
export type CustomSort = (list: SortedInstance[], camera: Camera) => void;

/** In what order instances are drawn, and how many of them at most. */
export class DrawOrder {
  /** Whether they are drawn by their distance from the camera, or by a function: else by their ids. */
  sortObjects = false;
  /** Most of them that a camera sees, the nearest. */
  maxVisible = Infinity;
  /** Triangles that are drawn for a camera at most. */
  maxTriangles = Infinity;
  /** Goes up when another function sorts. */
  version = 0;
  private sort: CustomSort | null = null;

  get customSort(): CustomSort | null {
    return this.sort;
  }

  set customSort(sort: CustomSort | null) {
    if (sort === this.sort) return;
    this.sort = sort;
    this.version++;
  }

  /** Whether it takes lists of instances, and of the CPU's making. */
  get isUsed(): boolean {
    return this.sortObjects || this.maxVisible < Infinity || this.maxTriangles < Infinity;
  }

  copy({ sortObjects, maxVisible, maxTriangles, customSort }: DrawOrder): void {
    this.sortObjects = sortObjects;
    this.maxVisible = maxVisible;
    this.maxTriangles = maxTriangles;
    this.customSort = customSort;
  }
}
