import { InstanceTexture } from '../instances/InstanceTexture.js';
import { EDIT_TEXELS, EDITS_PER_ROW } from './editLayout.js';

/** Numbers of an edit. */
export const EDIT_STRIDE = EDIT_TEXELS * 4;

/**
 * Edits of all instances in one texture. Each instance that has any has a block of them, whose size is a power of two; a
 * block that is given back goes to the next that asks for its size.
 */
export class EditPool {
  texture: InstanceTexture = new InstanceTexture(EDITS_PER_ROW, EDIT_STRIDE, EDITS_PER_ROW);
  /** Of look-at edits x, y, z of the target in the crowd's space; the texture has it relative to the instance. */
  targets: Float64Array = new Float64Array(EDITS_PER_ROW * 3);

  private used = 0;
  /** Blocks that were given back, by the exponent of their size. */
  private readonly free: number[][] = [];

  /** Where the edits' numbers are, `EDIT_STRIDE` each. */
  get data(): Float32Array {
    return this.texture.data;
  }

  /** Takes a block of so many edits, a power of two. Returns its first. */
  take(size: number): number {
    const again = this.free[Math.log2(size)]?.pop();
    if (again !== undefined) return again;
    const first = this.used;
    this.used += size;
    while (this.used * 3 > this.targets.length) this.grow();
    return first;
  }

  /** Gives a block back. */
  give(first: number, size: number): void {
    const exponent = Math.log2(size);
    this.free[exponent] ??= [];
    this.free[exponent].push(first);
  }

  /** Copies an edit to another place, of this pool or from another. */
  copy(from: number, to: number, source: EditPool = this): void {
    const { data, targets } = source;
    this.data.set(data.subarray(from * EDIT_STRIDE, (from + 1) * EDIT_STRIDE), to * EDIT_STRIDE);
    this.targets.set(targets.subarray(from * 3, from * 3 + 3), to * 3);
    this.texture.changed(to);
  }

  dispose(): void {
    this.texture.dispose();
  }

  private grow(): void {
    const { texture, targets } = this;
    this.targets = new Float64Array(targets.length * 2);
    this.targets.set(targets);
    this.texture = new InstanceTexture(this.targets.length / 3, EDIT_STRIDE, EDITS_PER_ROW);
    this.texture.data.set(texture.data);
    texture.dispose();
  }
}
