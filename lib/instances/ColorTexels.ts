import type { InstancedBufferAttribute } from 'three';
import { InstanceTexture } from './InstanceTexture.js';

/** Numbers of a texel, of which a colour takes three. */
const SIZE = 4;

/** Colours of instances as texels, a texel for each: for shaders that read where instances stand from elsewhere. */
export class ColorTexels {
  readonly texture: InstanceTexture;
  private colors: InstancedBufferAttribute | null = null;
  private version = -1;

  constructor(readonly capacity: number) {
    this.texture = new InstanceTexture(capacity, SIZE);
  }

  /**
   * Copies the colours if they have changed since the last call. What has not is not uploaded.
   *
   * @returns Whether they had.
   */
  update(colors: InstancedBufferAttribute): boolean {
    if (colors === this.colors && colors.version === this.version) return false;
    const { data } = this.texture;
    for (let i = 0; i < this.capacity; i++) {
      const at = i * SIZE;
      const r = colors.getX(i);
      const g = colors.getY(i);
      const b = colors.getZ(i);
      if (data[at] === r && data[at + 1] === g && data[at + 2] === b) continue;
      data[at] = r;
      data[at + 1] = g;
      data[at + 2] = b;
      this.texture.changed(i);
    }
    this.colors = colors;
    this.version = colors.version;
    return true;
  }

  dispose(): void {
    this.texture.dispose();
  }
}
