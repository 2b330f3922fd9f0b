import type { InstancedBufferAttribute } from 'three';

/** Numbers of a matrix. */
const SIZE = 16;

/** Which instances have moved, for one who asks: bit `id & 31` of word `id >> 5`. */
export class MovedInstances {
  readonly bits: Int32Array;
  isEmpty = true;
  private version = -1;

  constructor(count: number) {
    this.bits = new Int32Array(Math.ceil(count / 32));
    this.addAll();
  }

  /**
   * Takes down which instances have moved. Call it before a renderer uploads their matrices, and forgets what has changed of them.
   *
   * @returns Whether any may have since the last call.
   */
  note({ version, updateRanges, array }: InstancedBufferAttribute): boolean {
    if (version === this.version) return false;
    this.version = version;
    const { bits } = this;
    if (updateRanges.length === 0) this.addAll();
    for (let i = 0; i < updateRanges.length; i++) {
      const { start, count } = updateRanges[i];
      const end = Math.min(start + count, array.length);
      this.isEmpty &&= end <= start;
      for (let id = Math.floor(start / SIZE); id * SIZE < end; id++) bits[id >> 5] |= 1 << (id & 31);
    }
    return true;
  }

  addAll(): void {
    this.bits.fill(-1);
    this.isEmpty = this.bits.length === 0;
  }

  /** The first of its words, and the last, in which someone has moved. */
  get first(): number {
    return this.bits.findIndex(Boolean);
  }

  get last(): number {
    return this.bits.findLastIndex(Boolean);
  }

  /** Begins anew. */
  clear(): void {
    this.isEmpty = true;
    this.bits.fill(0);
  }
}
