import type { Camera, Matrix4 } from 'three';
import { FADE_STEPS, FADING, LEVEL_CODES, MAX_LEVELS } from '../../constants.js';
import type { CameraView } from '../../culling/CrowdViews.js';
import { type LODSelector, POSED, type ViewBudget, type ViewLevels } from '../../culling/LODSelector.js';
import type { CameraLevels } from './CameraLevels.js';

/** The levels at which a view shows instances: those at which a camera sees them, and in its shadow maps coarser ones. */
export class SeenLevels implements ViewLevels {
  version = -1;
  levels: Uint8Array | null = null;
  readonly poseRates: Float32Array = new Float32Array(LEVEL_CODES);
  hasPoseRates = false;
  readonly shown: Uint8Array = new Uint8Array(MAX_LEVELS);
  /** By level at which the camera sees an instance, the one at which it is drawn. */
  private readonly drawn = new Uint8Array(MAX_LEVELS);
  private inShadow = false;
  /** Whether the camera is the one that decides on levels. */
  private decides = false;
  private chosen: CameraLevels | null = null;

  /** @param capacity The most instances there can be. */
  constructor(
    private readonly capacity: number,
    private readonly table: LODSelector & {
      chosenFor(lodCamera: Camera, matrixWorld: Matrix4, capacity: number): CameraLevels;
    },
  ) {}

  get isUsed(): boolean {
    return this.chosen !== null;
  }

  update({ camera, lodCamera, inShadow }: CameraView, matrixWorld: Matrix4, isFitted: boolean): boolean {
    const { table, capacity } = this;
    this.inShadow = inShadow;
    this.decides = camera === lodCamera;
    this.chosen = table.isUsed ? table.chosenFor(lodCamera, matrixWorld, capacity) : null;
    if (!isFitted) this.chosen?.unfit();
    this.levels = this.chosen?.levels ?? null;
    this.version = this.chosen?.version ?? -1;
    return this.takePoseRates();
  }

  setCosts(budget: ViewBudget, trianglesAt: (level: number) => number): void {
    const { table, inShadow } = this;
    if (this.chosen?.isEasing === true && this.decides) budget.again();
    for (let level = table.count - 1; level >= 0; level--) {
      const triangles = trianglesAt(inShadow ? table.inShadow(level) : level);
      budget.setCost(level, triangles);
      if (!table.fadesFor(this.capacity)) continue;
      // A picture shows both levels of what is passing over, a shadow map one of them.
      const next = level + 1 < table.count ? budget.costs[table.nextTo(level)] : 0;
      budget.setCost(level + FADING, inShadow ? Math.max(triangles, next) : triangles + next);
    }
  }

  fit(ids: Uint32Array, count: number, spheres: Float32Array, budget: ViewBudget): void {
    const { chosen } = this;
    if (chosen === null) return;
    // Shadow maps, and each eye of a headset, show the levels of the picture.
    if (this.decides) chosen.fit(ids, count, spheres, budget.costs, budget.maxTriangles);
    for (let i = 0; i < count; i++) chosen.choose(ids[i], spheres);
    this.version = chosen.version;
  }

  begin(): void {
    const { table, drawn, shown, inShadow } = this;
    for (let level = 0; level < table.count; level++) {
      drawn[level] = inShadow ? table.inShadow(level) : level;
      shown[level] = table.isPosed(level) ? POSED : Number(table.hasContent(level));
    }
  }

  levelOf(id: number, spheres: Float32Array): number {
    const chosen = this.chosen as CameraLevels;
    let level = chosen.choose(id, spheres);
    if (!this.inShadow) return level;
    if (level >= FADING) {
      level -= FADING;
      // In shadow maps levels take turns at once, half way: they are drawn into at other pixels than the picture.
      if (chosen.steps[id] >= FADE_STEPS / 2) level = this.table.nextTo(level);
    }
    return this.drawn[level];
  }

  stepOf(id: number): number {
    return (this.chosen as CameraLevels).steps[id];
  }

  /** Poses a second of instances by the level at which the viewer sees them, which may be another one than is drawn. */
  private takePoseRates(): boolean {
    const { table, poseRates, inShadow } = this;
    this.hasPoseRates = table.hasPoseRates;
    const codes = table.fadesFor(this.capacity) ? LEVEL_CODES : table.count;
    let same = true;
    for (let code = 0; code < codes; code++) {
      const rate = table.poseRateOf(code, inShadow);
      same &&= poseRates[code] === rate;
      poseRates[code] = rate;
    }
    return same;
  }
}
