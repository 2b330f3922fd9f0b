import { EventDispatcher } from 'three';
import type { SkinnedInstancedMesh } from '../../crowd/SkinnedInstancedMesh.js';
import type { CrowdLevels } from '../levels/CrowdLevels.js';
import type { Level } from '../levels/LevelTable.js';
import type { DrawOrder } from '../order/DrawOrder.js';

/** Something that costs less for less quality, in one or more stages. */
export interface BudgetStep {
  /** What events call it. */
  name: string;
  /** How many stages it has. */
  count: number;
  /**
   * Takes stages, or gives them back.
   *
   * @param taken So many of them are taken: 0, where all is as it was, to `count`.
   */
  apply(taken: number): void;
}

/** The steps that a budget has of its own. */
export type OwnBudgetSteps = Record<
  'levelBias' | 'shadowLevels' | 'impostors' | 'poseRates' | 'drawn',
  BudgetStep
>;

/** What a budget is to keep, and how. */
export interface FrameBudgetOptions {
  /** Frames a second. @default 60 */
  fps?: number;
  /** Between 0 and 1, with what it begins. @default 1 */
  quality?: number;
  /**
   * The steps in the order in which they are taken. Those of the user's go between them: pixel ratio, effects.
   *
   * @default all its own, in the order of {@link OwnBudgetSteps}
   */
  steps?: (own: OwnBudgetSteps) => BudgetStep[];
  /**
   * Milliseconds that the GPU took for one of the last frames, 0 where that is not known: frames in which it took too long are late,
   * and nothing is tried while there is no room for it. With `trackTimestamp`, WebGPURenderer has it as `info.render.timestamp`, after
   * each `resolveTimestampsAsync()`.
   */
  gpuTime?: () => number;
}

/** Events of a budget. */
export interface FrameBudgetEventMap {
  /** A stage of a step was taken, or taken back. */
  change: {
    /** 0 to 1. */
    quality: number;
    /** The one that was taken, or given back. */
    step: BudgetStep;
    /** How many of its stages are taken now. */
    taken: number;
  };
}

/** A frame is late that took so many times as long as it may: displays are not exact, and show some frames a little later. */
const LATE = 1.3;
/** Seconds after which frames are judged, and the share of them that may be late. */
const WINDOW = 1.5;
const SHARE = 0.25;
/** Seconds without a late frame after which more quality is tried, and how often it is. */
const CALM = 5;
const TRIES = 2;
/** Share of a frame's time that the GPU may take where more quality is to be tried. */
const ROOM = 0.8;
/** Seconds in which frames do not count: at first, after a pause, and after a change, when shaders are compiled. */
const SETTLE = 0.5;
/** A longer frame after a shorter one is a pause, as of a page in the background. */
const PAUSE = 0.25;

/**
 * Keeps the frame rate: takes quality step by step where frames are late, and gives it back where they are not. When more than a
 * quarter of the frames of 1.5 seconds were late it goes down by a stage; after 5 seconds without a late one it goes up; what failed
 * twice is not tried again. First frames, and those after a pause, do not count. It knows nothing but the seconds that it is told.
 *
 * Make it when crowds have their levels. Its own steps: all levels begin nearer; shadows go by coarser ones (`shadowLevel`);
 * impostors begin nearer; instances from level 1 on are posed 30, then 15 times a second; fewer are drawn, where a crowd has a
 * `DrawOrder`.
 *
 * ```ts
 * const budget = new FrameBudget([crowd], {
 *   fps: 60,
 *   steps: ({ levelBias, poseRates, drawn }) => [
 *     levelBias,
 *     { name: 'pixel ratio', count: 2, apply: (taken) => renderer.setPixelRatio(devicePixelRatio * 0.75 ** taken) },
 *     poseRates,
 *     drawn,
 *   ],
 * });
 * // each frame, with the seconds since the last one as they are
 * budget.update(delta);
 * ```
 *
 * @category See
 */
export class FrameBudget extends EventDispatcher<FrameBudgetEventMap> {
  /** The steps in the order in which they are taken. */
  readonly steps: readonly BudgetStep[];
  private readonly stages: number;
  private readonly fps: number;
  private readonly gpuTime: () => number;
  /** Stages that are taken, of all steps one after another. */
  private taken = 0;
  /** By stages taken, how often they turned out to be too few. */
  private failures: number[] = [];
  /** Whether more quality was tried, and has not yet held for long enough. */
  private isTrying = false;
  private settling = SETTLE;
  private wasLong = false;
  private frames = 0;
  private late = 0;
  /** Seconds since frames are counted, and without a late one. */
  private time = 0;
  private calm = 0;

  /** @throws If `fps` is not above 0, or `quality` is no share. */
  constructor(
    crowds: readonly SkinnedInstancedMesh[],
    { fps = 60, quality = 1, steps = Object.values, gpuTime = () => 0 }: FrameBudgetOptions = {},
  ) {
    super();
    if (!(fps > 0 && quality >= 0 && quality <= 1))
      throw new Error(
        `FrameBudget: fps is ${fps}, quality ${quality}; use a number above 0, and one from 0 to 1.`,
      );
    this.fps = fps;
    this.gpuTime = gpuTime;
    this.steps = steps(ownSteps(crowds));
    this.stages = this.steps.reduce((sum, { count }) => sum + count, 0);
    const taken = Math.round((1 - quality) * this.stages);
    while (this.taken < taken) this.go(1);
  }

  /** 1 while nothing is taken, 0 when everything is. */
  get quality(): number {
    return this.stages > 0 ? 1 - this.taken / this.stages : 1;
  }

