import { If, int, uniform } from 'three/tsl';
import type { Node, WebGPURenderer } from 'three/webgpu';
import { texels } from '../../../shaders/TexelNode.js';
import {
  assignRows,
  type Build,
  componentsOf,
  type Rows,
  type StoredUints,
  uintsIn,
} from '../../../shaders/tsl.js';
import type { RowsReader } from './MatrixRows.js';
import type { NodePosePass } from './NodePosePass.js';
import { columnsOf } from './PoseSteps.js';
import { seenRowOf } from './views/SeenNodes.js';

/** Reads the poses of a crowd where a vertex is built. What gives rows or numbers builds on the current stack. */
export class PaletteNodes {
  private readonly webGPU: boolean;
  private readonly joints = uniform(0, 'int');
  private readonly columns = uniform(0, 'int');
  private readonly reader: RowsReader;
  /** The row of each instance, where the GPU makes the lists; 0 rows where that is its own number. */
  private readonly rowsOf: StoredUints | null;
  private readonly rowCount = uniform(0, 'int');
  private readBefore: ((pass: NodePosePass, renderer: WebGPURenderer) => void) | null = null;

  /**
   * @param pass Of the crowd that is built for.
   * @param onGPU Whether the GPU finds out what cameras see of it.
   */
  constructor(
    private readonly pass: NodePosePass,
    private readonly build: Build,
    onGPU: boolean,
  ) {
    this.webGPU = build.isAvailable('storageBuffer');
    const { rows } = pass.posesOn(this.webGPU);
    this.reader = rows.palette.reader();
    this.rowsOf = onGPU ? uintsIn(rows.rows).toReadOnly() : null;
  }

  /** Lets what was built read the poses of another crowd; call it before each draw, see `OnObjectUpdate`. */
  use(pass: NodePosePass, renderer: WebGPURenderer): void {
    const { tracks } = pass;
    this.joints.value = tracks.joints;
    this.columns.value = columnsOf(tracks);
    const { rows } = pass.posesOn(this.webGPU);
    this.reader.use(rows.palette);
    if (this.rowsOf !== null) this.rowsOf.value = rows.rows;
    this.rowCount.value = rows.count;
    this.readBefore?.(pass, renderer);
  }

  /** Where an instance was posed. */
  rowOf(instance: Node<'int'>): Node<'int'> {
    const row = instance.toVar();
    const { rowsOf } = this;
    if (rowsOf !== null) {
      If(this.rowCount.notEqual(0), () => {
        row.assign(seenRowOf(rowsOf, row));
      });
    }
    return row;
  }

  /** Rows of a joint's skinning matrix, of the instance that was posed in a row of the palette. */
  rows(row: Node<'int'>, joint: Node<'int'>): Rows {
    return this.reader.read(this.place(row, joint));
  }

  /** What clips add to the influence of a morph target. */
  influence(row: Node<'int'>, target: Node<'int'>): Node<'float'> {
    const column = this.joints.add(target.shiftRight(2));
    const four = this.reader.readFirst(this.place(row, column));
    return componentsOf(four).element(target.bitAnd(3));
  }

  /**
   * What a vertex was multiplied with in the frame before.
   *
   * @param rows The same now, for instances that were not there then, or have not moved.
   * @param sum Sums up the matrices of the vertex's joints.
   */
  rowsBefore(
    instance: Node<'int'>,
    rows: Rows,
    sum: (jointMatrix: (joint: Node<'int'>) => Rows) => Rows,
  ): Rows {
    const renderer = this.build.renderer as WebGPURenderer;
    const { before } = this.pass.posesOn(this.webGPU);
    const reader = before.palette.reader();
    const places = texels(before.rowsOn(renderer).texture.layered);
    const count = uniform(0, 'int');
    this.readBefore = (pass, drawer) => {
      const kept = pass.posesOn(this.webGPU).before;
      reader.use(kept.palette);
      places.value = kept.rowsOn(drawer).texture.layered;
      count.value = kept.countOn(drawer);
    };

    const [place] = places.instanceTexels(instance, 1, int(0), 1);
    const then = int(place.x).toVar();
    const result: Rows = [rows[0].toVar(), rows[1].toVar(), rows[2].toVar()];
    If(then.lessThan(count), () => {
      assignRows(
        result,
        sum((joint) => reader.read(this.place(then, joint))),
      );
    });
    return result;
  }

  private place(row: Node<'int'>, column: Node<'int'>): Node<'int'> {
    return row.mul(this.columns).add(column).toVar();
  }
}
