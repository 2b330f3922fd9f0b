import type { Matrix4 } from 'three';
import { ID_MASK } from '../../constants.js';
import { InstanceList } from '../../culling/InstanceList.js';
import {
  type DividedView,
  KIND_LISTS,
  type KindSplitter,
  type SplitLists,
  type ViewBudget,
} from '../../culling/LODSelector.js';
import type { View } from '../../culling/View.js';

/** What the mesh of one kind draws. */
interface KindView extends View {
  count: number;
  list: InstanceList;
  isWhole: boolean;
  isFading: boolean;
}

const NO_RATES = /*@__PURE__*/ new Float32Array(1);
/** Ids by list, while they are being sorted out; of all views, one after another. */
const _ids: Uint32Array[] = [];
/** By kind, the list that it is in. */
const _places = /*@__PURE__*/ new Int16Array(256);

/** The instances that a camera sees, in a list for each kind: of all, or of each level of detail at which one is drawn by itself. */
export class KindLists implements SplitLists {
  isFading = false;
  private readonly views: KindView[] = [];
  private readonly none: KindView = emptyView(1);

  /** @param levels Lists of levels of detail; null if there are none. */
  constructor(
    private readonly capacity: number,
    private readonly splitter: KindSplitter,
    private readonly byLevel: SplitLists | null,
  ) {}

  /** Both parts only go up. */
  get version(): number {
    return this.splitter.version + 1 + (this.byLevel?.version ?? -1);
  }

  get levels(): Uint8Array | null {
    return this.byLevel?.levels ?? null;
  }

  get poseRates(): Float32Array {
    return this.byLevel?.poseRates ?? NO_RATES;
  }

  get hasPoseRates(): boolean {
    return this.byLevel?.hasPoseRates ?? false;
  }

  update(view: DividedView, matrixWorld: Matrix4, isFitted: boolean): boolean {
    return this.byLevel?.update(view, matrixWorld, isFitted) ?? true;
  }

  setCosts(budget: ViewBudget, trianglesAt: (level: number) => number): void {
    if (this.byLevel === null) budget.setCost(0, trianglesAt(0));
    else this.byLevel.setCosts(budget, trianglesAt);
  }

  fit(ids: Uint32Array, count: number, spheres: Float32Array, budget: ViewBudget): void {
    this.byLevel?.fit(ids, count, spheres, budget);
  }

  split(ids: Uint32Array, count: number, whole: boolean, spheres: Float32Array, seen: Int32Array): number {
    const { splitter, views, capacity } = this;
    const { lists } = splitter;
    const levels = this.byLevel !== null && this.byLevel.version >= 0 ? this.byLevel : null;
    const left = levels?.split(ids, count, whole, spheres, seen) ?? count;
    this.isFading = levels?.isFading ?? false;
    // At a level of impostors, which need no poses, other kinds than the crowd's own are drawn all the same.
    for (let i = 0; levels !== null && i < left; i++) {
      const id = this.isFading ? ids[i] & ID_MASK : ids[i];
      if (splitter.kinds[id] > 0) seen[id >> 5] |= 1 << (id & 31);
    }
    for (let i = 0; i < lists.length; i++) {
      if ((_ids[i]?.length ?? 0) < capacity) _ids[i] = new Uint32Array(capacity);
      views[i] ??= emptyView(0);
      views[i].count = -1;
    }
    for (let i = 0; i < lists.length; i++) {
      if (views[i].count >= 0) continue;
      const { level } = lists[i];
      const source = level === null ? null : (levels?.of(level) ?? this.none);
      this.divide(level, source, ids, left, whole && levels === null);
    }
    return left;
  }

  of(list: number): View {
    return (list < KIND_LISTS ? this.byLevel?.of(list) : this.views[list - KIND_LISTS]) ?? this.none;
  }

  dispose(): void {
    for (const { list } of [...this.views, this.none]) list.dispose();
    this.views.length = 0;
    this.byLevel?.dispose();
  }

  /**
   * Makes those lists that are of a level.
   *
   * @param source What is seen at the level; null for all, which are the first `count` ids.
   */
  private divide(
    level: number | null,
    source: View | null,
    ids: Uint32Array,
    all: number,
    whole: boolean,
  ): void {
    const { splitter, views } = this;
    const { lists, kinds } = splitter;
    const isFading = source === null ? this.isFading : source.isFading === true;
    const count = source?.count ?? all;
    _places.fill(-1);
    for (let i = 0; i < lists.length; i++) {
      if (lists[i].level !== level) continue;
      _places[lists[i].kind] = i;
      views[i].count = 0;
    }
    for (let i = 0; i < count; i++) {
      const entry =
        source === null
          ? ids[i]
          : source.isWhole
            ? i
            : isFading
              ? source.list.entries[i]
              : source.list.get(i);
      const place = _places[kinds[isFading ? entry & ID_MASK : entry]];
      if (place >= 0) _ids[place][views[place].count++] = entry;
    }
    for (let i = 0; i < lists.length; i++) {
      if (lists[i].level !== level) continue;
      const view = views[i];
      view.isFading = isFading;
      view.isWhole = whole && view.count === count;
      if (view.isWhole || view.count === 0) continue;
      if (view.list.capacity < view.count) {
        view.list.dispose();
        view.list = new InstanceList(Math.min(this.capacity, 2 ** Math.ceil(Math.log2(view.count))));
      }
      if (isFading) view.list.assignFading(_ids[i], view.count);
      else view.list.assign(_ids[i], view.count);
    }
  }
}

const emptyView = (capacity: number): KindView => ({
  count: 0,
  list: new InstanceList(capacity),
  isWhole: false,
  isFading: false,
});
