import type { InstancedBufferAttribute } from 'three';
import { int } from 'three/tsl';
import { type Node, StorageBufferAttribute } from 'three/webgpu';
import { type TexelNode, texels } from '../../../shaders/TexelNode.js';
import { vectorsIn } from '../../../shaders/tsl.js';
import type { DrawnCrowd } from '../../core/Crowd.js';
import { updateMatrices } from '../../core/instancePlaces.js';
import type { CrowdViews } from '../../culling/CrowdViews.js';
import { MATRIX_TEXELS } from '../../instances/InstanceMatrices.js';
import { warnOnce } from '../../utils/messages.js';
import type { StoredOnGPU } from './StoredOnGPU.js';

/** Numbers of a matrix. */
const SIZE = 16;

const known = /*@__PURE__*/ new WeakMap<CrowdViews, StoredPlaces>();

/**
 * Where instances stand, as a buffer that shaders read by any index: the columns of each matrix. It shares its numbers with
 * `instanceMatrix`, so that nothing is copied.
 */
export class StoredPlaces {
  buffer = new StorageBufferAttribute(new Float32Array(16), 4);
  /** Goes up with each change, and who has moved with the last: bit `id & 31` of word `id >> 5`. */
  changes = 0;
  moved: Int32Array = new Int32Array(0);
  private version = -1;

  /** Takes over what has changed since the last call. */
  update(source: InstancedBufferAttribute): void {
    const { version, updateRanges } = source;
    if (source.array === this.buffer.array && version === this.version) return;
    this.changes++;
    if (source.array !== this.buffer.array) {
      if ('isStorageInstancedBufferAttribute' in source)
        warnOnce(
          'SkinnedInstancedMesh: matrices that compute writes are unknown to the CPU, which culls by them; use new GPUInstances(crowd, { matrices }).',
        );
      this.buffer.dispose();
      this.buffer = new StorageBufferAttribute(source.array, 4);
      this.moved = new Int32Array(Math.ceil(source.count / 32)).fill(-1);
    } else {
      // Ranges of changes before this one may have been cleared by a renderer.
      const isPart = version === this.version + 1 && updateRanges.length > 0;
      this.moved.fill(isPart ? 0 : -1);
      if (!isPart) this.buffer.clearUpdateRanges();
      for (let i = 0; isPart && i < updateRanges.length; i++) {
        const { start, count } = updateRanges[i];
        this.buffer.addUpdateRange(start, count);
        for (let id = Math.floor(start / SIZE); id * SIZE < start + count; id++)
          this.moved[id >> 5] |= 1 << (id & 31);
      }
      source.clearUpdateRanges();
      this.buffer.needsUpdate = true;
    }
    this.version = version;
  }

  dispose(): void {
    this.buffer.dispose();
  }
}

/** Where the instances of a crowd stand, on WebGPU: as the CPU says it, or the GPU itself. */
export const placesOf = (crowd: DrawnCrowd): StorageBufferAttribute =>
  ((crowd.crowd.written as StoredOnGPU | null)?.matrices as StorageBufferAttribute | null | undefined) ??
  storedPlacesOf(crowd).buffer;

/** Those of a crowd, on WebGPU. */
export function storedPlacesOf({ views }: DrawnCrowd): StoredPlaces {
  let places = known.get(views);
  // They are made anew if the crowd was disposed, and is drawn again.
  if (places === undefined || !views.owned.has(places)) {
    places = new StoredPlaces();
    known.set(views, places);
    views.owned.add(places);
  }
  return places;
}

/** Reads where instances stand, of whichever crowd is drawn or posed. */
export interface PlacesReader {
  use(crowd: DrawnCrowd): void;
  /** The columns of an instance's matrix. Builds on the current stack. */
  read(instance: Node<'int'>): readonly Node<'vec4'>[];
}

/** @param webGPU Whether they are in a buffer, and not in a texture. */
export function placesReader(crowd: DrawnCrowd, webGPU: boolean): PlacesReader {
  if (webGPU) {
    const places = vectorsIn(placesOf(crowd));
    return {
      use: (other) => {
        places.value = placesOf(other);
      },
      read: (instance) => {
        const first = instance.mul(MATRIX_TEXELS).toVar();
        return [0, 1, 2, 3].map((i) => places.element(first.add(i)).toVar());
      },
    };
  }
  const matrices = texels(updateMatrices(crowd).texture.layered);
  return {
    use: (other) => {
      matrices.value = updateMatrices(other).texture.layered;
    },
    read: (instance) => columnsIn(matrices, instance),
  };
}

/** The columns of a matrix in the texture of `InstanceMatrices`. Builds on the current stack. */
export const columnsIn = (matrices: TexelNode, instance: Node<'int'>): readonly Node<'vec4'>[] =>
  matrices.instanceTexels(instance, MATRIX_TEXELS, int(0), MATRIX_TEXELS);
