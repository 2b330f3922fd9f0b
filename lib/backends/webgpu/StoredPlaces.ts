import type { InstancedBufferAttribute, TypedArray } from 'three';
import { int } from 'three/tsl';
import { type Node, StorageBufferAttribute } from 'three/webgpu';
import { type TexelNode, texels } from '../../../shaders/TexelNode.js';
import { vectorsIn } from '../../../shaders/tsl.js';
import type { DrawnCrowd } from '../../core/Crowd.js';
import type { CrowdViews } from '../../culling/CrowdViews.js';
import { InstanceTexture } from '../../instances/InstanceTexture.js';
import { MovedInstances } from '../../instances/MovedInstances.js';
import { warnOnce } from '../../utils/messages.js';
import type { StoredOnGPU } from './StoredOnGPU.js';

/** Texels of a matrix, which are its columns, and numbers. */
const COLUMNS = 4;
const SIZE = COLUMNS * 4;

/**
 * Where instances stand, for shaders that read it by any index: the columns of each matrix. On WebGPU it is a buffer that shares its
 * numbers with `instanceMatrix`, so that nothing is copied, on the WebGL 2 backend a texture.
 */
export class StoredPlaces {
  buffer: StorageBufferAttribute | null = null;
  texture: InstanceTexture | null = null;
  /** Goes up with each change, and who has moved with the last: bit `id & 31` of word `id >> 5`. */
  changes = 0;
  moved!: Int32Array;
  private array!: TypedArray;
  private noted!: MovedInstances;
  /** The renderer that draws. */
  private last: WeakRef<object> | null = null;

  constructor(
    private readonly webGPU: boolean,
    source: InstancedBufferAttribute,
  ) {
    this.begin(source);
  }

  note(source: InstancedBufferAttribute): void {
    this.noted.note(source);
  }

  /** Takes over what has changed since the last call. Call it before a renderer draws. */
  update({ crowd, instanceMatrix: source }: DrawnCrowd, renderer: object): void {
    // A crowd may be posed with another one, before its own matrices are looked at.
    crowd.places.settle();
    if (source.array !== this.array) this.begin(source);
    this.note(source);
    const { noted } = this;
    if (!noted.isEmpty) {
      this.send(noted.first * 32, Math.min(noted.last * 32 + 32, source.count));
      this.moved.set(noted.bits);
      this.changes++;
      noted.clear();
      source.clearUpdateRanges();
    }
    this.texture?.prepare(renderer);
    // What another one was sent is in no range any more.
    if (this.last?.deref() === renderer) return;
    this.wait(0, source.array.length);
    this.last = new WeakRef(renderer);
  }

  dispose(): void {
    this.buffer?.dispose();
    this.texture?.dispose();
  }

  private begin(source: InstancedBufferAttribute): void {
    const { array, count } = source;
    if ('isStorageInstancedBufferAttribute' in source)
      warnOnce(
        'SkinnedInstancedMesh: matrices that compute writes are unknown to the CPU, which culls by them; use new GPUInstances(crowd, { matrices }).',
      );
    this.dispose();
    this.array = array;
    this.noted = new MovedInstances(count);
    this.moved = new Int32Array(this.noted.bits.length);
    if (this.webGPU) this.buffer = new StorageBufferAttribute(array, COLUMNS);
    else this.texture = new InstanceTexture(count, SIZE);
  }

  /** Has the numbers of the buffer from `start` to `end` wait for upload; as one range, since they may wait for many frames. */
  private wait(start: number, end: number): void {
    const { buffer } = this;
    if (buffer === null) return;
    const { updateRanges } = buffer;
    const [range] = updateRanges;
    const first = Math.min(start, range?.start ?? start);
    const count = Math.max(end, range ? range.start + range.count : end) - first;
    if (range) Object.assign(range, { start: first, count });
    else updateRanges.push({ start: first, count });
  }

  private send(start: number, end: number): void {
    const { array, buffer, texture } = this;
    this.wait(start * SIZE, end * SIZE);
    if (buffer !== null) buffer.needsUpdate = true;
    texture?.data.set(array.subarray(start * SIZE, end * SIZE), start * SIZE);
    texture?.changedRange(start, end);
  }
}

const known = {
  webGPU: /*@__PURE__*/ new WeakMap<CrowdViews, StoredPlaces>(),
  webGL: /*@__PURE__*/ new WeakMap<CrowdViews, StoredPlaces>(),
};

/** Those of a crowd, on one kind of backend. */
export function storedPlacesOf({ views, instanceMatrix }: DrawnCrowd, webGPU: boolean): StoredPlaces {
  const all = webGPU ? known.webGPU : known.webGL;
  let places = all.get(views);
  // They are made anew if the crowd was disposed, and is drawn again.
  if (places === undefined || !views.owned.has(places)) {
    places = new StoredPlaces(webGPU, instanceMatrix);
    all.set(views, places);
    views.owned.add(places);
  }
  return places;
}

/** Where the instances of a crowd stand, on WebGPU: as the CPU says it, or the GPU itself. */
export const placesOf = (crowd: DrawnCrowd): StorageBufferAttribute =>
  ((crowd.crowd.written as StoredOnGPU | null)?.matrices ??
    storedPlacesOf(crowd, true).buffer) as StorageBufferAttribute;

/**
 * Reads the columns of instances' matrices, of whichever crowd is drawn or posed. To `read` builds on the current stack.
 *
 * @param crowd One whose places are stored.
 */
export function placesReader(crowd: DrawnCrowd, webGPU: boolean) {
  if (webGPU) {
    const places = vectorsIn(placesOf(crowd));
    return {
      use: (other: DrawnCrowd) => {
        places.value = placesOf(other);
      },
      read: (instance: Node<'int'>) => {
        const first = instance.mul(COLUMNS).toVar();
        return [0, 1, 2, 3].map((i) => places.element(first.add(i)).toVar());
      },
    };
  }
  const textureOf = (one: DrawnCrowd) => (storedPlacesOf(one, false).texture as InstanceTexture).layered;
  const matrices = texels(textureOf(crowd));
  return {
    use: (other: DrawnCrowd) => {
      matrices.value = textureOf(other);
    },
    read: (instance: Node<'int'>) => columnsIn(matrices, instance),
  };
}

/** The columns of a matrix in a texture of four texels an instance. Builds on the current stack. */
export const columnsIn = (matrices: TexelNode, instance: Node<'int'>): readonly Node<'vec4'>[] =>
  matrices.instanceTexels(instance, COLUMNS, int(0), COLUMNS);
