import { int, uniform } from 'three/tsl';
import { type Node, StorageBufferAttribute } from 'three/webgpu';
import { type DrawFrame, type StoredUints, uintsIn } from '../../../../shaders/tsl.js';
import type { DrawnCrowd } from '../../DrawnCrowd.js';
import type { DrawnList } from './DrawnList.js';
import { listOf } from './GPUViews.js';
import { gpuViewsOf } from './gpuViewsOf.js';
import { DRAW_NUMBERS } from './ViewBuffers.js';

let empty: StorageBufferAttribute | null = null;

/** Stands in the place of a list before there is one. */
function emptyList(): StorageBufferAttribute {
  empty ??= new StorageBufferAttribute(new Uint32Array(1), 1);
  return empty;
}

/** Reads the list of a camera, which the GPU has made. */
export class StorageList implements DrawnList {
  private readonly isListed = uniform(0, 'int');
  private readonly first = uniform(0, 'int');
  private readonly ids: StoredUints = uintsIn(emptyList()).toReadOnly();

  get listed(): Node<'bool'> {
    return this.isListed.notEqual(0);
  }

  id(drawn: Node<'int'>): Node<'int'> {
    return int(this.ids.element(this.first.add(drawn)));
  }

  show(crowd: DrawnCrowd, { renderer, camera }: DrawFrame): void {
    const slot = renderer === null || camera === null ? null : gpuViewsOf(renderer, crowd).slotOf(camera);
    const place = slot?.places.get(crowd);
    if (slot === null || place === undefined) this.showAll(crowd);
    else {
      this.isListed.value = 1;
      this.ids.value = slot.buffers.ids;
      this.first.value = listOf(crowd) * slot.buffers.capacity;
      crowd.geometry.setIndirect(slot.buffers.draws, place * DRAW_NUMBERS * 4);
    }
  }

  showAll({ geometry }: DrawnCrowd): void {
    this.isListed.value = 0;
    this.ids.value = emptyList();
    geometry.indirect = null;
  }
}
