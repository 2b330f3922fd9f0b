import type { ColorTexels } from './ColorTexels.js';
import type { InstanceData } from './InstanceData.js';
import type { InstanceMatrices } from './InstanceMatrices.js';

/** The mesh that has them; what draws it makes them when they are needed. */
interface TexelMesh {
  matrices: InstanceMatrices | null;
  colorTexels: ColorTexels | null;
  previousMatrices: InstanceMatrices | null;
}

/** Copies of a mesh's matrices as texels, for node materials and for views: those of this frame, and of the one before. */
export class MatrixTexels implements InstanceData {
  constructor(private readonly mesh: TexelMesh) {}

  /** They are brought up to the number of instances when the mesh is drawn next. */
  resize(): void {}

  /** Those of this frame follow `instanceMatrix` by themselves. */
  swap(i: number, j: number): void {
    this.mesh.previousMatrices?.swap(i, j);
  }

  /** Those of this frame follow by themselves. It was nowhere in the frame before, and must not seem to come from there. */
  reset(index: number): void {
    this.mesh.previousMatrices?.appear(index);
  }

  /** A copy has not been drawn yet. */
  copy(): void {}

  dispose(): void {
    this.mesh.matrices?.dispose();
    this.mesh.colorTexels?.dispose();
    this.mesh.previousMatrices?.dispose();
  }
}
