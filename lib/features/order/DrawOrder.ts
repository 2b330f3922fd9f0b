import { type Camera, Matrix4, Vector3 } from 'three';
import { FADE_NEAR, ID_BITS, ID_MASK, LEVEL_CODES } from '../../constants.js';
import type { Crowd } from '../../core/Crowd.js';
import type { CrowdFeature, FeaturedCrowd } from '../../core/CrowdFeature.js';
import type { CrowdMesh } from '../../crowd/CrowdMesh.js';
import {
  addStage,
  type CameraView,
  type CrowdViews,
  removeStage,
  STAGE_LIMITS,
  type ViewStage,
} from '../../culling/CrowdViews.js';
import { entryOf, InstanceList, type View } from '../../culling/InstanceList.js';
import type { ListNumber, ViewBudget } from '../../culling/LODSelector.js';
import { listSeen } from '../../culling/seenInstances.js';
import { sortByCode } from '../../culling/sortIds.js';
import { trianglesAt } from '../../culling/ViewInfo.js';

/** An instance that is to be drawn, for a function that sorts them. */
export interface SortedInstance {
  /** Its id. */
  index: number;
  /** How far its middle lies in front of the camera, in world units along the way it looks. */
  z: number;
}

/**
 * Brings the instances that a camera sees into the order in which they are drawn.
 *
 * @param list Is sorted in place. The same objects serve again in the next frame.
 */
export type CustomSort = (list: SortedInstance[], camera: Camera) => void;

/** In what order instances are drawn, and how many of them at most. */
export interface DrawOrderOptions {
  /** See {@link DrawOrder.sortObjects}. @default false */
  sortObjects?: boolean;
  /** See {@link DrawOrder.customSort}. @default null */
  customSort?: CustomSort | null;
  /** See {@link DrawOrder.maxVisible}. @default Infinity */
  maxVisible?: number;
  /** See {@link DrawOrder.maxTriangles}. @default Infinity */
  maxTriangles?: number;
}

/**
 * In what order cameras draw the instances of a crowd that they see, and how many of them at most. Without it all are drawn, in
 * the order of their ids, as those of an `InstancedMesh`. What is attached follows. The CPU makes the lists then, also under
 * WebGPU.
 *
 * ```ts
 * const order = new DrawOrder(crowd, { sortObjects: true, maxVisible: 2_000 });
 * ```
 *
 * @category See
 */
export class DrawOrder implements CrowdFeature {
  /** @internal */
  readonly stage = STAGE_LIMITS;
  private readonly mesh: CrowdMesh;
  private sorts = false;
  private most = Infinity;
  private triangles = Infinity;
  private sort: CustomSort | null = null;
  /** Goes up when another function sorts. @internal */
  version = 0;

  /** @throws If the crowd has one already, or a limit is no number from 0. */
  constructor(mesh: CrowdMesh, options: DrawOrderOptions = {}) {
    this.mesh = mesh;
    Object.assign(this, options);
    mesh.use(this);
    addStage(mesh.crowd.views, this);
    mesh.prepareDraw();
  }

  /**
   * Whether instances are drawn by their distance from the camera, for each camera by itself, as `BatchedMesh` has it: near ones
   * first, so that what they hide costs no pixels, and with transparent materials far ones first. Shadow maps are not sorted.
   *
   * @default false
   */
  get sortObjects(): boolean {
    return this.sorts;
  }

  /** Changing it may compile the materials anew. */
  set sortObjects(value: boolean) {
    this.sorts = value;
    this.mesh.prepareDraw();
  }

  /**
   * Sorts the instances in place of their distance while `sortObjects` is true, as `BatchedMesh.setCustomSort`: it is called
   * with those that a camera sees, once a frame for each list, each with its `index` and with `z`, how far it lies in front of
   * the camera.
   *
   * @default null
   */
  get customSort(): CustomSort | null {
    return this.sort;
  }

  /** It holds from the next frame on. */
  set customSort(value: CustomSort | null) {
    if (value === this.sort) return;
    this.sort = value;
    this.version++;
  }

  /**
   * The most instances that are drawn for a camera: the nearest of those that it sees. Shadow maps have as many, the nearest to the
   * camera for which they are drawn. One that is drawn stays so until others are nearer by a tenth, so that none flickers.
   *
   * @default Infinity
   */
  get maxVisible(): number {
    return this.most;
  }

