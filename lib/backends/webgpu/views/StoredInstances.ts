import type { InstancedBufferAttribute } from 'three';
import { StorageBufferAttribute } from 'three/webgpu';
import type { InstanceVisibility } from '../../../instances/InstanceVisibility.js';
import { disposeAttribute } from '../../../utils/attributes.js';

/** What shaders read of all instances. The buffers share their numbers with the crowd, so that nothing is copied. */
export class StoredInstances {
  /** Matrices, column by column: four vectors an instance. Shaders that draw read them too. */
  matrices: StorageBufferAttribute = new StorageBufferAttribute(new Float32Array(16), 4);
  /** A bit for each instance: whether it is drawn. */
  drawn: StorageBufferAttribute = new StorageBufferAttribute(new Uint32Array(1), 1);
  /** Grows with each change. */
  version = 0;

  private matricesVersion = -1;
  private drawnVersion = -1;

  /** Takes over what has changed since the last call. */
  update(matrices: InstancedBufferAttribute, visibility: InstanceVisibility): void {
    this.updateMatrices(matrices);
    if (visibility.bits !== this.drawn.array) {
      disposeAttribute(this.drawn);
      this.drawn = new StorageBufferAttribute(visibility.bits, 1);
    } else if (visibility.version !== this.drawnVersion) this.drawn.needsUpdate = true;
    else return;
    this.drawnVersion = visibility.version;
    this.version++;
  }

  dispose(): void {
    disposeAttribute(this.matrices);
    disposeAttribute(this.drawn);
  }

  private updateMatrices(source: InstancedBufferAttribute): void {
    const { version } = source;
    if (source.array !== this.matrices.array) {
      disposeAttribute(this.matrices);
      this.matrices = new StorageBufferAttribute(source.array, 4);
    } else if (version !== this.matricesVersion) {
      // Ranges of changes before this one may have been cleared by a renderer.
      if (version === this.matricesVersion + 1) {
        for (const { start, count } of source.updateRanges) this.matrices.addUpdateRange(start, count);
      } else this.matrices.clearUpdateRanges();
      source.clearUpdateRanges();
      this.matrices.needsUpdate = true;
    } else return;
    this.matricesVersion = version;
    this.version++;
  }
}
