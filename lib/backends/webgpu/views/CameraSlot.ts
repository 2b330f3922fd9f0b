import type { Camera } from 'three';
import { Matrix4 } from 'three';
import type { DrawnCrowd } from '../../DrawnCrowd.js';
import type { SeenRates } from './SeenNodes.js';
import type { ViewBuffers } from './ViewBuffers.js';

/** What the GPU keeps for one camera that looks at a crowd, and what it was computed from. */
export class CameraSlot {
  /** The frame in which the camera last drew the crowd. */
  frame = -1;
  /** Grows whenever it is computed anew what the camera sees. */
  version = 0;
  /** From the crowd's space into what the camera shows; several for an array of cameras. */
  readonly clips: Matrix4[] = [];
  /** Bits of the instances that the camera may see, where someone asks for them; null for all. */
  seen: Int32Array | null = null;
  /** How often instances are posed that the camera sees; null if all are in every frame. */
  rates: SeenRates | null = null;
  /** Where in the table of draws each mesh finds what it draws next. */
  readonly places: WeakMap<DrawnCrowd, number> = new WeakMap();

  private readonly numbers: number[] = [];
  private bits = new Int32Array(0);

  constructor(
    readonly camera: Camera,
    readonly buffers: ViewBuffers,
  ) {}

  /** Bits for so many instances, none of them set. */
  clearSeen(capacity: number): Int32Array {
    const words = Math.ceil(capacity / 32);
    this.bits = this.bits.length === words ? this.bits.fill(0) : new Int32Array(words);
    this.seen = this.bits;
    return this.seen;
  }

  /**
   * Remembers what is computed from. Returns whether it was the same the last time.
   *
   * @param clips See `clips`; the first `count` count.
   * @param numbers Whatever else it depends on.
   */
  remember(clips: readonly Matrix4[], count: number, numbers: readonly number[]): boolean {
    let same = this.clips.length === count && this.numbers.length === numbers.length;
    if (this.clips.length > count) this.clips.length = count;
    for (let i = 0; i < count; i++) {
      if (i === this.clips.length) this.clips.push(new Matrix4());
      if (same && this.clips[i].equals(clips[i])) continue;
      same = false;
      this.clips[i].copy(clips[i]);
    }
    for (let i = 0; i < numbers.length; i++) {
      if (this.numbers[i] !== numbers[i]) same = false;
      this.numbers[i] = numbers[i];
    }
    if (this.numbers.length > numbers.length) this.numbers.length = numbers.length;
    return same;
  }
}
