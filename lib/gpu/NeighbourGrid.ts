import {
  atomicAdd,
  atomicLoad,
  atomicStore,
  clamp,
  Fn,
  floor,
  If,
  instanceIndex,
  int,
  invocationLocalIndex,
  Loop,
  max,
  min,
  storage,
  uint,
  vec2,
  workgroupBarrier,
} from 'three/tsl';
import { type ComputeNode, type Node, StorageBufferAttribute } from 'three/webgpu';
import { type StorageOf, storageOf, While, workgroupValues } from '../../shaders/tsl.js';

/** Invocations that sum up the cells, together. */
const SCANNED = 256;

/** What a grid is made of. */
export interface NeighbourGridOptions {
  /** How many there are to be found. */
  count: number;
  /** Width of a cell: how far neighbours are looked for. */
  cell: number;
  /** Cells along each side; the grid has its middle at 0. Whoever is outside counts as in the outermost cell. @default 128 */
  cells?: number;
  /** Where somebody is on the ground. */
  placeOf: (index: Node<'int'>) => Node<'vec2'>;
}

/**
 * Finds neighbours on the ground on the GPU: a counting sort of everybody by the cell of a grid that they are in.
 *
 * ```ts
 * const grid = new NeighbourGrid({ count, cell: 1, placeOf: (i) => agents.element(i).xy });
 * // in a step of yours, at the place of an agent:
 * grid.forEach(place, (other) => near.addAssign(agents.element(other).zw));
 * renderer.compute([...grid.steps, yours]);
 * ```
 *
 * @category Crowd
 */
export class NeighbourGrid {
  /** What sorts everybody anew: compute it before you ask, in one `renderer.compute`. */
  readonly steps: readonly ComputeNode[];
  /** While cells are counted, how many are in each; then where in `ids` each of them ends. */
  private readonly ends: StorageOf<'uint'>;
  private readonly ids: StorageOf<'uint'>;
  private readonly cells: number;
  private readonly cell: number;

  /** See {@link NeighbourGridOptions}. */
  constructor({ count, cell, cells = 128, placeOf }: NeighbourGridOptions) {
    this.cell = cell;
    this.cells = cells;
    // Each invocation of a step sums up a stretch of the cells.
    const stretch = Math.ceil((cells * cells) / SCANNED);
    const all = stretch * SCANNED;
    const ends = new StorageBufferAttribute(new Uint32Array(all), 1);
    const ids = storageOf(new StorageBufferAttribute(new Uint32Array(count), 1), 'uint');
    this.ends = storageOf(ends, 'uint').toReadOnly();
    this.ids = storageOf(ids.value, 'uint').toReadOnly();
    const sums = storage(ends, 'uint', all).toAtomic();
    const sumAt = (index: Node<'int'>) => sums.element(index) as never;
    const cellOf = (index: Node<'int'>) => {
      const at = this.cellAt(placeOf(index)).toVar();
      return int(at.y.mul(cells).add(at.x)).toVar();
    };

    const clear = Fn(() => {
      atomicStore(sumAt(int(instanceIndex)), uint(0) as never);
    });
    const tally = Fn(() => {
      atomicAdd(sumAt(cellOf(int(instanceIndex).toVar())), uint(1) as never);
    });
    // Each begins where those before it have come to.
    const scan = Fn(() => {
      const totals = workgroupValues('uint', 'totals', SCANNED);
      const local = int(invocationLocalIndex).toVar();
      const first = local.mul(stretch).toVar();
      const valueAt = (index: Node<'int'>) => atomicLoad(sumAt(index)) as unknown as Node<'uint'>;
      const total = uint(0).toVar();
      Loop(stretch, ({ i }) => {
        total.addAssign(valueAt(first.add(i)));
      });
      totals.element(local).assign(total);
      workgroupBarrier();
      const sum = uint(0).toVar();
      Loop(local, ({ i }) => {
        sum.addAssign(totals.element(i));
      });
      Loop(stretch, ({ i }) => {
        const index = first.add(i).toVar();
        const next = sum.add(valueAt(index)).toVar();
        atomicStore(sumAt(index), sum as never);
        sum.assign(next);
      });
    });
    // Where a cell begins moves on with each that is put there, until it is where the cell ends.
    const scatter = Fn(() => {
      const index = int(instanceIndex).toVar();
      const at = atomicAdd(sumAt(cellOf(index)), uint(1) as never) as unknown as Node<'uint'>;
      ids.element(int(at)).assign(uint(index));
    });
    this.steps = [
      clear().compute(all),
      tally().compute(count),
      scan().compute(SCANNED, [SCANNED]),
      scatter().compute(count),
    ];
  }

  /** Calls back for everybody in the cell of a place and the eight around it, the asker included. Builds on the current stack. */
  forEach(place: Node<'vec2'>, visit: (index: Node<'int'>) => void): void {
    const { cells, ends, ids } = this;
    const at = this.cellAt(place).toVar();
    const row = int(max(at.y.sub(1), 0)).toVar();
    const lastRow = int(min(at.y.add(1), cells - 1)).toVar();
    const left = int(max(at.x.sub(1), 0)).toVar();
    const right = int(min(at.x.add(1), cells - 1)).toVar();
    // Cells of a row lie one after another, and so do those who are in them.
    While(row.lessThanEqual(lastRow), () => {
      const first = row.mul(cells).toVar();
      const before = first.add(left).sub(1).toVar();
      const k = int(0).toVar();
      If(before.greaterThanEqual(0), () => {
        k.assign(int(ends.element(before)));
      });
      const end = int(ends.element(first.add(right))).toVar();
      While(k.lessThan(end), () => {
        visit(int(ids.element(k)).toVar());
        k.addAssign(1);
      });
      row.addAssign(1);
    });
  }

  /** Frees what is on the GPU. */
  dispose(): void {
    for (const step of this.steps) step.dispose();
    this.ends.value.dispose();
    this.ids.value.dispose();
  }

  private cellAt(place: Node<'vec2'>): Node<'vec2'> {
    const { cells, cell } = this;
    return clamp(floor(place.div(cell)).add(cells / 2), vec2(0), vec2(cells - 1)) as Node<'vec2'>;
  }
}
