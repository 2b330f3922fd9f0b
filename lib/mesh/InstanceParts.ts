import type { Color } from 'three';
import { InstanceTexture } from '../playback/InstanceTexture.js';

/** Numbers per part of an instance: red, green, blue, and 1 if the part is shown, else 0. */
const STRIDE = 4;
const SHOWN = 3;
/** Texels that a row may take; every device has room for them. */
const MOST_COLUMNS = 2048;

/** Which parts of each instance are shown, and in what colour. */
export class InstanceParts {
  readonly texture: InstanceTexture;

  /** @param count Parts of the character. */
  constructor(
    readonly capacity: number,
    readonly count: number,
  ) {
    const perRow = 2 ** Math.min(8, Math.max(0, Math.floor(Math.log2(MOST_COLUMNS / count))));
    this.texture = new InstanceTexture(capacity, count * STRIDE, perRow);
    this.texture.data.fill(1);
  }

  isShown(index: number, part: number): boolean {
    return this.texture.data[(index * this.count + part) * STRIDE + SHOWN] !== 0;
  }

  show(index: number, part: number, shown: boolean): void {
    this.texture.data[(index * this.count + part) * STRIDE + SHOWN] = shown ? 1 : 0;
    this.texture.changed(index);
  }

  getColor(index: number, part: number, target: Color): Color {
    return target.fromArray(this.texture.data, (index * this.count + part) * STRIDE);
  }

  setColor(index: number, part: number, color: Color): void {
    color.toArray(this.texture.data, (index * this.count + part) * STRIDE);
    this.texture.changed(index);
  }

  swap(i: number, j: number): void {
    const { data } = this.texture;
    const size = this.count * STRIDE;
    const kept = data.slice(i * size, (i + 1) * size);
    data.copyWithin(i * size, j * size, (j + 1) * size);
    data.set(kept, j * size);
    this.texture.changed(i);
    this.texture.changed(j);
  }

  /** The same for as many instances as both have room for. */
  copy(source: InstanceParts): this {
    const { data } = this.texture;
    const size = Math.min(this.capacity, source.capacity) * this.count * STRIDE;
    data.set(source.texture.data.subarray(0, size));
    this.texture.changedAll();
    return this;
  }

  dispose(): void {
    this.texture.dispose();
  }
}
