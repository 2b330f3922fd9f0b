import { type Camera, Vector3 } from 'three';
import type { DrawOrder } from './DrawOrder.js';
import { type Budget, keepNearest } from './keepNearest.js';
import { LEVEL_CODES } from './LevelTable.js';

const _eye = /*@__PURE__*/ new Vector3();

/** How much of a crowd a view draws at most, and what it was that this left. */
export class ViewLimits {
  /** Triangles of an instance at each level at which the viewer may see it, and where it is passing over. */
  readonly costs: Float64Array = new Float64Array(LEVEL_CODES);
  private maxVisible = Infinity;
  maxTriangles = Infinity;
  /** Where the camera is that decides which instances are the nearest, and those that were. */
  private readonly eye = new Vector3();
  private kept: Int32Array | null = null;
  private changed = false;
  private readonly budget: Budget = { max: Infinity, costs: this.costs, levels: null };

  /**
   * Takes over what the limits are.
   *
   * @returns Whether all is as it was, so that the same instances are drawn.
   */
  update({ maxVisible, maxTriangles }: DrawOrder, viewer: Camera): boolean {
    const { eye } = this;
    let same = maxVisible === this.maxVisible && maxTriangles === this.maxTriangles && !this.changed;
    this.maxVisible = maxVisible;
    this.maxTriangles = maxTriangles;
    this.changed = false;
    if (maxVisible === Infinity && maxTriangles === Infinity) return same;
    _eye.setFromMatrixPosition(viewer.matrixWorld);
    same &&= _eye.equals(eye);
    eye.copy(_eye);
    return same;
  }

  /** Says how many triangles an instance has that the viewer sees at a level. */
  setCost(level: number, triangles: number): void {
    if (this.costs[level] === triangles) return;
    this.costs[level] = triangles;
    this.changed = true;
  }

  /** Lets `update` say once that all is not as it was. */
  again(): void {
    this.changed = true;
  }

  /** Forgets who was drawn. */
  clear(): void {
    this.kept?.fill(0);
    this.again();
  }

  /**
   * Lets no more instances be seen than may be: the nearest to the viewer.
   *
   * @param seen See `keepNearest`, also for the others.
   * @param levels The level at which the viewer sees each instance; null if there is one level.
   * @returns Whether all of them may be seen.
   */
  apply(
    seen: Int32Array,
    drawn: Uint32Array,
    spheres: Float32Array,
    matrix: readonly number[],
    levels: Uint8Array | null,
  ): boolean {
    const { maxVisible, maxTriangles } = this;
    if (maxVisible === Infinity && maxTriangles === Infinity) return true;
    this.kept ??= new Int32Array(seen.length);
    const { budget } = this;
    budget.max = maxTriangles;
    budget.levels = levels;
    return keepNearest(seen, drawn, this.kept, spheres, matrix, this.eye, maxVisible, budget);
  }
}
