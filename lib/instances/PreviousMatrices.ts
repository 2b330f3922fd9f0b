import type { InstancedBufferAttribute } from 'three';
import { InstanceTexture } from './InstanceTexture.js';

/** Numbers of a matrix. */
const SIZE = 16;

/** Matrices of the frame before as texels, for motion vectors: those of instances that begin anew are what they are now. */
export class PreviousMatrices {
  readonly texture: InstanceTexture;
  private matrices: InstancedBufferAttribute | null = null;
  private version = -1;
  /** Instances that have appeared since the last call of `settle`. */
  private appeared = new Set<number>();

  constructor(readonly capacity: number) {
    this.texture = new InstanceTexture(capacity, SIZE);
  }

  /** Copies the matrices if they have changed since the last call. */
  update(matrices: InstancedBufferAttribute): void {
    if (matrices === this.matrices && matrices.version === this.version) return;
    this.matrices = matrices;
    this.version = matrices.version;
    this.copy(matrices, 0, this.capacity);
  }

  /** An instance begins anew. */
  appear(index: number): void {
    this.appeared.add(index);
  }

  /** Gives instances that have begun anew the matrices that they have now. */
  settle(matrices: InstancedBufferAttribute): void {
    for (const index of this.appeared) this.copy(matrices, index, Math.min(index + 1, this.capacity));
    this.appeared.clear();
  }

  /**
   * A copy with room for as many instances as `matrices` has, which gives the added ones their matrices. This object is
   * disposed.
   */
  resizedFor(matrices: InstancedBufferAttribute): PreviousMatrices {
    const resized = new PreviousMatrices(matrices.count);
    resized.copy(matrices, this.capacity, resized.capacity);
    const kept = Math.min(this.capacity, resized.capacity) * SIZE;
    resized.texture.data.set(this.texture.data.subarray(0, kept));
    resized.appeared = this.appeared;
    this.dispose();
    return resized;
  }

  swap(i: number, j: number): void {
    this.texture.swap(i, j);
  }

  dispose(): void {
    this.texture.dispose();
  }

  private copy({ array }: InstancedBufferAttribute, start: number, end: number): void {
    if (end <= start) return;
    const { texture } = this;
    texture.data.set(array.subarray(start * SIZE, end * SIZE), start * SIZE);
    if (start === 0 && end === this.capacity) texture.changedAll();
    else texture.changedRange(start, end);
  }
}
