import { int, uint, uniform } from 'three/tsl';
import { type Node, StorageBufferAttribute } from 'three/webgpu';
import {
  type DrawFrame,
  mat4Of,
  type StoredUints,
  uintsIn,
  type Vectors,
  vectorsIn,
} from '../../../../shaders/tsl.js';
import { ID_BITS, ID_MASK } from '../../../constants.js';
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

let identity: StorageBufferAttribute | null = null;

/** The same for matrices. */
function emptyMatrix(): StorageBufferAttribute {
  identity ??= new StorageBufferAttribute(new Float32Array(16), 4);
  return identity;
}

/** Reads the list of a camera, which the GPU has made. */
export class StorageList implements DrawnList {
  private readonly isListed = uniform(0, 'int');
  private readonly first = uniform(0, 'int');
  private readonly ids: StoredUints = uintsIn(emptyList()).toReadOnly();
  private readonly matrices: Vectors = vectorsIn(emptyMatrix());

  /** @param fades Whether entries of the list say which pixels are drawn, too. */
  constructor(private readonly fades: boolean) {}

  get listed(): Node<'bool'> {
    return this.isListed.notEqual(0);
  }

  id(drawn: Node<'int'>): Node<'int'> {
    const entry = this.ids.element(this.first.add(drawn));
    return int(this.fades ? entry.bitAnd(uint(ID_MASK)) : entry);
  }

  fade(drawn: Node<'int'>): Node<'int'> {
    return int(this.ids.element(this.first.add(drawn)).shiftRight(uint(ID_BITS)));
  }

  matrix(instance: Node<'int'>): Node<'mat4'> {
    const first = instance.mul(4).toVar();
    return mat4Of([0, 1, 2, 3].map((i) => this.matrices.element(first.add(i)).toVar())).toVar();
  }

  show(crowd: DrawnCrowd, frame: DrawFrame): void {
    const { renderer, camera } = frame;
    const slot = renderer === null || camera === null ? null : gpuViewsOf(renderer, crowd).slotOf(camera);
    const place = slot?.places.get(crowd);
    this.showAll(crowd, frame);
    if (slot !== null && place !== undefined) {
      this.isListed.value = 1;
      this.ids.value = slot.buffers.ids;
      this.first.value = listOf(crowd) * slot.buffers.capacity;
      crowd.geometry.setIndirect(slot.buffers.draws, place * DRAW_NUMBERS * 4);
    }
  }

  showAll(crowd: DrawnCrowd, { renderer }: DrawFrame): void {
    if (renderer !== null) this.matrices.value = gpuViewsOf(renderer, crowd).matrices;
    this.isListed.value = 0;
    this.ids.value = emptyList();
    crowd.geometry.indirect = null;
  }
}
