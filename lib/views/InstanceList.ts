import { INSTANCES_PER_ROW } from '../constants.js';
import { InstanceTexture } from '../instances/InstanceTexture.js';

/** Instances in a texel. */
const PER_TEXEL = 4;
/** Instances in a row of the texture. */
const PER_ROW = INSTANCES_PER_ROW * PER_TEXEL;

/** Instances by the index at which they are drawn, as a texture that shaders read. */
export class InstanceList {
  readonly texture: InstanceTexture;

  /** @param capacity The most instances that may be drawn. */
  constructor(readonly capacity: number) {
    this.texture = new InstanceTexture(Math.ceil(capacity / PER_TEXEL), PER_TEXEL);
  }

  get(drawn: number): number {
    return this.texture.data[drawn];
  }

  set(drawn: number, instance: number): void {
    this.texture.data[drawn] = instance;
    this.texture.changed(Math.floor(drawn / PER_TEXEL));
  }

  /** Replaces the first `count`. Only what differs from before is uploaded, each row from its first difference to its last. */
  assign(ids: Uint32Array, count: number): void {
    const { data } = this.texture;
    for (let start = 0; start < count; start += PER_ROW) {
      const end = Math.min(start + PER_ROW, count);
      let first = start;
      while (first < end && data[first] === ids[first]) first++;
      if (first === end) continue;
      let last = end - 1;
      while (data[last] === ids[last]) last--;
      for (let i = first; i <= last; i++) data[i] = ids[i];
      this.texture.changed(Math.floor(first / PER_TEXEL));
      this.texture.changed(Math.floor(last / PER_TEXEL));
    }
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
