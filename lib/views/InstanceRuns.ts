import { LIST_TEXELS } from '../constants.js';
import { InstanceTexture } from '../instances/InstanceTexture.js';

/** Numbers of a run: its first instance, and how many there are. */
const RUN_SIZE = 2;
/** Numbers of a texel. */
const TEXEL_SIZE = 4;

let _runs = /*@__PURE__*/ new Float32Array(0);

/** Instances whose numbers follow one another, as a texture that shaders read: two runs in a texel. */
export class InstanceRuns {
  readonly texture: InstanceTexture;
  count = 0;

  /**
   * @param capacity The most instances.
   * @param perRow No run goes past a multiple of it.
   */
  constructor(
    readonly capacity: number,
    readonly perRow: number,
  ) {
    const texels = Math.ceil((this.most * RUN_SIZE) / TEXEL_SIZE);
    this.texture = new InstanceTexture(texels, TEXEL_SIZE, Math.min(texels, LIST_TEXELS));
  }

  /** Takes the instances whose bit `id & 31` of word `id >> 5` is set. Only what differs from before is uploaded. */
  assign(bits: Int32Array): void {
    const { perRow } = this;
    if (_runs.length < this.most * RUN_SIZE) _runs = new Float32Array(this.most * RUN_SIZE);
    let size = 0;
    let next = -1;
    for (let word = 0; word < bits.length; word++) {
      for (let rest = bits[word]; rest !== 0; rest &= rest - 1) {
        const id = word * 32 + 31 - Math.clz32(rest & -rest);
        if (id === next && id % perRow !== 0) _runs[size - 1]++;
        else {
          _runs[size] = id;
          _runs[size + 1] = 1;
          size += RUN_SIZE;
        }
        next = id + 1;
      }
    }
    this.count = size / RUN_SIZE;
    this.texture.assign(_runs, size);
  }

  dispose(): void {
    this.texture.dispose();
  }

  /** Every second instance, and one more for each row. */
  private get most(): number {
    return Math.ceil(this.capacity / 2) + Math.ceil(this.capacity / this.perRow) + 1;
  }
}
