import type { BufferAttribute, InstancedBufferAttribute, Texture, TypedArray } from 'three';
import { int } from 'three/tsl';
import { type ComputeNode, type Node, StorageBufferAttribute, type WebGPURenderer } from 'three/webgpu';
import { layeredOf, type TexelNode, texels } from '../../../shaders/TexelNode.js';
import { type StorageOf, storageOf } from '../../../shaders/tsl.js';
import type { WrittenOnGPU } from '../../animation/PoseSource.js';
import type { DrawnCrowd } from '../../core/Crowd.js';
import { InstanceTexture } from '../../instances/InstanceTexture.js';
import { MovedInstances } from '../../instances/MovedInstances.js';
import { actionsRowBits, actionsTexels } from '../../playback/instanceLayout.js';
import { warnOnce } from '../../utils/messages.js';
import type { PoseDirtyTracker } from '../PoseDirtyTracker.js';
import { isWebGPU, PerRenderer } from './PerRenderer.js';

/** What the GPU itself writes of instances, as steps read it. */
export interface StoredOnGPU extends WrittenOnGPU {
  /** Where instances stand; null where the crowd's matrices say it. */
  readonly matrices: BufferAttribute | null;
  /** A bit for each instance: whether it is drawn; null where the crowd's visibility says it. */
  readonly drawn: BufferAttribute | null;
  /** What instances play, as `ActionTexels` has it; null where the crowd's own texels say it. */
  readonly actions: BufferAttribute | null;
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

/** Numbers of instances, by four: the layers of an `InstanceTexture`, or a buffer in which the texels of all follow each other. */
type InstanceTexels = StorageBufferAttribute | Texture;

/** Where the instances of a crowd stand, as the CPU says it or the GPU itself. */
export const placesOf = (renderer: object, crowd: DrawnCrowd): InstanceTexels => {
  const { buffer, texture } = storedPlaces.of(renderer, crowd);
  if (buffer === null) return layeredOf(texture as InstanceTexture);
  return ((crowd.crowd.written as StoredOnGPU | null)?.matrices ?? buffer) as StorageBufferAttribute;
};

/** What they play. */
export const actionsOf = ({ crowd: { written }, playback }: DrawnCrowd): InstanceTexels =>
  ((written as StoredOnGPU | null)?.actions ?? layeredOf(playback.texels.texture)) as InstanceTexels;

/** Reads numbers of instances. Others of the same kind may take their place as its `value`. */
export type TexelReader = Pick<TexelNode, 'rowTexels' | 'instanceTexels' | 'width'> & { value: unknown };

export const readerOf = (numbers: InstanceTexels): TexelReader =>
  'isTexture' in numbers ? texels(numbers) : new TexelBuffer(numbers);

/** Reads texels of a buffer as those of an `InstanceTexture`. */
class TexelBuffer implements TexelReader {
  private readonly node: StorageOf<'vec4'>;
  /** Of actions of one layer. */
  readonly width = int(2 ** actionsRowBits(1) * actionsTexels(1));

  constructor(buffer: StorageBufferAttribute) {
    this.node = storageOf(buffer, 'vec4').toReadOnly();
  }

  get value() {
    return this.node.value;
  }

  set value(buffer: StorageBufferAttribute) {
    this.node.value = buffer;
  }

  rowTexels(x: Node<'int'>, row: Node<'int'>, count: number): Node<'vec4'>[] {
    return this.texels(row.mul(this.width).add(x), count);
  }

  instanceTexels(instance: Node<'int'>, stride: number, offset: Node<'int'>, count: number): Node<'vec4'>[] {
    return this.texels(instance.mul(stride).add(offset), count);
  }

  private texels(at: Node<'int'>, count: number): Node<'vec4'>[] {
    const first = at.toVar();
    return Array.from({ length: count }, (_, i) => this.node.element(first.add(i)).toVar());
  }
}

/** The columns of an instance's matrix. Builds on the current stack. */
export const columnsIn = (places: TexelReader, instance: Node<'int'>): readonly Node<'vec4'>[] =>
  places.instanceTexels(instance, COLUMNS, int(0), COLUMNS);
