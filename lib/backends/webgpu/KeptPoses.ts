import type { WebGPURenderer } from 'three/webgpu';
import { PreviousRows } from '../../instances/PreviousRows.js';
import type { InstancePlayback } from '../../playback/InstancePlayback.js';
import type { MatrixRows } from './MatrixRows.js';

/** The poses of the frame before, for motion vectors. */
export class KeptPoses {
  private readonly kept = new WeakMap<
    object,
    {
      /** The frame of the browser in which poses were kept last, and of how many instances. */
      frame: number;
      count: number;
      rows: PreviousRows;
    }
  >();
  private readonly rows: PreviousRows[] = [];

  constructor(
    readonly palette: MatrixRows,
    private readonly playback: InstancePlayback,
  ) {}

  /** How many instances, the first ones, were posed otherwise in the frame before; 0 if none moves. */
  countOn(renderer: object): number {
    const { frame, count } = this.on(renderer);
    return frame === frameOf(renderer) ? count : 0;
  }

  /** Where instances were then. */
  rowsOn(renderer: object): PreviousRows {
    return this.on(renderer).rows;
  }

  /**
   * Call before instances are posed anew.
   *
   * @param posed Instances that are posed.
   * @returns Of how many the poses must be copied first: none but for the first time in a frame.
   */
  keep(renderer: WebGPURenderer, posed: number): number {
    const kept = this.on(renderer);
    const { frame } = renderer.info;
    const anew = kept.frame !== frame;
    kept.rows.posed(anew);
    kept.rows.texture.prepare(renderer);
    if (!anew) return 0;
    this.palette.prepare(renderer);
    kept.frame = frame;
    kept.count = posed;
    return posed;
  }

  dispose(): void {
    this.palette.dispose();
    for (const rows of this.rows) {
      this.playback.previousRows.delete(rows);
      rows.dispose();
    }
  }

  private on(renderer: object) {
    let kept = this.kept.get(renderer);
    if (kept === undefined) {
      kept = { frame: -1, count: 0, rows: new PreviousRows(this.playback.capacity) };
      this.rows.push(kept.rows);
      this.playback.previousRows.add(kept.rows);
      this.kept.set(renderer, kept);
    }
    return kept;
  }
}

const frameOf = (renderer: object): number => (renderer as WebGPURenderer).info.frame;
