import { InstanceTexture } from '../instances/InstanceTexture.js';

/** Instances in a texel. */
const PER_TEXEL = 4;

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

  dispose(): void {
    this.texture.dispose();
  }
}
