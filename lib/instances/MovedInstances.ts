import type { InstancedBufferAttribute } from 'three';

/** Numbers of a matrix. */
const SIZE = 16;

/** Which instances have moved, for one who asks: bit `id & 31` of word `id >> 5`. */
export class MovedInstances {
  readonly bits: Int32Array;
  isEmpty = false;
  private version = -1;

  constructor(count: number) {
    this.bits = new Int32Array(Math.ceil(count / 32)).fill(-1);
  }

  /**
   * Takes down which instances have moved. Call it before a renderer uploads their matrices, and forgets what has changed of them.
   *
   * @returns Whether any may have since the last call.
   */
  note({ version, updateRanges, count }: InstancedBufferAttribute): boolean {
    if (version === this.version) return false;
    this.version = version;
    this.isEmpty = false;
    const { bits } = this;
    if (updateRanges.length === 0) bits.fill(-1);
    for (let i = 0; i < updateRanges.length; i++) {
      const { start, count: numbers } = updateRanges[i];
      const last = Math.min(Math.ceil((start + numbers) / SIZE), count);
      for (let id = Math.floor(start / SIZE); id < last; id++) bits[id >> 5] |= 1 << (id & 31);
    }
    return true;
  }

  /** Begins anew. */
  clear(): void {
    this.isEmpty = true;
    this.bits.fill(0);
  }
}
