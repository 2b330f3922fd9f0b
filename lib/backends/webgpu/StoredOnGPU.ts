import type { BufferAttribute } from 'three';
import type { ComputeNode, Node, StorageBufferAttribute, WebGPURenderer } from 'three/webgpu';
import type { WrittenOnGPU } from '../../animation/PoseSource.js';

/** What instances play, as steps read it: a `TexelNode`, or a buffer of the same texels in their order. */
export interface ActionsReader {
  value: unknown;
  rowTexels(x: Node<'int'>, row: Node<'int'>, count: 1): Node<'vec4'>[];
}

/** What the GPU itself writes of instances, as steps read it. */
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
   * @returns Null if that has been done by the renderer since the crowd's clock moved and the frame began.
   */
  prepare(renderer: WebGPURenderer, visible: StorageBufferAttribute): readonly ComputeNode[] | null;
}
