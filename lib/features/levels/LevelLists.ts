import type { Camera, Matrix4 } from 'three';
import { FADE_NEAR, FADE_STEPS, FADING, ID_MASK, LEVEL_CODES, MAX_LEVELS } from '../../constants.js';
import type { CameraView } from '../../culling/CrowdViews.js';
import { entryOf, InstanceList, type View } from '../../culling/InstanceList.js';
import type { LODSelector, SplitLists, ViewBudget } from '../../culling/LODSelector.js';
import type { CameraLevels } from './CameraLevels.js';

/** What the mesh of one level draws. */
interface LevelView extends View {
  count: number;
  list: InstanceList;
  isFading: boolean;
}

/** Ids by level, while they are being sorted out; of all views, one after another. */
const _ids: Uint32Array[] = [];
const _counts = /*@__PURE__*/ new Uint32Array(2 * MAX_LEVELS);
const _levels = /*@__PURE__*/ new Uint8Array(MAX_LEVELS);
/** For each level, which of the lists of several levels have it too. */
const _mixed = /*@__PURE__*/ new Uint8Array(MAX_LEVELS);

/** The instances that a camera sees, in a list for each level of detail, and those of several levels that are needed. */
export class LevelLists implements SplitLists {
  version = -1;
  isFading = false;
  levels: Uint8Array | null = null;
  readonly poseRates: Float32Array = new Float32Array(LEVEL_CODES);
  hasPoseRates = false;
  private inShadow = false;
  /** Whether the camera is the one that decides on levels. */
  private decides = false;
  private chosen: CameraLevels | null = null;
  private readonly views: LevelView[] = [];

  /** @param capacity The most instances there can be. */
  constructor(
    private readonly capacity: number,
    private readonly table: LODSelector & {
      chosenFor(lodCamera: Camera, matrixWorld: Matrix4, capacity: number): CameraLevels;
    },
  ) {}

  of(level: number): View {
    return this.views[level] ?? nothing();
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

  split(ids: Uint32Array, count: number, spheres: Float32Array, seen: Int32Array): number {
    const { table, inShadow } = this;
    const chosen = this.chosen as CameraLevels;
    const { views, capacity } = this;
    const { count: levels, mixed } = table;
    const lists = mixed.length === 0 ? levels : MAX_LEVELS + mixed.length;
    for (let list = 0; list < lists; list++) {
      if ((_ids[list]?.length ?? -1) < capacity) _ids[list] = new Uint32Array(capacity);
    }
    // Asked here, and not once an instance.
    let drawn = 0;
    let posed = 0;
    for (let level = 0; level < levels; level++) {
      if (table.hasContent(level)) drawn |= 1 << level;
      if (table.isPosed(level)) posed |= 1 << level;
      _levels[level] = inShadow ? table.inShadow(level) : level;
      _mixed[level] = 0;
      for (let i = 0; i < mixed.length; i++) _mixed[level] |= ((mixed[i] >> level) & 1) << i;
    }
    while (views.length < lists) this.add();
    _counts.fill(0);
    for (let list = 0; list < views.length; list++) views[list].isFading = false;
    this.isFading = false;
    let left = 0;
    for (let i = 0; i < count; i++) {
      const id = ids[i];
      let seenAt = chosen.choose(id, spheres);
      if (seenAt >= FADING) {
        seenAt -= FADING;
        const step = chosen.steps[id];
        if (!inShadow) {
          const entry = this.addFading(id, step, seenAt, table);
          if (entry >= 0) ids[left++] = entry;
          else seen[id >> 5] &= ~(1 << (id & 31));
          continue;
        }
        // In shadow maps levels take turns at once, half way: they are drawn into at other pixels than the picture.
        if (step >= FADE_STEPS / 2) seenAt = table.nextTo(seenAt);
      }
      const level = _levels[seenAt];
      _ids[level][_counts[level]++] = id;
      for (let rest = _mixed[level], list = MAX_LEVELS; rest !== 0; rest >>= 1, list++) {
        if ((rest & 1) !== 0) _ids[list][_counts[list]++] = id;
      }
      if (((drawn >> level) & 1) > 0) ids[left++] = id;
      if (((posed >> level) & 1) === 0) seen[id >> 5] &= ~(1 << (id & 31));
    }
    for (let list = 0; list < views.length; list++) {
      const view = views[list];
      view.count = _counts[list];
      if (view.count === 0 || !(list >= MAX_LEVELS || table.hasContent(list))) continue;
      if (view.isFading) this.listOf(view).assignFading(_ids[list], view.count);
      else this.listOf(view).assign(_ids[list], view.count);
    }
    return left;
  }

  dispose(): void {
    for (const { list } of this.views) if (list !== none?.list) list.dispose();
    this.views.length = 0;
  }

  /**
   * Adds an instance to the lists of two levels, each of which draws the pixels that the other leaves out. A list that has both
   * draws all of them.
   *
   * @returns The same for a list that has all levels; -1 if nothing is drawn at either.
   */
  private addFading(id: number, step: number, level: number, table: LODSelector): number {
    const near = entryOf(id, step + FADE_NEAR);
    const far = entryOf(id, step);
    const next = table.nextTo(level);
    this.addEntry(level, near);
    this.addEntry(next, far);
    const atNear = _mixed[level];
    const atFar = _mixed[next];
    for (let rest = atNear | atFar, bit = 1, list = MAX_LEVELS; rest !== 0; rest >>= 1, bit <<= 1, list++) {
      if ((rest & 1) === 0) continue;
      const isBoth = (atNear & atFar & bit) !== 0;
      this.addEntry(list, isBoth ? id : (atNear & bit) !== 0 ? near : far);
    }
    const isNear = table.hasContent(level);
    const isFar = table.hasContent(next);
    if (isNear && isFar) return id;
    this.isFading ||= isNear || isFar;
    return isNear ? near : isFar ? far : -1;
  }

  private addEntry(list: number, entry: number): void {
    _ids[list][_counts[list]++] = entry;
    if (entry > ID_MASK) this.views[list].isFading = true;
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

  private add(): LevelView {
    const view = { ...nothing() };
    this.views.push(view);
    return view;
  }

  /** Levels at which nobody was seen yet have none. */
  private listOf(view: LevelView): InstanceList {
    if (view.list === none?.list) view.list = new InstanceList(this.capacity);
    return view.list;
  }
}

let none: LevelView | null = null;

/** A view of no instances. Shaders must have some list bound, also where they are not run. */
function nothing(): LevelView {
  none ??= { count: 0, list: new InstanceList(1), isFading: false };
  return none;
}
