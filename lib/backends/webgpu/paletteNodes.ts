import { If, int, uniform } from 'three/tsl';
import type { Node, WebGPURenderer } from 'three/webgpu';
import { texels } from '../../../shaders/TexelNode.js';
import { assignRows, type Build, componentsOf, type Rows } from '../../../shaders/tsl.js';
import type { RowsReader } from './MatrixRows.js';
import type { NodePosePass } from './NodePosePass.js';
import { columnsOf } from './PoseSteps.js';

/** Reads the poses of a crowd where a vertex is built. What gives rows or numbers builds on the current stack. */
export class PaletteNodes {
  private readonly webGPU: boolean;
  private readonly joints = uniform(0, 'int');
  private readonly columns = uniform(0, 'int');
  private readonly reader: RowsReader;
  private readBefore: ((pass: NodePosePass, renderer: WebGPURenderer) => void) | null = null;

  /** @param pass Of the crowd that is built for. */
  constructor(
    private readonly pass: NodePosePass,
    private readonly build: Build,
  ) {
    this.webGPU = build.isAvailable('storageBuffer');
    this.reader = pass.posesOn(this.webGPU).palette.reader();
  }

  /** Lets what was built read the poses of another crowd; call it before each draw, see `OnObjectUpdate`. */
  use(pass: NodePosePass, renderer: WebGPURenderer): void {
    const { tracks } = pass;
    this.joints.value = tracks.joints;
    this.columns.value = columnsOf(tracks);
    this.reader.use(pass.posesOn(this.webGPU).palette);
    this.readBefore?.(pass, renderer);
  }

  /** Rows of a joint's skinning matrix. */
  rows(instance: Node<'int'>, joint: Node<'int'>): Rows {
    return this.reader.read(this.place(instance, joint));
  }

  /** What clips add to the influence of a morph target. */
  influence(instance: Node<'int'>, target: Node<'int'>): Node<'float'> {
    const column = this.joints.add(target.shiftRight(2));
    const four = this.reader.readFirst(this.place(instance, column));
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

  private place(instance: Node<'int'>, column: Node<'int'>): Node<'int'> {
    return instance.mul(this.columns).add(column).toVar();
  }
}
