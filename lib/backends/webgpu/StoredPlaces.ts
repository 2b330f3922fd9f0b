import type { BufferAttribute, InstancedBufferAttribute, Texture, TypedArray } from 'three';
import { int } from 'three/tsl';
import { type ComputeNode, type Node, StorageBufferAttribute, type WebGPURenderer } from 'three/webgpu';
import { type TexelNode, texels } from '../../../shaders/TexelNode.js';
import { storageOf } from '../../../shaders/tsl.js';
import type { WrittenOnGPU } from '../../animation/PoseSource.js';
import type { DrawnCrowd } from '../../core/Crowd.js';
import { InstanceTexture } from '../../instances/InstanceTexture.js';
import { MovedInstances } from '../../instances/MovedInstances.js';
import { warnOnce } from '../../utils/messages.js';
import type { PoseDirtyTracker } from '../PoseDirtyTracker.js';
import { isWebGPU, PerRenderer } from './PerRenderer.js';

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

/** Texels of a matrix, which are its columns, and numbers. */
const COLUMNS = 4;
const SIZE = COLUMNS * 4;

/**
 * Where instances stand, for shaders that read it by any index: the columns of each matrix. On WebGPU it is a buffer that shares its
 * numbers with `instanceMatrix`, so that nothing is copied, on the WebGL 2 backend a texture.
 */
export class StoredPlaces {
  readonly buffer: StorageBufferAttribute | null = null;
  readonly texture: InstanceTexture | null = null;
  private readonly array: TypedArray;
  /** Who has moved since `takeMoved`. */
  private readonly moved: MovedInstances;
  /** Whom the texture does not have yet where they are. */
  private readonly unsent: MovedInstances;

  constructor(webGPU: boolean, source: InstancedBufferAttribute) {
    const { array, count } = source;
    if ('isStorageInstancedBufferAttribute' in source)
      warnOnce(
        'SkinnedInstancedMesh: matrices that compute writes are unknown to the CPU, which culls by them; use new GPUInstances(crowd, { matrices }).',
      );
    this.array = array;
    this.moved = new MovedInstances(count);
    this.unsent = new MovedInstances(webGPU ? 0 : count);
    if (webGPU) this.buffer = new StorageBufferAttribute(array, COLUMNS);
    else this.texture = new InstanceTexture(count, SIZE);
  }

  suits({ instanceMatrix }: DrawnCrowd): boolean {
    return instanceMatrix.array === this.array;
  }

  note(source: InstancedBufferAttribute): void {
    if (source.array !== this.array) return;
    this.moved.note(source);
    if (this.texture !== null) this.unsent.note(source);
  }

  /** Takes over what has changed since the last call. Call it before a renderer draws. */
  update({ crowd, instanceMatrix: source }: DrawnCrowd, renderer: object): void {
    // A crowd may be posed with another one, before its own matrices are looked at.
    crowd.places.settle();
    this.note(source);
    const { buffer, texture, unsent, array } = this;
    if (buffer !== null) {
      // three.js sends what has changed of one as of the other, and then forgets what that was.
      buffer.updateRanges = source.updateRanges;
      buffer.version = source.version;
    }
    texture?.prepare(renderer);
    if (texture === null || unsent.isEmpty) return;
    const first = unsent.first * 32;
    const end = Math.min(unsent.last * 32 + 32, source.count);
    texture.data.set(array.subarray(first * SIZE, end * SIZE), first * SIZE);
    texture.changedRange(first, end);
    unsent.clear();
  }

  /** Has a palette pose instances again that were moved. */
  takeMoved(tracker: PoseDirtyTracker): void {
    if (this.moved.isEmpty) return;
    tracker.move(this.moved.bits);
    this.moved.clear();
  }

  dispose(): void {
    this.buffer?.dispose();
    this.texture?.dispose();
  }
}

export const storedPlaces = /*@__PURE__*/ new PerRenderer(
  (renderer, { instanceMatrix }) => new StoredPlaces(isWebGPU(renderer), instanceMatrix),
);

/** Where the instances of a crowd stand, as the CPU says it or the GPU itself. */
export const placesOf = (renderer: object, crowd: DrawnCrowd): StorageBufferAttribute | Texture => {
  const { buffer, texture } = storedPlaces.of(renderer, crowd);
  if (buffer === null) return (texture as InstanceTexture).layered;
  return ((crowd.crowd.written as StoredOnGPU | null)?.matrices ?? buffer) as StorageBufferAttribute;
};

/**
 * Reads the columns of instances' matrices. To `read` builds on the current stack.
 *
 * @param places See `placesOf`. Those of another crowd, or renderer, may take their place as the `value` of `node`.
 */
export function placesReader(places: StorageBufferAttribute | Texture) {
  if ('isTexture' in places) {
    const node = texels(places);
    return { node, read: (instance: Node<'int'>) => columnsIn(node, instance) };
  }
  const node = storageOf(places, 'vec4').toReadOnly();
  const read = (instance: Node<'int'>) => {
    const first = instance.mul(COLUMNS).toVar();
    return [0, 1, 2, 3].map((i) => node.element(first.add(i)).toVar());
  };
  return { node: node as { value: unknown }, read };
}

/** The columns of a matrix in a texture of four texels an instance. Builds on the current stack. */
export const columnsIn = (matrices: TexelNode, instance: Node<'int'>): readonly Node<'vec4'>[] =>
  matrices.instanceTexels(instance, COLUMNS, int(0), COLUMNS);
