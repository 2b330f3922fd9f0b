import { type InstancedBufferAttribute, MathUtils } from 'three';
import type { InstanceData } from './InstanceData.js';
import { InstanceTexture } from './InstanceTexture.js';
import type { PreviousMatrices } from './PreviousMatrices.js';

/** Numbers of a texel, of which a colour takes three. */
const SIZE = 4;

/** Colours of instances as texels, a texel for each. */
export class ColorTexels {
  readonly texture: InstanceTexture;
  private colors: InstancedBufferAttribute | null = null;
  private version = -1;

  constructor(readonly capacity: number) {
    this.texture = new InstanceTexture(capacity, SIZE);
  }

  /** Copies the colours that have changed since the last call: renderers get those that were others before. */
  update(colors: InstancedBufferAttribute): void {
    if (colors === this.colors && colors.version === this.version) return;
    const { array, itemSize, normalized, count } = colors;
    const { data } = this.texture;
    const scale = normalized ? MathUtils.denormalize(1, array as Float32Array) : 1;
    for (let i = 0, from = 0, to = 0; i < count; i++, from += itemSize, to += SIZE) {
      const r = Math.fround(array[from] * scale);
      const g = Math.fround(array[from + 1] * scale);
      const b = Math.fround(array[from + 2] * scale);
      if (data[to] === r && data[to + 1] === g && data[to + 2] === b) continue;
      data[to] = r;
      data[to + 1] = g;
      data[to + 2] = b;
      this.texture.changed(i);
    }
    this.colors = colors;
    this.version = colors.version;
  }

  dispose(): void {
    this.texture.dispose();
  }
}

/**
 * Copies of instances' colours and former matrices as texels, which what draws them makes when they are needed, and brings up to the
 * number of instances.
 */
export class MatrixTexels implements InstanceData {
  /** Null while instances have none. */
  colors: ColorTexels | null = null;
  /** Matrices of the frame before; null until someone asks for motion vectors. */
  previous: PreviousMatrices | null = null;

  /** Those of this frame follow `instanceMatrix` by themselves. */
  swap(i: number, j: number): void {
    this.previous?.swap(i, j);
  }

  /** Those of this frame follow by themselves. It was nowhere in the frame before, and must not seem to come from there. */
  reset(index: number): void {
    this.previous?.appear(index);
  }

  dispose(): void {
    this.colors?.dispose();
    this.previous?.dispose();
  }
}