  /** @throws If it is no number from 0. Changing it may compile the materials anew. */
  set maxVisible(value: number) {
    if (!(value >= 0)) throw new Error(`maxVisible is ${value}; use a number of instances from 0.`);
    this.most = Math.floor(value);
    this.mesh.prepareDraw();
  }

  /**
   * The most triangles of the crowd, with what is attached, that are drawn for a camera. Where it sees more, all levels of detail
   * begin sooner, by as much as it takes, and later again once a tenth of the triangles is to spare. If the coarsest are still too
   * many, or there are no levels, the nearest instances are drawn, as with `maxVisible`. Shadow maps have as many each: they show
   * the levels that the camera shows, and the instances nearest to it. With `maxVisible` too, both hold.
   *
   * @default Infinity
   */
  get maxTriangles(): number {
    return this.triangles;
  }

  /** @throws If it is no number from 0. Changing it may compile the materials anew. */
  set maxTriangles(value: number) {
    if (!(value >= 0)) throw new Error(`maxTriangles is ${value}; use a number of triangles from 0.`);
    this.triangles = value;
    this.mesh.prepareDraw();
  }

  /** @internal */
  get isUsed(): boolean {
    return this.sorts || this.most < Infinity || this.fitsLevels;
  }

  /** @internal */
  get fitsLevels(): boolean {
    return this.triangles < Infinity;
  }

  /** @internal */
  forView(view: CameraView): ViewStage {
    return new OrderedView(this, view);
  }

  copy({ sortObjects, customSort, maxVisible, maxTriangles }: DrawOrder): void {
    Object.assign(this, { sortObjects, customSort, maxVisible, maxTriangles });
  }

  cloneFor(crowd: FeaturedCrowd): DrawOrder {
    return new DrawOrder((crowd as Crowd).mesh as CrowdMesh);
  }

  /** All are drawn, in the order of their ids, as in a crowd of which this is a copy. */
  meshesCopied(source: CrowdFeature | null): void {
    if (source !== null) return;
    this.copy({
      sortObjects: false,
      customSort: null,
      maxVisible: Infinity,
      maxTriangles: Infinity,
    } as DrawOrder);
  }

  /** Lets all be drawn, in the order of their ids. */
  dispose(): void {
    const { crowd } = this.mesh;
    if (!crowd.features.includes(this)) return;
    crowd.drop(this);
    removeStage(crowd.views, this);
    this.mesh.prepareDraw();
  }
}

const _toCamera = /*@__PURE__*/ new Matrix4();

/** Ids of the instances that are looked at, and room to sort them. */
let _ids = /*@__PURE__*/ new Uint32Array(0);
let _others = /*@__PURE__*/ new Uint32Array(0);
/** By id, depths or squared distances, and the bits of these, in whose place come codes that are in the same order. */
let _depths = /*@__PURE__*/ new Float32Array(0);
let _codes = /*@__PURE__*/ new Uint32Array(0);
/** By id, which of its pixels are drawn, see `FADE_STEPS`. */
let _fades = /*@__PURE__*/ new Uint8Array(0);

/** Makes room in these. */
function reserve(count: number): void {
  if (_ids.length >= count) return;
  _ids = new Uint32Array(count);
  _others = new Uint32Array(count);
  _depths = new Float32Array(count);
  _codes = new Uint32Array(_depths.buffer);
  _fades = new Uint8Array(count);
}

/** The instances of another view, in the order of their distance from the camera or in one that a function gives them. */
class SortedView implements View {
  count = 0;
  readonly list: InstanceList;
  private turn = -1;
  private version = -1;
  private orderVersion = -1;
  /** Objects that functions sort. */
  private readonly pool: SortedInstance[] = [];
  private readonly sorted: SortedInstance[] = [];

  /** @param farFirst Whether the farthest is drawn first, as what is transparent has to be. */
  constructor(
    capacity: number,
    private readonly farFirst: boolean,
  ) {
    this.list = new InstanceList(capacity);
  }

