import { InstancedBufferAttribute, type InstancedMesh } from 'three';
import { allChanged, ItemUploads, resizedAttribute, swapItems } from '../utils/attributes.js';
import type { InstanceData } from './InstanceData.js';

const IDENTITY = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1];

/** Where instances stand: the `instanceMatrix` that all meshes of a crowd share. */
export class InstanceTransforms implements InstanceData {
  attribute: InstancedBufferAttribute = new InstancedBufferAttribute(new Float32Array(0), 16);
  follower: {
    /** Call before anybody asks which instances have moved. */
    begin(): void;
    /** Call for each mesh that is about to be drawn, before a renderer uploads the attribute and forgets what has changed. */
    follow(mesh: InstancedMesh): void;
    dispose(): void;
  } | null = null;
  private readonly uploads = new ItemUploads();
  /** Whether several renderers draw the instances. */
  shared = false;
  /** Whether a mesh was drawn by the attribute, such as one of the user's that shares it: then all is uploaded from then on. */
  isBound = false;
  private renderer: WeakRef<object> | null = null;

  constructor(capacity: number) {
    this.resize(capacity);
  }

  get capacity(): number {
    return this.attribute.count;
  }

  /** WebGLRenderer asks for `normalized` before the first draw of a mesh by the attribute. */
  private watched(attribute: InstancedBufferAttribute): InstancedBufferAttribute {
    this.isBound = false;
    const get = () => {
      this.isBound = true;
      return false;
    };
    return Object.defineProperty(attribute, 'normalized', { get, set() {} });
  }

  /** A buffer of another size is another attribute. */
  resize(capacity: number): void {
    if (capacity === this.capacity) return;
    this.attribute = this.watched(resizedAttribute(this.attribute, capacity, IDENTITY));
  }

  swap(i: number, j: number): void {
    swapItems(this.attribute.array, i, j, 16);
    this.moved();
  }

  reset(index: number): void {
    this.attribute.array.set(IDENTITY, index * 16);
    this.moved();
  }

  copy(source: InstanceTransforms): void {
    this.attribute.copy(source.attribute);
    this.moved();
  }

  /** Call before a renderer draws the instances. */
  drawnBy(renderer: object): void {
    this.renderer ??= new WeakRef(renderer);
    if (this.renderer.deref() !== renderer) this.shared = true;
  }

  /** Has renderers upload the place of an instance, which was written into the attribute, and no more than needed. */
  placed(index: number): void {
    this.uploads.changed(this.attribute, index, this.shared);
  }

  /** Call before instances are drawn: `needsUpdate`, set by others since `placed` was called, shall go for all of them. */
  settle(): void {
    this.uploads.settle(this.attribute);
  }

  /** Call when any of the instances may have been moved. */
  moved(): void {
    allChanged(this.attribute);
  }

  dispose(): void {
    this.follower?.dispose();
    this.attribute.dispose();
  }
}
