import type { Camera, Matrix4 } from 'three';
import {
  FADE_CODES,
  FADE_STEPS,
  FADING,
  ID_BITS,
  LEVEL_CODES,
  LEVEL_SCALE,
  MAX_LEVELS,
} from '../../constants.js';
import type { CameraView } from '../../culling/CrowdViews.js';
import {
  type LevelMeasure,
  type LODSelector,
  POSED,
  type ViewBudget,
  type ViewLevels,
} from '../../culling/LODSelector.js';
import { resized } from '../../utils/attributes.js';

/**
 * For levels to begin sooner, distances are multiplied by this once for every `STRIDE` steps, of which there may be `STEPS`. Levels
 * that fade begin sooner and later by single steps: at larger ones, instances would come through all of a fade at once.
 */
const FACTOR = 1.1;
const STRIDE = 16;
const STEPS = 100 * STRIDE;
/** Share of what instances may cost that they may take after levels were begun later again. */
const SPARE = 0.9;

/** Of instances whose levels are being fitted. */
let _measures = /*@__PURE__*/ new Float64Array(0);

const scaleOf = (step: number): number => FACTOR ** ((2 * step) / STRIDE);

/**
 * The level of detail at which a camera sees each instance. It is kept, since how near an instance must come to be drawn in
 * more detail again depends on what it was. Shadow maps ask that of the camera for which they are drawn, so that a shadow
 * changes when what casts it does.
 */
export class CameraLevels implements LevelMeasure {
  version = 0;

  /** By id, with `FADING` if it is passing over; of instances that have not been seen for a while, what it was then. */
  levels: Uint8Array = new Uint8Array(0);
  /** By id, how many of `FADE_STEPS` it has passed over to the next level; without numbers if levels do not fade. */
  steps: Uint8Array = new Uint8Array(0);
  readonly measure: Float64Array = new Float64Array(LEVEL_SCALE + 1);
  bySize = false;
  flat = false;
  /** Whether levels are on their way back, by a step in each frame. */
  isEasing = false;
  /** By how many steps levels begin sooner than the table says. */
  private step = 0;
  /** What the scale of the measure is divided by. */
  private squaredUnit = 1;
  private table!: LODSelector;
  private tableVersion = -1;
  /** Bits of a step that lists can hold: large ids leave room for less. */
  private stepMask = -1;
  private fades = false;

  /**
   * Takes over where the camera is now. Call it before levels are asked for.
   *
   * @param matrixWorld Of the crowd.
   * @param capacity The most instances there can be.
   */
  update(
    table: LODSelector,
    camera: Camera & { zoom?: number },
    matrixWorld: Matrix4,
    capacity: number,
  ): void {
    if (this.levels.length !== capacity) this.levels = resized(this.levels, capacity);
    const fades = table.fadesFor(capacity);
    // Steps of both kinds do not go into each other.
    if (fades !== this.fades) this.step = 0;
    this.fades = fades;
    const steps = this.fades ? capacity : 0;
    if (this.steps.length !== steps) this.steps = new Uint8Array(steps);
    this.stepMask = -Math.max(1, 2 ** (Math.ceil(Math.log2(capacity * FADE_CODES)) - ID_BITS));
    this.table = table;
    if (table.update() !== this.tableVersion) {
      this.tableVersion = table.version;
      this.version++;
    }
    const m = matrixWorld.elements;
    const eye = camera.matrixWorld.elements;
    for (let row = 0; row < 3; row++) {
      for (let column = 0; column < 3; column++) this.set(row * 4 + column, m[column * 4 + row]);
      this.set(row * 4 + 3, m[12 + row] - eye[12 + row]);
    }

    const projection = camera.projectionMatrix.elements;
    this.bySize = table.byScreen;
    // With a parallel projection, size does not depend on distance.
    this.flat = this.bySize && projection[15] === 1;
    // Of an instance, the radius of its sphere is at hand.
    const unit = this.bySize
      ? matrixWorld.getMaxScaleOnAxis() * projection[5] * table.halfHeight
      : (camera.zoom ?? 1);
    this.squaredUnit = unit * unit;
    this.set(LEVEL_SCALE, this.scale / this.squaredUnit);
  }

