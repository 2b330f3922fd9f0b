import type { ColorTexels } from './ColorTexels.js';
import type { InstanceData } from './InstanceData.js';
import type { InstanceMatrices } from './InstanceMatrices.js';

/** Copies of instances' matrices and colours as texels, which what draws them makes when they are needed. */
export class MatrixTexels implements InstanceData {
  /** Null while they are vertex attributes. */
  matrices: InstanceMatrices | null = null;
  /** Colours, where matrices are read from a buffer; null while they are not. */
  colors: ColorTexels | null = null;
  /** Matrices of the frame before; null until someone asks for motion vectors. */
  previous: InstanceMatrices | null = null;

  /** They are brought up to the number of instances when the mesh is drawn next. */
  resize(): void {}

  /** Those of this frame follow `instanceMatrix` by themselves. */
  swap(i: number, j: number): void {
    this.previous?.swap(i, j);
  }

  /** Those of this frame follow by themselves. It was nowhere in the frame before, and must not seem to come from there. */
  reset(index: number): void {
    this.previous?.appear(index);
  }

  /** A copy has not been drawn yet. */
  copy(): void {}

  dispose(): void {
    this.matrices?.dispose();
    this.colors?.dispose();
    this.previous?.dispose();
  }
}