  /**
   * Sorts the instances of a view anew. Costs nothing as long as neither it nor camera or crowd have changed.
   *
   * @param seen What the camera sees. A function that sorts may go by what has nothing to do with it: it is called in each frame.
   * @param spheres x, y, z and radius by id, in the crowd's space.
   */
  follow(
    { version, turn, camera }: CameraView,
    view: View,
    crowdMatrixWorld: Matrix4,
    spheres: Float32Array,
    { customSort: custom, version: orderVersion }: DrawOrder,
  ): void {
    const isSorted = version === this.version && orderVersion === this.orderVersion;
    if (isSorted && (custom === null || turn === this.turn)) return;
    this.turn = turn;
    this.version = version;
    this.orderVersion = orderVersion;
    const { count, list, start = 0, isFading } = view;
    this.count = count;
    // Those that pass over are there twice.
    reserve(Math.max(count, spheres.length / 4));
    const ids = _ids;
    for (let i = 0; i < count; i++)
      ids[i] = isFading ? list.entries[start + i] & ID_MASK : list.get(start + i);
    if (isFading) for (let i = 0; i < count; i++) _fades[ids[i]] = list.entries[start + i] >>> ID_BITS;
    const m = _toCamera.multiplyMatrices(camera.matrixWorldInverse, crowdMatrixWorld).elements;
    for (let i = 0; i < count; i++) {
      const id = ids[i];
      const at = id * 4;
      _depths[id] = -(m[2] * spheres[at] + m[6] * spheres[at + 1] + m[10] * spheres[at + 2] + m[14]);
    }
    if (custom === null) sortByCode(ids, count, codesOf(ids, count, this.farFirst), _others);
    else this.sortCustom(ids, count, camera, custom);
    if (!isFading) {
      this.list.assign(ids, count);
      return;
    }
    for (let i = 0; i < count; i++) {
      const id = ids[i];
      ids[i] = entryOf(id, _fades[id]);
      // One that passes over comes twice, where both levels are in the list.
      _fades[id] ^= FADE_NEAR;
    }
    this.list.assignFading(ids, count);
  }

  dispose(): void {
    this.list.dispose();
  }

  private sortCustom(ids: Uint32Array, count: number, camera: Camera, custom: CustomSort): void {
    const { pool, sorted } = this;
    while (pool.length < count) pool.push({ index: 0, z: 0 });
    sorted.length = count;
    for (let i = 0; i < count; i++) {
      sorted[i] = pool[i];
      sorted[i].index = ids[i];
      sorted[i].z = _depths[ids[i]];
    }
    custom(sorted, camera);
    for (let i = 0; i < count; i++) ids[i] = sorted[i].index;
  }
}

/** Whole numbers that are in the order of the depths, with 30 bits each. */
function codesOf(ids: Uint32Array, count: number, farFirst: boolean): Uint32Array {
  for (let i = 0; i < count; i++) {
    const id = ids[i];
    const bits = _codes[id];
    // Floats as they lie in memory are in order but for their signs, and below zero in reverse.
    const rising = bits >> 31 ? ~bits : bits ^ (1 << 31);
    _codes[id] = (farFirst ? ~rising : rising) >>> 2;
  }
  return _codes;
}

/** By how much nearer than another one an instance counts that was among the nearest before, so that none comes and goes as the camera trembles. */
const ADVANTAGE = 0.9;

/** Bits of a code by which instances are counted at once; it has three times as many. */
const BITS = 10;
const DIGITS = 1 << BITS;

/** By digit, how many instances have it, and what they cost. */
const _counts = /*@__PURE__*/ new Uint32Array(DIGITS);
const _costs = /*@__PURE__*/ new Float64Array(DIGITS);

/** Writes codes in the order of squared distances in the world, which are less for instances that were kept. */
function measure(
  count: number,
  kept: Int32Array,
  spheres: Float32Array,
  m: readonly number[],
  { x: ex, y: ey, z: ez }: Vector3,
): void {
  for (let i = 0; i < count; i++) {
    const id = _ids[i];
    const x = spheres[id * 4];
    const y = spheres[id * 4 + 1];
    const z = spheres[id * 4 + 2];
    const dx = m[0] * x + m[4] * y + m[8] * z + m[12] - ex;
    const dy = m[1] * x + m[5] * y + m[9] * z + m[13] - ey;
    const dz = m[2] * x + m[6] * y + m[10] * z + m[14] - ez;
    const distance = dx * dx + dy * dy + dz * dz;
    const wasKept = (kept[id >> 5] & (1 << (id & 31))) !== 0;
    // What is nowhere is nearest: it is seen by every camera, too.
    _depths[id] = Number.isNaN(distance) ? 0 : wasKept ? distance * ADVANTAGE * ADVANTAGE : distance;
    // Floats from zero on are in the order of their bits. A code has 30.
    _codes[id] >>>= 2;
  }
}

