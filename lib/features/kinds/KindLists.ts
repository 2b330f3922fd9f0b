import type { Matrix4 } from 'three';
import { ID_MASK } from '../../constants.js';
import type { CameraView } from '../../culling/CrowdViews.js';
import { InstanceList, type View } from '../../culling/InstanceList.js';
import {
  KIND_LISTS,
  type KindSplitter,
  type SplitLists,
  type ViewBudget,
} from '../../culling/LODSelector.js';
import { resized } from '../../utils/attributes.js';

/** Entries of the list, while they are being sorted out; of all views, one after another. */
let _entries = /*@__PURE__*/ new Uint32Array(0);
/** By kind how many there are, and where the last that was put among them ends. */
const _counts = /*@__PURE__*/ new Uint32Array(256);
const _ends = /*@__PURE__*/ new Uint32Array(256);

/** The instances that a camera sees, kind by kind: of all, and of each level of detail at which one is drawn by itself. */
export class KindLists implements SplitLists {
  isFading = false;
  private readonly views: (View & {
    list: InstanceList;
    count: number;
    start: number;
    isFading: boolean;
  })[] = [];
  /** One for all kinds, which renderers are sent at once. */
  private list = new InstanceList(1);

  /** @param levels Lists of levels of detail; null if there are none. */
  constructor(
    private readonly splitter: KindSplitter,
    private readonly byLevel: SplitLists | null,
  ) {}

  /** Both parts only go up. */
  get version(): number {
    return this.splitter.version + 1 + (this.byLevel?.version ?? -1);
  }

  get levels(): Uint8Array | null | undefined {
    return this.byLevel?.levels;
  }

  get poseRates(): Float32Array | undefined {
    return this.byLevel?.poseRates;
  }

  get hasPoseRates(): boolean | undefined {
    return this.byLevel?.hasPoseRates;
  }

  update(view: CameraView, matrixWorld: Matrix4, isFitted: boolean): boolean | undefined {
    return this.byLevel?.update(view, matrixWorld, isFitted);
  }

  setCosts(budget: ViewBudget, trianglesAt: (level: number) => number): void {
    if (this.byLevel === null) budget.setCost(0, trianglesAt(0));
    else this.byLevel.setCosts(budget, trianglesAt);
  }

  fit(ids: Uint32Array, count: number, spheres: Float32Array, budget: ViewBudget): void {
    this.byLevel?.fit(ids, count, spheres, budget);
  }

  split(ids: Uint32Array, count: number, spheres: Float32Array, seen: Int32Array): number {
    const { splitter, views } = this;
    const { lists, kinds } = splitter;
    const levels = (this.byLevel?.version ?? -1) < 0 ? null : this.byLevel;
    const left = levels?.split(ids, count, spheres, seen) ?? count;
    this.isFading = levels?.isFading ?? false;
    // At a level of impostors, which need no poses, other kinds than the crowd's own are drawn all the same.
    const mask = this.isFading ? ID_MASK : -1;
    for (let i = 0; levels !== null && i < left; i++) {
      const id = ids[i] & mask;
      if (kinds[id] > 0) seen[id >> 5] |= 1 << (id & 31);
    }
    for (let i = 0; i < lists.length; i++) {
      views[i] ??= this.createView();
      views[i].count = -1;
    }
    let end = 0;
    let fades = false;
    for (let i = 0; i < lists.length; i++) {
      if (views[i].count >= 0) continue;
      const { level } = lists[i];
      const source = level === null ? null : (levels?.of(level) ?? this.createView());
      end = this.divide(level, source, ids, left, end);
      fades ||= views[i].isFading;
    }
    if (this.list.capacity < end) {
      this.list.dispose();
      this.list = new InstanceList(2 * end);
    }
    for (let i = 0; i < lists.length; i++) views[i].list = this.list;
    if (fades) this.list.assignFading(_entries, end);
    else this.list.assign(_entries, end);
    return left;
  }

  of(list: number): View {
    return (list < KIND_LISTS ? this.byLevel?.of(list) : this.views[list - KIND_LISTS]) ?? this.createView();
  }

  dispose(): void {
    this.list.dispose();
    this.byLevel?.dispose();
  }

  /**
   * Sorts out the kinds of a level.
   *
   * @param source What is seen at the level; null for all, which are the first `count` ids.
   * @param end How many entries there are yet.
   * @returns How many there are then.
   */
  private divide(
    level: number | null,
    source: View | null,
    ids: Uint32Array,
    all: number,
    end: number,
  ): number {
    const { splitter, views } = this;
    const { lists, kinds } = splitter;
    const isFading = (source ?? this).isFading === true;
    const mask = isFading ? ID_MASK : -1;
    const count = source?.count ?? all;
    const list = source?.list;
    const from = (isFading ? list?.entries : list?.data) ?? ids;
    _counts.fill(0);
    for (let i = 0; i < count; i++) _counts[kinds[from[i] & mask]]++;
    for (let kind = 0; kind < _counts.length; kind++) {
      _ends[kind] = end;
      end += _counts[kind];
    }
    for (let i = 0; i < lists.length; i++) {
      if (lists[i].level !== level) continue;
      const { kind } = lists[i];
      const view = views[i];
      view.start = _ends[kind];
      view.count = _counts[kind];
      view.isFading = isFading;
    }
    if (_entries.length < end) _entries = resized(_entries, 2 * end);
    for (let i = 0; i < count; i++) {
      const entry = from[i];
      _entries[_ends[kinds[entry & mask]]++] = entry;
    }
    return end;
  }

  private createView() {
    return { list: this.list, count: 0, start: 0, isFading: false };
  }
}
