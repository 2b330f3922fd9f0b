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
    this.time = this.wrapped(elapsed * motion.hooks.rate());
  }

  /** Brings the time up to the crowd's clock. The clock may have been turned back. */
  settle(elapsed: number): void {
    if (elapsed === this.elapsed) return;
    this.time = this.wrapped(this.time + (elapsed - this.elapsed) * this.motion.hooks.rate());
    this.elapsed = elapsed;
  }

  copy({ time, elapsed }: MotionClock): void {
    this.time = time;
    this.elapsed = elapsed;
  }

  private wrapped(time: number): number {
    const { period } = this.motion.definition;
    return period === Infinity ? time : time - Math.floor(time / period) * period;
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
