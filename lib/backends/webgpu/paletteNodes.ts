import { If, int, uniform } from 'three/tsl';
import type { Node } from 'three/webgpu';
import { drawMorphTexel, drawStride } from '../../../shaders/drawSlots.tsl.js';
import { texels } from '../../../shaders/TexelNode.js';
import { assignRows, type Build, componentsOf, type Rows } from '../../../shaders/tsl.js';
import type { RowsReader } from './MatrixRows.js';
import type { NodePoses } from './NodePoses.js';

/** Reads the poses of a crowd where a vertex is built. What gives rows or numbers builds on the current stack. */
export class PaletteNodes {
  private readonly reader: RowsReader;
  private takeBefore: ((poses: NodePoses, renderer: object) => void) | null = null;

  /**
   * @param poses Those of the crowd that is built for.
   * @param row Where the instance was posed that is drawn.
   */
  constructor(
    private readonly poses: NodePoses,
    private readonly build: Build,
    private readonly row: Node<'int'>,
  ) {
    this.reader = poses.palette.reader();
  }

  /** Lets what was built read the poses of another crowd; call it before each draw. */
  use(poses: NodePoses, renderer: object): void {
    this.reader.use(poses.palette);
    this.takeBefore?.(poses, renderer);
  }

  /** Rows of the instance's matrix times a joint's skinning matrix. */
  rows(joint: Node<'int'>): Rows {
    return this.reader.read(this.place(this.row, joint));
  }

  /** What clips add to the influence of a morph target. */
  influence(target: Node<'int'>): Node<'float'> {
    const column = drawMorphTexel().add(target.shiftRight(2));
    const four = this.reader.readFirst(this.place(this.row, column));
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
    const { keptPoses } = this.poses;
    const reader = keptPoses.palette.reader();
    const places = texels(keptPoses.rowsOn(this.build.renderer).texture.layered);
    const count = uniform(0, 'int');
    this.takeBefore = ({ keptPoses: kept }, renderer) => {
      reader.use(kept.palette);
      places.value = kept.rowsOn(renderer).texture.layered;
      count.value = kept.countOn(renderer);
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
    return row.mul(int(drawStride()).add(1)).add(column).toVar();
  }
}
