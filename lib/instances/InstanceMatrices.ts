import type { InstancedBufferAttribute } from 'three';
import { swapItems } from '../utils/attributes.js';
import { InstanceTexture } from './InstanceTexture.js';

/** Texels of a matrix: its columns. */
export const MATRIX_TEXELS = 4;
const SIZE = MATRIX_TEXELS * 4;

/** Matrices of instances as texels, in which they lie as in the attribute. */
export class InstanceMatrices {
  readonly texture: InstanceTexture;
  /** Goes up with each change. */
  changes = 0;

  private matrices: InstancedBufferAttribute | null = null;
  private matricesVersion = -1;
  /** Whether they were asked for since `keepUp` was called. */
  private isNeeded = false;

  constructor(readonly capacity: number) {
    this.texture = new InstanceTexture(capacity, SIZE);
  }

  /**
   * Copies the matrices that have changed since the last call. If the attribute has update ranges, only those are copied.
   */
  update(matrices: InstancedBufferAttribute): void {
    this.isNeeded = true;
    this.copyChanges(matrices);
  }

  /**
   * Does what `update` does if that was called lately. To be called before a renderer uploads the attribute, which forgets what
   * has changed.
   */
  keepUp(matrices: InstancedBufferAttribute): void {
    if (this.isNeeded) this.copyChanges(matrices);
    this.isNeeded = false;
  }

  /** Call instead of `update` where the matrices are not needed: what changes then is not followed. */
  skip(matrices: InstancedBufferAttribute): void {
    if (matrices.version !== this.matricesVersion) this.matrices = null;
  }

  private copyChanges(matrices: InstancedBufferAttribute): void {
    if (matrices === this.matrices && matrices.version === this.matricesVersion) return;
    this.changes++;
    const { updateRanges } = matrices;
    if (matrices === this.matrices && updateRanges.length > 0) {
      for (const { start, count } of updateRanges) {
        this.copy(
          matrices,
          Math.floor(start / SIZE),
          Math.min(Math.ceil((start + count) / SIZE), this.capacity),
        );
      }
    } else {
      this.copy(matrices, 0, this.capacity);
    }
    this.matrices = matrices;
    this.matricesVersion = matrices.version;
  }

  /** Call before a renderer draws. */
  prepare(renderer: object): void {
    this.texture.prepare(renderer);
  }

  dispose(): void {
    this.texture.dispose();
  }

  protected copy({ array }: InstancedBufferAttribute, start: number, end: number): void {
    if (end <= start) return;
    const { texture } = this;
    texture.data.set(array.subarray(start * SIZE, end * SIZE), start * SIZE);
    if (start === 0 && end === this.capacity) texture.changedAll();
    else texture.changedRange(start, end);
  }
}

/** Matrices of the frame before, for motion vectors: those of instances that begin anew are what they are now. */
export class PreviousMatrices extends InstanceMatrices {
  /** Instances that have appeared since the last call of `settle`. */
  private appeared = new Set<number>();

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
    const { texture } = this;
    swapItems(texture.data, i, j, SIZE);
    texture.changed(i);
    texture.changed(j);
  }
}
