import type { InstancedBufferAttribute } from 'three';
import { StorageBufferAttribute } from 'three/webgpu';
import type { DrawnCrowd } from '../../core/Crowd.js';
import type { CrowdViews } from '../../culling/CrowdViews.js';
import { warnOnce } from '../../utils/messages.js';
import type { StoredOnGPU } from './StoredOnGPU.js';

const known = /*@__PURE__*/ new WeakMap<CrowdViews, StoredPlaces>();

/**
 * Where instances stand, as a buffer that shaders read by any index: the columns of each matrix. It shares its numbers with
 * `instanceMatrix`, so that nothing is copied.
 */
export class StoredPlaces {
  buffer = new StorageBufferAttribute(new Float32Array(16), 4);
  private version = -1;

  /** Takes over what has changed since the last call. Returns whether anything had. */
  update(source: InstancedBufferAttribute): boolean {
    const { version } = source;
    if (source.array !== this.buffer.array) {
      if ('isStorageInstancedBufferAttribute' in source)
        warnOnce(
          'SkinnedInstancedMesh: matrices that compute writes are unknown to the CPU, which culls by them; use new GPUInstances(crowd, { matrices }).',
        );
      this.buffer.dispose();
      this.buffer = new StorageBufferAttribute(source.array, 4);
    } else if (version !== this.version) {
      // Ranges of changes before this one may have been cleared by a renderer.
      if (version === this.version + 1) {
        for (const { start, count } of source.updateRanges) this.buffer.addUpdateRange(start, count);
      } else this.buffer.clearUpdateRanges();
      source.clearUpdateRanges();
      this.buffer.needsUpdate = true;
    } else return false;
    this.version = version;
    return true;
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
