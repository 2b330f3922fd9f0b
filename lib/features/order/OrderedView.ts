import { type Matrix4, Vector3 } from 'three';
import { LEVEL_CODES } from '../../constants.js';
import type { CameraView } from '../../culling/CameraView.js';
import type { CrowdViews } from '../../culling/CrowdViews.js';
import type { ViewBudget } from '../../culling/LODSelector.js';
import { listSeen } from '../../culling/seenInstances.js';
import type { View } from '../../culling/View.js';
import { trianglesAt } from '../../culling/ViewInfo.js';
import type { ViewStage } from '../../culling/ViewStage.js';
import type { DrawOrder } from './DrawOrder.js';
import { keepNearest } from './keepNearest.js';
import { SortedView } from './SortedView.js';

const _eye = /*@__PURE__*/ new Vector3();
/** Ids that are being listed. */
let _ids = /*@__PURE__*/ new Uint32Array(0);

/** Orders and limits what one camera sees. */
export class OrderedView implements ViewStage, ViewBudget {
  /** Triangles of an instance at each level at which the viewer may see it, and where it is passing over. */
  readonly costs: Float64Array = new Float64Array(LEVEL_CODES);
  private costsTurn = -1;
  private maxVisible = Infinity;
  maxTriangles = Infinity;
  /** Where the camera is that decides which instances are the nearest, and those that were. */
  private readonly eye = new Vector3();
  private kept: Int32Array | null = null;
  private changed = false;
  /** By list, near ones first and far ones first. */
  private readonly lists = new Map<number | null, (SortedView | null)[]>();

  constructor(
    private readonly order: DrawOrder,
    private readonly view: CameraView,
  ) {}

  update(crowd: CrowdViews): boolean {
    const { maxVisible, maxTriangles } = this.order;
    if (maxTriangles < Infinity) this.takeCosts(crowd);
    const { eye } = this;
    let same = maxVisible === this.maxVisible && maxTriangles === this.maxTriangles && !this.changed;
    this.maxVisible = maxVisible;
    this.maxTriangles = maxTriangles;
    this.changed = false;
    if (maxVisible === Infinity && maxTriangles === Infinity) return same;
    _eye.setFromMatrixPosition(this.view.lodCamera.matrixWorld);
    same &&= _eye.equals(eye);
    eye.copy(_eye);
    return same;
  }

  apply(crowdMatrixWorld: Matrix4, { visibility: { bits }, groups: { spheres } }: CrowdViews): boolean {
    const { view, maxVisible, maxTriangles: max, costs } = this;
    const { seen, split } = view;
    if (maxVisible === Infinity && max === Infinity) return true;
    if (max < Infinity && split !== null && view.splitVersion >= 0) {
      if (_ids.length < view.capacity) _ids = new Uint32Array(view.capacity);
      split.fit(_ids, listSeen(seen, bits, _ids), spheres, this);
      view.splitVersion = split.version;
    }
    this.kept ??= new Int32Array(seen.length);
    const budget = { max, costs, levels: view.levels };
    return keepNearest(
      seen,
      bits,
      this.kept,
      spheres,
      crowdMatrixWorld.elements,
      this.eye,
      maxVisible,
      budget,
    );
  }

  sorted(list: number | null, farFirst: boolean, crowdMatrixWorld: Matrix4, { groups }: CrowdViews): View {
    const { order, view, lists } = this;
    const unsorted = view.of(list);
    if (!order.sortObjects) return unsorted;
    let both = lists.get(list);
    if (both === undefined) {
      both = [null, null];
      lists.set(list, both);
    }
    const side = farFirst ? 1 : 0;
    both[side] ??= new SortedView(view.capacity, farFirst);
    both[side].follow(view, unsorted, crowdMatrixWorld, groups.spheres, order);
    return both[side];
  }

  setCost(level: number, triangles: number): void {
    if (this.costs[level] === triangles) return;
    this.costs[level] = triangles;
    this.changed = true;
  }

  again(): void {
    this.changed = true;
  }

  clear(): void {
    this.kept?.fill(0);
    this.changed = true;
  }

  dispose(): void {
    for (const both of this.lists.values()) for (const one of both) one?.dispose();
    this.lists.clear();
  }

  /** Says how many triangles an instance has. */
  private takeCosts(crowd: CrowdViews): void {
    const { split, turn } = this.view;
    // Each mesh of the crowd asks.
    if (this.costsTurn === turn) return;
    this.costsTurn = turn;
    if (split === null) this.setCost(0, trianglesAt(crowd, 0));
    else split.setCosts(this, (level) => trianglesAt(crowd, level));
  }
}