  /**
   * Call it in each frame.
   *
   * @param delta Seconds since the last frame, not cut short.
   */
  update(delta: number): this {
    if (!(delta > 0)) return this;
    const isLong = delta > PAUSE;
    const isPause = isLong && !this.wasLong;
    this.wasLong = isLong;
    if (isPause || this.settling > 0) {
      this.settling = isPause ? SETTLE : this.settling - delta;
      return this;
    }
    const gpu = this.gpuTime() / 1000;
    const isLate = Math.max(delta, gpu) * this.fps > LATE;
    this.frames++;
    this.time += delta;
    if (isLate) this.late++;
    this.calm = isLate ? 0 : this.calm + delta;
    // As soon as it is sure that too many of the window's frames will have been late.
    if (this.time >= WINDOW || this.late > SHARE * WINDOW * this.fps) this.judge();
    if (this.calm >= CALM) {
      this.isTrying = false;
      if (gpu * this.fps <= ROOM && this.taken > 0 && !(this.failures[this.taken - 1] >= TRIES)) {
        this.isTrying = true;
        this.go(-1);
      }
    }
    return this;
  }

  /** Forgets what failed: for another scene. */
  reset(): this {
    this.failures = [];
    return this;
  }

  private judge(): void {
    const isTooLate = this.late > this.frames * SHARE;
    this.frames = this.late = this.time = 0;
    if (!isTooLate || this.taken === this.stages) return;
    if (this.isTrying) this.failures[this.taken] = (this.failures[this.taken] ?? 0) + 1;
    this.isTrying = false;
    this.go(1);
  }

  /** Takes a stage, or gives one back. */
  private go(by: 1 | -1): void {
    const stage = Math.min(this.taken, this.taken + by);
    this.taken += by;
    this.settling = SETTLE;
    this.frames = this.late = this.time = this.calm = 0;
    let first = 0;
    for (const step of this.steps) {
      if (stage < first + step.count) {
        const taken = this.taken - first;
        step.apply(taken);
        this.dispatchEvent({ type: 'change', quality: this.quality, step, taken });
        return;
      }
      first += step.count;
    }
  }
}

/** Share of their distance at which levels begin with each stage, and impostors beside. */
const NEARER = 0.7;
const IMPOSTORS_NEARER = 0.6;
const RATES = [Infinity, 30, 15];
const FEWER = 0.75;

function ownSteps(crowds: readonly SkinnedInstancedMesh[]): OwnBudgetSteps {
  // By what they have: who does not use such a feature does not have its code.
  const having = <T extends object>(key: keyof T) =>
    crowds.flatMap((crowd) => {
      const own = crowd.features.find((one) => key in one) as object as T | undefined;
      return own === undefined ? [] : [{ crowd, own }];
    });
  const levels = having<CrowdLevels>('shadowLevel').map(({ own }) => new SoonerLevels(own));
  const orders = having<DrawOrder>('maxVisible').map((one) => ({ ...one, most: one.own.maxVisible }));
  const step = (name: string, count: number, apply: (taken: number) => void): BudgetStep => ({
    name,
    count,
    apply,
  });
  const ofLevels = (name: string, count: number, apply: (one: SoonerLevels, taken: number) => void) =>
    step(name, levels.length > 0 ? count : 0, (taken) => {
      for (const one of levels) {
        apply(one, taken);
        one.write();
      }
    });
  const hasImpostors = levels.some(({ own }) => own.levels.some(isImpostor));
  return {
    levelBias: ofLevels('levelBias', 3, (one, taken) => {
      one.bias = NEARER ** taken;
    }),
    shadowLevels: ofLevels('shadowLevels', 1, ({ own }, taken) => {
      own.shadowLevel += taken > 0 ? 1 : -1;
    }),
    impostors: ofLevels('impostors', hasImpostors ? 2 : 0, (one, taken) => {
      one.impostorBias = IMPOSTORS_NEARER ** taken;
    }),
    poseRates: ofLevels('poseRates', 2, (one, taken) => {
      one.rate = RATES[taken];
    }),
    drawn: step('drawn', orders.length > 0 ? 4 : 0, (taken) => {
      for (const { crowd, own, most } of orders) {
        const share = taken > 0 && crowd.count > 0 ? crowd.count * FEWER ** taken : Infinity;
        own.maxVisible = Math.min(most, Math.ceil(share));
      }
    }),
  };
}

const isImpostor = ({ object }: Level): boolean =>
  (object as { isImpostorMesh?: boolean } | null)?.isImpostorMesh === true;

/** Levels of a crowd that begin sooner than their user said, and are posed less often. */
class SoonerLevels {
  bias = 1;
  impostorBias = 1;
  rate = Infinity;
  /** What they had. */
  private readonly before = new Map<Level, Level>();

  constructor(readonly own: CrowdLevels) {}

  write(): void {
    const { before, bias, impostorBias, rate } = this;
    const levels = this.own.levels.slice(1);
    let next = Infinity;
    for (const level of levels.reverse()) {
      if (!before.has(level)) before.set(level, { ...level });
      const { distance, screenShare, poseRate } = before.get(level) as Level;
      const scale = bias * (isImpostor(level) ? impostorBias : 1);
      // None begins behind the next one.
      next = Math.min(next, (screenShare === null ? distance : 1 / screenShare) * scale);
      if (screenShare === null) level.distance = next;
      else level.screenShare = 1 / next;
      level.poseRate = rate < (poseRate || Infinity) ? rate : poseRate;
    }
  }
}
