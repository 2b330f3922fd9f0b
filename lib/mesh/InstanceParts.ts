import type { Color, Vector2 } from 'three';
import { MAP_STEPS } from '../constants.js';
import { InstanceTexture } from '../playback/InstanceTexture.js';

/** Numbers per part of an instance: red, green, blue, then one that says more. */
const STRIDE = 4;
/**
 * 1 + u + v · `MAP_STEPS`, where u and v are the offset of the map in steps; negative if the part is hidden. Every such
 * number is one that a float32 holds.
 */
const LOOK = 3;
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
    return this.texture.data[(index * this.count + part) * STRIDE + LOOK] > 0;
  }

  show(index: number, part: number, shown: boolean): void {
    const at = (index * this.count + part) * STRIDE + LOOK;
    const look = Math.abs(this.texture.data[at]);
    this.texture.data[at] = shown ? look : -look;
    this.texture.changed(index);
  }

  getMapOffset(index: number, part: number, target: Vector2): Vector2 {
    const steps = Math.abs(this.texture.data[(index * this.count + part) * STRIDE + LOOK]) - 1;
    return target.set((steps % MAP_STEPS) / MAP_STEPS, Math.floor(steps / MAP_STEPS) / MAP_STEPS);
  }

  /** Whole turns of the map are left out. */
  setMapOffset(index: number, part: number, { x, y }: Vector2): void {
    const stepsOf = (offset: number) => Math.round((offset - Math.floor(offset)) * MAP_STEPS) % MAP_STEPS;
    const at = (index * this.count + part) * STRIDE + LOOK;
    const look = 1 + stepsOf(x) + stepsOf(y) * MAP_STEPS;
    this.texture.data[at] = this.texture.data[at] > 0 ? look : -look;
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