  /**
   * The level of an instance, with `FADING` added if it is passing over to the next one.
   *
   * @param spheres x, y, z and radius by id, in the crowd's space.
   */
  choose(id: number, spheres: Float32Array): number {
    const measure = this.measureOf(id, spheres);
    let level = this.levelAt(measure, this.levels[id]);
    if (this.fades) {
      const step = this.stepAt(measure, level);
      this.steps[id] = step;
      if (step > 0) level += FADING;
    }
    this.levels[id] = level;
    return level;
  }

  /**
   * Begins levels sooner where that is needed for instances to cost no more together than they may, and later again where it is
   * not: by as many steps for all of them.
   *
   * @param ids The first `count` are those.
   * @param costs What an instance costs at each level, and where it is passing over.
   */
  fit(ids: Uint32Array, count: number, spheres: Float32Array, costs: Float64Array, max: number): void {
    if (_measures.length < count) _measures = new Float64Array(ids.length);
    const { scale, fades } = this;
    const stride = fades ? 1 : STRIDE;
    for (let i = 0; i < count; i++) _measures[i] = this.measureOf(ids[i], spheres) / scale;
    let { step } = this;
    let tooFew = -1;
    // Each cost is a look at all instances: twice as many steps each time, and then by halves between the last two.
    for (let more = stride; step < STEPS && this.costAt(step, ids, count, costs) > max; more *= 2) {
      tooFew = step;
      step = Math.min(step + more, STEPS);
    }
    if (tooFew < 0) {
      const least = fades ? step - 1 : 0;
      // Not before there is room to spare, so that levels do not go to and fro.
      const room = max * SPARE;
      while (step > 0 && step > least && this.costAt(step - stride, ids, count, costs) <= room)
        step -= stride;
    }
    while (tooFew >= 0 && step - tooFew > stride) {
      const middle = tooFew + Math.floor((step - tooFew) / (2 * stride)) * stride;
      if (this.costAt(middle, ids, count, costs) > max) tooFew = middle;
      else step = middle;
    }
    this.isEasing = fades && step < this.step;
    this.sooner(step);
  }

  /** Lets levels begin where the table says. */
  unfit(): void {
    if (this.step > 0) this.sooner(0);
  }

  private sooner(step: number): void {
    this.step = step;
    this.set(LEVEL_SCALE, this.scale / this.squaredUnit);
  }

  /** What squared distances are multiplied by, for levels to begin sooner. */
  private get scale(): number {
    return scaleOf(this.step);
  }

  private costAt(step: number, ids: Uint32Array, count: number, costs: Float64Array): number {
    const scale = scaleOf(step);
    let cost = 0;
    const { fades } = this;
    for (let i = 0; i < count; i++) {
      const measure = _measures[i] * scale;
      const level = this.levelAt(measure, this.levels[ids[i]]);
      cost += costs[fades && this.stepAt(measure, level) > 0 ? level + FADING : level];
    }
    return cost;
  }

  /** What a level's start is compared with: see `LODSelector.enter`. */
  private measureOf(id: number, spheres: Float32Array): number {
    const { measure: m } = this;
    const at = id * 4;
    let measure = m[LEVEL_SCALE];
    if (!this.flat) {
      const x = spheres[at];
      const y = spheres[at + 1];
      const z = spheres[at + 2];
      const dx = m[0] * x + m[1] * y + m[2] * z + m[3];
      const dy = m[4] * x + m[5] * y + m[6] * z + m[7];
      const dz = m[8] * x + m[9] * y + m[10] * z + m[11];
      measure *= dx * dx + dy * dy + dz * dz;
    }
    return this.bySize ? measure / (spheres[at + 3] * spheres[at + 3]) : measure;
  }

  /** As `LOD.update`, which looks no further at the first level that is not reached. */
  private levelAt(measure: number, last: number): number {
    const { enter, stay, count } = this.table;
    let level = 0;
    while (level + 1 < count && measure >= (last === level + 1 ? stay : enter)[level + 1]) level++;
    return level;
  }

  /** How far it has passed over to the next level: in proportion to its distance. */
  private stepAt(measure: number, level: number): number {
    const { fadeStart, fadeRate } = this.table;
    const next = level + 1;
    const step = Math.floor((Math.sqrt(measure) - fadeStart[next]) * fadeRate[next]);
    return Math.max(0, Math.min(step, FADE_STEPS - 1)) & this.stepMask;
  }

  private set(index: number, value: number): void {
    if (this.measure[index] === value) return;
    this.measure[index] = value;
    this.version++;
  }
}

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
