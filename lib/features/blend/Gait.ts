import type { Crowd } from '../../core/Crowd.js';
import type { FeaturedCrowd } from '../../core/CrowdFeature.js';
import type { SkinnedInstancedMesh } from '../../crowd/SkinnedInstancedMesh.js';
import { checkFinite } from '../../utils/messages.js';
import { type BlendStop, ClipBlend, STRIDE } from './ClipBlend.js';

/** How a gait follows its instances. */
export interface GaitOptions {
  /** Seconds over which speeds are smoothed. @default 0.1 */
  smoothing?: number;
  /** How far from the middle feet stand, in units at scale 1: who turns in place makes steps of that. @default 0.15 */
  turning?: number;
}

/** Further numbers of each instance: where it was, which way it looked, its speed. */
const PLACE = STRIDE;
const AHEAD = PLACE + 3;
const SPEED = AHEAD + 3;
/** Who is faster by so many times than the last stop was put somewhere else. */
const JUMP = 4;
/** Share of the last stop's speed by which a speed has to differ for anything to be written. */
const STEP = 0.01;

/**
 * A {@link ClipBlend} by the speed that instances really have: as far as their matrices moved since the last `update`, so that feet do
 * not slide. The number of a stop is the speed at which its clip's feet stand still, in units a second at scale 1; below the first
 * that moves, steps become shorter, between two the rhythm follows from their strides. Who turns in place steps.
 *
 * ```ts
 * const gait = new Gait(crowd, [['Idle', 0], ['Walk', 1.4], ['Run', 4]]);
 * gait.play(crowd.all, { phase: Math.random });
 * // each frame: setMatrixAt, and
 * crowd.update(delta);
 * ```
 *
 * `setValueAt` and `setValues` say how fast instances begin: from there on, their speeds are smoothed.
 *
 * Way up and down along the instance's own Y axis does not count; who goes farther in a frame than could be run was put there.
 *
 * @category Play and blend
 */
export class Gait extends ClipBlend {
  private readonly options: Required<GaitOptions>;

  /** @throws As `ClipBlend`, or if a speed is below 0, or an option no finite number. */
  constructor(
    crowd: SkinnedInstancedMesh,
    stops: readonly BlendStop[],
    { smoothing = 0.1, turning = 0.15 }: GaitOptions = {},
  ) {
    super(crowd, stops);
    if (!(stops[0][1] >= 0))
      throw new Error(`The speed of the gait's first stop is ${stops[0][1]}; use speeds from 0.`);
    checkFinite(smoothing, 'smoothing');
    checkFinite(turning, 'turning');
    this.options = { smoothing, turning };
  }

  /** Takes over how far instances have moved. Called by the crowd's `update`. */
  update(delta: number): void {
    if (!(delta > 0)) return;
    this.crowd.crowd.written?.warn('a Gait');
    const { numbers, crowd, at, stride } = this;
    const { smoothing, turning } = this.options;
    const { visibility } = crowd.crowd;
    const m = crowd.instanceMatrix.array;
    const last = at[at.length - 1];
    const share = 1 - Math.exp(-delta / Math.max(smoothing, 1e-6));
    for (let index = 0; index < crowd.count; index++) {
      if (visibility.isDeleted(index)) continue;
      const p = index * stride;
      const o = index * 16;
      let across = 0;
      let along = 0;
      let wide = 0;
      let long = 0;
      for (let k = 0; k < 3; k++) {
        const way = m[o + 12 + k] - numbers[p + PLACE + k];
        numbers[p + PLACE + k] = m[o + 12 + k];
        across += way * m[o + k];
        along += way * m[o + 8 + k];
        wide += m[o + k] ** 2;
        long += m[o + 8 + k] ** 2;
      }
      let turned = 0;
      for (let k = 0; k < 3; k++) {
        const ahead = m[o + 8 + k] / Math.sqrt(long);
        turned += (ahead - numbers[p + AHEAD + k]) ** 2;
        numbers[p + AHEAD + k] = ahead;
      }
      const moved = Math.sqrt((across / wide) ** 2 + (along / long) ** 2) / delta;
      const speed = Math.max(moved, (turning * Math.sqrt(turned)) / delta);
      const before = numbers[p + SPEED] || 0;
      // What is not known yet is no number.
      const now = speed < JUMP * last ? before + (speed - before) * share : before;
      numbers[p + SPEED] = now;
      const value = now < STEP * last ? 0 : now;
      const shown = this.valueFor(index);
      if (Math.abs(value - shown) > STEP * last || (value === 0 && shown > 0)) this.set(index, value);
    }
  }

  protected override get stride(): number {
    return SPEED + 1;
  }

  /** The speed of an instance is smoothed from here on. */
  protected override set(index: number, value: number): void {
    this.numbers[index * this.stride + SPEED] = value;
    super.set(index, value);
  }

  override cloneFor(crowd: FeaturedCrowd): Gait {
    return new Gait((crowd as Crowd).mesh as SkinnedInstancedMesh, this.stops, this.options);
  }

  /** Strides of two stops are mixed as their poses are; who stands does so in its own time. */
  protected override lengthOf(of: number, stop: number, share: number): number {
    const { at, clips } = this;
    if (at[of] === 0) return clips[of].duration;
    const stride =
      at[stop] * clips[stop].duration * (1 - share) + at[stop + 1] * clips[stop + 1].duration * share;
    const speed = at[stop] * (1 - share) + at[stop + 1] * share;
    return speed > 0 ? stride / speed : clips[of].duration;
  }
}
