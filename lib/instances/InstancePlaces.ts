import { InstancedBufferAttribute } from 'three';
import { disposeAttribute } from '../utils/disposeAttribute.js';
import { allChanged, itemChanged } from '../utils/itemChanged.js';
import { resizedAttribute } from '../utils/resizedAttribute.js';
import { swapItems } from '../utils/swapItems.js';
import type { InstanceData } from './InstanceData.js';

const IDENTITY = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1];

/** Where instances stand: the `instanceMatrix` that all meshes of a crowd share. */
export class InstancePlaces implements InstanceData {
  attribute: InstancedBufferAttribute;

  constructor(capacity: number) {
    this.attribute = new InstancedBufferAttribute(new Float32Array(capacity * 16), 16);
    for (let i = 0; i < capacity; i++) this.attribute.array.set(IDENTITY, i * 16);
  }

  get capacity(): number {
    return this.attribute.count;
  }

  /** A buffer of another size is another attribute. */
  resize(capacity: number): void {
    if (capacity !== this.capacity) this.attribute = resizedAttribute(this.attribute, capacity, IDENTITY);
  }

  swap(i: number, j: number): void {
    swapItems(this.attribute.array, i, j, 16);
    itemChanged(this.attribute, i);
    itemChanged(this.attribute, j);
  }

  reset(index: number): void {
    this.attribute.array.set(IDENTITY, index * 16);
    itemChanged(this.attribute, index);
  }

  copy(source: InstancePlaces): void {
    this.attribute.copy(source.attribute);
    this.moved();
  }

  /** Call when any of the instances may have been moved. */
  moved(): void {
    allChanged(this.attribute);
  }

  dispose(): void {
    disposeAttribute(this.attribute);
  }
}
