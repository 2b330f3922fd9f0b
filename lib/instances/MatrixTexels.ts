import type { InstancedBufferAttribute } from 'three';
import type { InstanceData } from './InstanceData.js';
import { copyColors, type InstanceMatrices, type PreviousMatrices } from './InstanceMatrices.js';
import { InstanceTexture } from './InstanceTexture.js';

/** Numbers of a texel, of which a colour takes three. */
const SIZE = 4;

/** Colours of instances as texels, a texel for each: for shaders that read where instances stand from elsewhere. */
export class ColorTexels {
  readonly texture: InstanceTexture;
  private colors: InstancedBufferAttribute | null = null;
  private version = -1;

  constructor(readonly capacity: number) {
    this.texture = new InstanceTexture(capacity, SIZE);
  }

  /** Copies the colours that have changed since the last call. */
  update(colors: InstancedBufferAttribute): void {
    if (colors === this.colors && colors.version === this.version) return;
    copyColors(colors, this.texture, SIZE);
    this.colors = colors;
    this.version = colors.version;
  }

  dispose(): void {
    this.texture.dispose();
  }
}

/** Copies of instances' matrices and colours as texels, which what draws them makes when they are needed. */
export class MatrixTexels implements InstanceData {
  /** Null while they are vertex attributes. */
  matrices: InstanceMatrices | null = null;
  /** Colours, where matrices are read from a buffer; null while they are not. */
  colors: ColorTexels | null = null;
  /** Matrices of the frame before; null until someone asks for motion vectors. */
  previous: PreviousMatrices | null = null;

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
