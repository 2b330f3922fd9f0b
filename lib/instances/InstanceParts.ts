import type { Color, Vector2 } from 'three';
import { MAP_STEPS } from '../constants.js';
import { swapItems } from '../utils/swapItems.js';
import { InstanceTexture } from './InstanceTexture.js';

/** Numbers per part of an instance: red, green, blue, then the place of its map and whether it is drawn. */
const STRIDE = 4;
/**
 * Index of that last number: 1 + u + v · `MAP_STEPS`, where u and v are the offset of the map in steps; negative if the part is
 * not drawn. A float32 holds every such number exactly.
 */
const LOOK = 3;
/** Texels that a row may take; every device has room for them. */
const MAX_COLUMNS = 2048;

/**
 * Which parts of each instance are shown, and in what colour. What is attached to an instance is not drawn while the
 * instance is hidden, whatever was set for its own parts: so both facts are stored, and the texture has the result.
 */
export class InstanceParts {
  readonly texture: InstanceTexture;

  /** For each part of each instance, whether it is hidden. */
  private readonly hidden: Uint8Array;
  /** For each instance, whether what it is attached to is hidden. */
  private readonly ownerHidden: Uint8Array;

  /** @param count Parts of the character. */
  constructor(
    readonly capacity: number,
    readonly count: number,
  ) {
    const perRow = 2 ** Math.min(8, Math.max(0, Math.floor(Math.log2(MAX_COLUMNS / count))));
    this.texture = new InstanceTexture(capacity, count * STRIDE, perRow);
    this.texture.data.fill(1);
    this.hidden = new Uint8Array(capacity * count);
    this.ownerHidden = new Uint8Array(capacity);
  }

  /** Whether a part is shown wherever its instance is. */
  isShown(index: number, part: number): boolean {
    return this.hidden[index * this.count + part] === 0;
  }

  /** Whether a part is drawn: it is shown, and what the instance is attached to is not hidden. */
  isDrawn(index: number, part: number): boolean {
    return this.ownerHidden[index] === 0 && this.isShown(index, part);
  }

  /** Whether any part of an instance is drawn. */
  isAnyDrawn(index: number): boolean {
    for (let part = 0; part < this.count; part++) if (this.isDrawn(index, part)) return true;
    return false;
  }

  show(index: number, part: number, shown: boolean): void {
    this.hidden[index * this.count + part] = shown ? 0 : 1;
    this.writeLook(index, part, this.lookOf(index, part));
    this.texture.changed(index);
  }

  /** Shows an instance, as far as its parts are shown, or hides it with what it is attached to. */
  showWithOwner(index: number, shown: boolean): void {
    if ((this.ownerHidden[index] === 0) === shown) return;
    this.ownerHidden[index] = shown ? 0 : 1;
    for (let part = 0; part < this.count; part++) this.writeLook(index, part, this.lookOf(index, part));
    this.texture.changed(index);
  }

  getMapOffset(index: number, part: number, target: Vector2): Vector2 {
    const steps = this.lookOf(index, part) - 1;
    return target.set((steps % MAP_STEPS) / MAP_STEPS, Math.floor(steps / MAP_STEPS) / MAP_STEPS);
  }

  /** Moves the map of a part; only the fraction of the offset counts, since maps repeat. */
  setMapOffset(index: number, part: number, { x, y }: Vector2): void {
    const stepsOf = (offset: number) => Math.round((offset - Math.floor(offset)) * MAP_STEPS) % MAP_STEPS;
    this.writeLook(index, part, 1 + stepsOf(x) + stepsOf(y) * MAP_STEPS);
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
    swapItems(this.texture.data, i, j, this.count * STRIDE);
    swapItems(this.hidden, i, j, this.count);
    swapItems(this.ownerHidden, i, j, 1);
    this.texture.changed(i);
    this.texture.changed(j);
  }

  /** Gives an instance the colours and maps of the baked character. Whether its owner is hidden stays. */
  reset(index: number, hidden: readonly number[]): void {
    const first = index * this.count;
    this.texture.data.fill(1, first * STRIDE, (first + this.count) * STRIDE);
    this.hidden.fill(0, first, first + this.count);
    for (const part of hidden) this.hidden[first + part] = 1;
    for (let part = 0; part < this.count; part++) this.writeLook(index, part, 1);
    this.texture.changed(index);
  }

  /**
   * The same for as many instances and parts as both have. Whether owners are hidden is not copied: a copy may be
   * attached to something else, or to nothing.
   */
  copy(source: InstanceParts): this {
    const { data } = this.texture;
    const capacity = Math.min(this.capacity, source.capacity);
    const count = Math.min(this.count, source.count);
    for (let index = 0; index < capacity; index++) {
      const from = index * source.count;
      const to = index * this.count;
      this.hidden.set(source.hidden.subarray(from, from + count), to);
      data.set(source.texture.data.subarray(from * STRIDE, (from + count) * STRIDE), to * STRIDE);
      for (let part = 0; part < count; part++) this.writeLook(index, part, this.lookOf(index, part));
    }
    this.texture.changedAll();
    return this;
  }

  dispose(): void {
    this.texture.dispose();
  }

  private lookOf(index: number, part: number): number {
    return Math.abs(this.texture.data[(index * this.count + part) * STRIDE + LOOK]);
  }

  private writeLook(index: number, part: number, look: number): void {
    const at = (index * this.count + part) * STRIDE + LOOK;
    this.texture.data[at] = this.isDrawn(index, part) ? look : -look;
  }
}