const _eye = /*@__PURE__*/ new Vector3();

/** Orders and limits what one camera sees. */
class OrderedView implements ViewStage, ViewBudget {
  /** Triangles of an instance at each level at which the viewer may see it, and where it is passing over. */
  readonly costs: Float64Array = new Float64Array(LEVEL_CODES);
  private costsTurn = -1;
  private maxVisible = Infinity;
  maxTriangles = Infinity;
  /** Where the camera is that decides which instances are the nearest, and those that were. */
  private readonly eye = new Vector3();
  private kept: Int32Array | null = null;
  /** The level of each instance, by id; null if all are at level 0. */
  private levels: Uint8Array | null = null;
  private changed = false;
  /** By list, near ones first and far ones first. */
  private readonly lists = new Map<ListNumber, (SortedView | null)[]>();

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

  apply(
    crowdMatrixWorld: Matrix4,
    {
      crowd: {
        visibility: { bits },
      },
      groups: { spheres },
    }: CrowdViews,
  ): void {
    const { view, maxVisible, maxTriangles, eye } = this;
    const { seen, split } = view;
    if (maxVisible === Infinity && maxTriangles === Infinity) return;
    reserve(seen.length * 32);
    if (maxTriangles < Infinity && split !== null && view.splitVersion >= 0) {
      split.byLevel?.fit(_ids, listSeen(seen, bits, _ids), spheres, this);
      view.splitVersion = split.splitVersion;
    }
    this.levels = view.levels;
    this.kept ??= new Int32Array(seen.length);
    const { kept } = this;
    const count = listSeen(seen, bits, _ids);
    let cost = 0;
    for (let i = 0; i < count; i++) cost += this.costOf(_ids[i]);
    if (count > maxVisible || cost > maxTriangles) {
      measure(count, kept, spheres, crowdMatrixWorld.elements, eye);
      this.dropFarthest(count);
    }
    for (let word = 0; word < kept.length; word++) kept[word] = seen[word] & bits[word];
  }

  sorted(list: ListNumber, farFirst: boolean, crowdMatrixWorld: Matrix4, { groups }: CrowdViews): View {
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

  /** Triangles of an instance. */
  private costOf(id: number): number {
    const { levels } = this;
    return this.costs[levels === null ? 0 : levels[id]];
  }

  /**
   * Lets the nearest be seen, of those that are listed: as many as may be, and none from the first on that would cost too much. Looks for
   * the code of the first that may not be kept, digit by digit, each among those whose digits before are the same.
   */
  private dropFarthest(count: number): void {
    const { seen } = this.view;
    let room = this.maxVisible;
    let left = this.maxTriangles;
    let first = 0;
    for (let shift = 2 * BITS; shift >= 0; shift -= BITS) {
      _counts.fill(0);
      _costs.fill(0);
      for (let i = 0; i < count; i++) {
        const id = _ids[i];
        if (_codes[id] >>> (shift + BITS) !== first) continue;
        const digit = (_codes[id] >>> shift) & (DIGITS - 1);
        _counts[digit]++;
        _costs[digit] += this.costOf(id);
      }
      let digit = 0;
      for (; digit < DIGITS - 1 && _counts[digit] <= room && _costs[digit] <= left; digit++) {
        room -= _counts[digit];
        left -= _costs[digit];
      }
      first = first * DIGITS + digit;
    }
    for (let i = 0; i < count; i++) {
      const id = _ids[i];
      if (_codes[id] < first) continue;
      if (_codes[id] === first) {
        // Of several that are equally far, the first.
        room--;
        left -= this.costOf(id);
        if (room >= 0 && left >= 0) continue;
      }
      seen[id >> 5] &= ~(1 << (id & 31));
    }
  }

  /** Says how many triangles an instance has. */
  private takeCosts(crowd: CrowdViews): void {
    const { split, turn } = this.view;
    // Each mesh of the crowd asks.
    if (this.costsTurn === turn) return;
    this.costsTurn = turn;
    const byLevel = split?.byLevel;
    if (byLevel) byLevel.setCosts(this, (level) => trianglesAt(crowd, level));
    else this.setCost(0, trianglesAt(crowd, 0));
  }
}
