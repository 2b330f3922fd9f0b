import type { Crowd } from '../core/Crowd.js';
import type { InstanceData } from '../instances/InstanceData.js';
import { resized, swapItems } from '../utils/attributes.js';

/** Seconds that clocks which pass alike may be apart: sums of their steps are rounded. */
const ROUNDING = 1e-7;

/**
 * The time of instances whose mixers are updated one by one. Shaders know of the crowd's clock alone, and on that what
 * an instance plays goes on by itself: only of those that are elsewhere by the time they are drawn is it written anew.
 */
export class OwnClocks implements InstanceData {
  /** NaN for those that have none. */
  private times: Float64Array;
  /** The instance that was advanced last, and updates of the crowd's clock that are known. */
  private leader = 0;
  private updates = 0;

  /** Those of a crowd, which are made when one is first asked for. */
  static of(crowd: Crowd): OwnClocks {
    const { time } = crowd.playback;
    if (time.own === null) {
      const clocks = new OwnClocks(crowd);
      time.own = clocks;
      crowd.data.push(clocks);
    }
    return time.own as OwnClocks;
  }

  private constructor(private readonly crowd: Crowd) {
    this.times = new Float64Array(crowd.capacity).fill(Number.NaN);
    this.updates = crowd.playback.time.updates;
  }

  timeOf(index: number): number {
    return this.times[index];
  }

  /** Advances an instance, unless it is paused. From then on it has a clock of its own. */
  advance(index: number, delta: number): void {
    const { time } = this.crowd.playback;
    if (time.isPaused(index)) return;
    this.times[index] = time.timeOf(index) + delta;
    this.leader = index;
  }

  /**
   * Has all drawn where their clocks are. Where all have one, and the crowd was not updated since this was last called, it is
   * updated with them.
   */
  meetAll(mesh: { readonly count: number; update(delta: number): unknown }): void {
    const { times, leader } = this;
    const { playback } = this.crowd;
    const ahead = times[leader] - playback.elapsed;
    const other = times.findIndex(Number.isNaN);
    const all = other < 0 || other >= mesh.count;
    if (this.updates === playback.time.updates && all && leader < mesh.count && ahead !== 0)
      mesh.update(ahead);
    this.updates = playback.time.updates;
    const { elapsed } = playback;
    for (let i = 0; i < times.length; i++) {
      const seconds = elapsed - times[i];
      if (!(Math.abs(seconds) > ROUNDING) || playback.isPaused(i)) continue;
      times[i] = elapsed;
      playback.delay(i, seconds);
    }
  }

  meet(index: number): void {
    if (!Number.isNaN(this.times[index])) this.times[index] = this.crowd.playback.elapsed;
  }

  clear(): void {
    this.times.fill(Number.NaN);
  }

  resize(capacity: number): void {
    this.times = resized(this.times, capacity, Number.NaN);
  }

  swap(i: number, j: number): void {
    swapItems(this.times, i, j, 1);
  }

  reset(index: number): void {
    this.times[index] = Number.NaN;
  }

  copy(): void {}

  dispose(): void {}
}
