import type { BufferAttribute, InstancedBufferAttribute } from 'three';
import { type ComputeNode, type Node, StorageBufferAttribute } from 'three/webgpu';
import type { WrittenOnGPU } from '../../../crowd/CrowdFeature.js';
import type { InstanceVisibility } from '../../../instances/InstanceVisibility.js';
import { disposeAttribute } from '../../../utils/attributes.js';
import { warnOnce } from '../../../utils/messages.js';

/** What instances play, as steps read it: a `TexelNode`, or a buffer of the same texels in their order. */
export interface ActionsReader {
  value: unknown;
  rowTexels(x: Node<'int'>, row: Node<'int'>, count: number): Node<'vec4'>[];
}

/** The same with what steps read. */
export interface StoredOnGPU extends WrittenOnGPU {
  /** Where instances stand; null where the crowd's matrices say it. */
  readonly matrices: BufferAttribute | null;
  /** A bit for each instance: whether it is drawn; null where the crowd's visibility says it. */
  readonly drawn: BufferAttribute | null;
  /** What instances play, as `ActionTexels` has it; null where the crowd's own texels say it. */
  readonly actions: BufferAttribute | null;
  /** Makes what reads `actions`. */
  createReader(): ActionsReader;
  /**
   * What to compute before a crowd is drawn.
   *
   * @param visible The crowd's own bits.
   * @returns Null if that has been done since the crowd's clock moved and the frame began.
   */
  prepare(frame: number, visible: StorageBufferAttribute): readonly ComputeNode[] | null;
}

/** What shaders read of all instances. The buffers share their numbers with the crowd, so that nothing is copied. */
export class StoredInstances {
  /** Grows with each change. */
  version = 0;

  private places = new StorageBufferAttribute(new Float32Array(16), 4);
  private visible = new StorageBufferAttribute(new Uint32Array(1), 1);
  private stored: StoredOnGPU | null = null;
  private matricesVersion = -1;
  private drawnVersion = -1;

  /** Matrices, column by column: four vectors an instance. Shaders that draw read them too. */
  get matrices(): StorageBufferAttribute {
    return (this.stored?.matrices ?? this.places) as StorageBufferAttribute;
  }

  /** A bit for each instance: whether it is drawn. */
  get drawn(): StorageBufferAttribute {
    return (this.stored?.drawn ?? this.visible) as StorageBufferAttribute;
  }

  /**
   * Takes over what has changed since the last call.
   *
   * @param stored What the GPU writes itself.
   * @returns What to compute before anything is read.
   */
  update(
    matrices: InstancedBufferAttribute,
    visibility: InstanceVisibility,
    stored: StoredOnGPU | null,
    frame: number,
  ): readonly ComputeNode[] | null {
    if (stored !== this.stored) this.version++;
    this.stored = stored;
    if (stored === null || stored.matrices === null) this.updateMatrices(matrices);
    this.updateVisible(visibility);
    const steps = stored === null ? null : stored.prepare(frame, this.visible);
    if (steps !== null) this.version++;
    return steps;
  }

  dispose(): void {
    disposeAttribute(this.places);
    disposeAttribute(this.visible);
  }

  private updateVisible(visibility: InstanceVisibility): void {
    if (visibility.bits !== this.visible.array) {
      disposeAttribute(this.visible);
      this.visible = new StorageBufferAttribute(visibility.bits, 1);
    } else if (visibility.version !== this.drawnVersion) this.visible.needsUpdate = true;
    else return;
    this.drawnVersion = visibility.version;
    this.version++;
  }

  private updateMatrices(source: InstancedBufferAttribute): void {
    const { version } = source;
    if (source.array !== this.places.array) {
      if ('isStorageInstancedBufferAttribute' in source)
        warnOnce(
          'SkinnedInstancedMesh: matrices that compute writes are unknown to the CPU, which culls by them; use new GPUInstances(crowd, { matrices }).',
        );
      disposeAttribute(this.places);
      this.places = new StorageBufferAttribute(source.array, 4);
    } else if (version !== this.matricesVersion) {
      // Ranges of changes before this one may have been cleared by a renderer.
      if (version === this.matricesVersion + 1) {
        for (const { start, count } of source.updateRanges) this.places.addUpdateRange(start, count);
      } else this.places.clearUpdateRanges();
      source.clearUpdateRanges();
      this.places.needsUpdate = true;
    } else return;
    this.matricesVersion = version;
    this.version++;
  }
}
