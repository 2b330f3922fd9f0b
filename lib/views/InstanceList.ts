import { LIST_TEXELS } from '../constants.js';
import { InstanceTexture } from '../instances/InstanceTexture.js';

/** Instances in a texel. */
const PER_TEXEL = 4;

/** Instances by the index at which they are drawn, as a texture that shaders read. */
export class InstanceList {
  readonly texture: InstanceTexture;

  /** @param capacity The most instances that may be drawn. */
  constructor(readonly capacity: number) {
    const texels = Math.max(1, Math.ceil(capacity / PER_TEXEL));
    this.texture = new InstanceTexture(texels, PER_TEXEL, Math.min(texels, LIST_TEXELS));
  }

  get(drawn: number): number {
    return this.texture.data[drawn];
  }

  set(drawn: number, instance: number): void {
    this.texture.data[drawn] = instance;
    this.texture.changed(Math.floor(drawn / PER_TEXEL));
  }

  /** Replaces the first `count`. Only what differs from before is uploaded. */
  assign(ids: Uint32Array, count: number): void {
    this.texture.assign(ids, count);
  }

  /** How many of the first `count`, which stand in ascending order, are less than an id. */
  countBelow(id: number, count: number): number {
    const { data } = this.texture;
    if (count === 0 || data[count - 1] < id) return count;
    let low = 0;
    let high = count - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (data[middle] < id) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  dispose(): void {
    this.texture.dispose();
  }
}
