import type { MovedMesh } from './CrowdMotions.js';
import type { Motion } from './Motion.js';

/** The time of a motion in a crowd: what has passed on the crowd's clock, as fast as the motion wants it. */
export class MotionClock {
  /** Below the motion's period, if it has one. */
  time: number;

  constructor(
    private readonly motion: Motion,
    private elapsed: number,
  ) {
    this.time = this.after(0, elapsed);
  }

  /** Brings the time up to the crowd's clock. The clock may have been turned back. */
  settle(elapsed: number): void {
    if (elapsed === this.elapsed) return;
    this.time = this.after(this.time, elapsed - this.elapsed);
    this.elapsed = elapsed;
  }

  copy({ time, elapsed }: MotionClock): void {
    this.time = time;
    this.elapsed = elapsed;
  }

  /** The time after some seconds. It stands still while uniforms give no finite rate: else it would be lost for good. */
  private after(time: number, seconds: number): number {
    const { hooks, definition } = this.motion;
    const { period } = definition;
    const then = time + seconds * hooks.rate();
    if (!Number.isFinite(then)) return time;
    return period === Infinity ? then : then - Math.floor(then / period) * period;
  }
}

/** By crowd, the clocks of its motions: its meshes share them. */
const clocks = /*@__PURE__*/ new WeakMap<object, WeakMap<Motion, MotionClock>>();

/** The clock of a motion in the crowd that a mesh is of. A new one is where it were had it run from the beginning. */
export function clockOf({ playback, elapsed }: MovedMesh, motion: Motion): MotionClock {
  let own = clocks.get(playback);
  if (own === undefined) {
    own = new WeakMap();
    clocks.set(playback, own);
  }
  let clock = own.get(motion);
  if (clock === undefined) {
    clock = new MotionClock(motion, elapsed);
    own.set(motion, clock);
  }
  return clock;
}
