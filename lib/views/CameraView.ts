import { type ArrayCamera, type Camera, Frustum, Matrix4 } from 'three';
import type { InstanceLayers } from '../instances/InstanceLayers.js';
import type { InstanceVisibility } from '../instances/InstanceVisibility.js';
import type { CameraLevels } from './CameraLevels.js';
import type { DrawOrder } from './DrawOrder.js';
import type { InstanceGroups } from './InstanceGroups.js';
import { InstanceList } from './InstanceList.js';
import { LevelLists } from './LevelLists.js';
import { FADING, LEVEL_CODES, type LevelTable } from './LevelTable.js';
import { SortedView } from './SortedView.js';
import { listSeen, markSeen } from './seenInstances.js';
import type { View } from './View.js';
import { ViewLimits } from './ViewLimits.js';
import type { WantedPoses } from './WantedPoses.js';

const _frustum = /*@__PURE__*/ new Frustum();
const _clip = /*@__PURE__*/ new Matrix4();
/** Ids that are being listed. */
let _ids = /*@__PURE__*/ new Uint32Array(0);

/** What is read of a crowd to know what a camera sees. */
export interface SeenCrowd {
  readonly visibility: InstanceVisibility;
  readonly groups: InstanceGroups;
  /** Whether instances outside of the camera's frustum are left out. */
  readonly culls: boolean;
  /** On which layers single instances are. */
  readonly layers: InstanceLayers;
  /** Bits of the layers that all others are on. */
  readonly layersMask: number;
  /** Its levels of detail. */
  readonly levels: LevelTable;
  readonly order: DrawOrder;
  /** Triangles that all its meshes draw of an instance at a level. */
  trianglesAt(level: number): number;
}

/** Which instances a camera sees. It holds as long as neither the camera nor the crowd changes. */
export class CameraView implements WantedPoses {
  /** When it was last asked for. */
  turn = 0;
  private costsTurn = -1;
  /** Whether it is for a shadow map. */
  inShadow = false;
  readonly seen: Int32Array;
  levels: Uint8Array | null = null;
  readonly poseRates: Float32Array = new Float32Array(LEVEL_CODES);
  hasPoseRates = false;
  version = 0;

  /** From the crowd's space into what the camera shows; several for an array of cameras. */
  private clips: readonly Matrix4[] = [];
  private culls = false;
  private groupsVersion = -1;
  private visibilityVersion = -1;
  private readonly limits = new ViewLimits();
  /** The version of the instances' layers, and bits of the viewer's and the crowd's. */
  private layersVersion = -1;
  private viewerMask = 0;
  private crowdMask = 0;
  /** The instances in the order in which they are drawn: near ones first, and far ones first. */
  private readonly sorted = new Map<number | null, (SortedView | null)[]>();
  private readonly all: { count: number; readonly list: InstanceList; isWhole: boolean; isFading: boolean };
  private readonly lists: LevelLists;
  /** The version of the viewer's levels that the lists are for; -1 without levels. */
  private levelsVersion = -1;

  /** @param viewer The camera that decides on levels of detail, and on who is near. */
  constructor(
    public camera: Camera,
    public viewer: Camera,
    readonly capacity: number,
    /** Whether instances on none of the viewer's layers are left out. */
    readonly byLayers = true,
  ) {
    this.seen = new Int32Array(Math.ceil(capacity / 32));
    this.all = { count: 0, list: new InstanceList(capacity), isWhole: true, isFading: false };
    this.lists = new LevelLists(capacity);
  }

  /**
   * What a mesh of the crowd draws.
   *
   * @param level Its level of detail, or a list of several, see `LevelTable.listFor`; null for all levels at which something is
   * drawn.
   */
  of(level: number | null): View {
    return level === null || (level === 0 && this.levelsVersion < 0) ? this.all : this.lists.of(level);
  }

  /**
   * The same in the order of the distance from the camera, if that is asked for.
   *
   * @param farFirst Whether the farthest come first, as in transparent materials.
   * @param crowdMatrixWorld As for `update`.
   */
  inOrder(level: number | null, farFirst: boolean, crowdMatrixWorld: Matrix4, crowd: SeenCrowd): View {
    const view = this.of(level);
    const { order, groups } = crowd;
    if (!order.sortObjects) return view;
    let both = this.sorted.get(level);
    if (both === undefined) {
      both = [null, null];
      this.sorted.set(level, both);
    }
    const side = farFirst ? 1 : 0;
    both[side] ??= new SortedView(this.capacity, farFirst);
    both[side].follow(this.version, this.turn, view, this.camera, crowdMatrixWorld, groups.spheres, order);
    return both[side];
  }

  /** Goes over to another camera. */
  serve(camera: Camera, viewer: Camera): void {
    this.camera = camera;
    this.viewer = viewer;
    this.groupsVersion = -1;
    this.limits.clear();
  }

  /** Whether it was made for where camera and crowd are now. */
  isFor(crowdMatrixWorld: Matrix4): boolean {
    const { camera, clips } = this;
    const cameras = camerasOf(camera);
    if (clips.length !== Math.max(1, cameras.length)) return false;
    for (let i = 0; i < clips.length; i++) {
      if (!clipOf(cameras[i] ?? camera, crowdMatrixWorld).equals(clips[i])) return false;
    }
    return true;
  }

  /**
   * Brings it up to date. Costs nothing when it is.
   *
   * @param chosen Levels as the viewer sees them; null if there is but one.
   */
  update(crowdMatrixWorld: Matrix4, crowd: SeenCrowd, chosen: CameraLevels | null): void {
    const { visibility, groups, culls, order, layers } = crowd;
    this.takePoseRates(crowd.levels);
    this.levels = chosen?.levels ?? null;
    const levelsVersion = chosen?.version ?? -1;
    if (order.maxTriangles < Infinity) this.takeCosts(crowd, chosen);
    const isWithin = this.limits.update(order, this.viewer);
    const same =
      this.culls === culls &&
      this.levelsVersion === levelsVersion &&
      isWithin &&
      this.isForLayers(crowd) &&
      this.isFor(crowdMatrixWorld);
    if (same && this.groupsVersion === groups.version && this.visibilityVersion === visibility.version)
      return;
    this.version++;
    this.culls = culls;
    this.groupsVersion = groups.version;
    this.visibilityVersion = visibility.version;
    this.levelsVersion = levelsVersion;
    const { seen, all } = this;
    const sees = this.mark(crowdMatrixWorld, crowd);
    this.filterLayers(crowd);
    const within = this.limit(crowdMatrixWorld, crowd, chosen);
    const whole = within && sees && !(layers.isUsed && this.byLayers) && visibility.allDrawn;
    all.isWhole = whole;
    all.isFading = false;
    if (whole && chosen === null) {
      all.count = visibility.count;
      return;
    }
    all.count = listSeen(seen, visibility.bits, this.ids);
    if (chosen !== null) {
      const left = this.lists.split(
        _ids,
        all.count,
        whole,
        groups.spheres,
        chosen,
        crowd.levels,
        this.inShadow,
        seen,
      );
      all.isFading = this.lists.isFading;
      all.isWhole = whole && left === all.count && !all.isFading;
      all.count = left;
    }
    if (all.isFading) all.list.assignFading(_ids, all.count);
    else if (!all.isWhole) all.list.assign(_ids, all.count);
  }

  dispose(): void {
    this.all.list.dispose();
    this.lists.dispose();
    for (const both of this.sorted.values()) for (const one of both) one?.dispose();
  }

  /** Poses a second of instances by the level at which the viewer sees them, which may be another one than is drawn. */
  private takePoseRates(table: LevelTable): void {
    this.hasPoseRates = table.hasPoseRates;
    const codes = table.fadesFor(this.capacity) ? LEVEL_CODES : table.count;
    for (let code = 0; code < codes; code++) {
      const rate = table.poseRateOf(code, this.inShadow);
      if (this.poseRates[code] !== rate) this.version++;
      this.poseRates[code] = rate;
    }
  }

  /** Whether it was made for the layers that instances and the viewer are on. */
  private isForLayers({ layers, layersMask }: SeenCrowd): boolean {
    if (!this.byLayers) return true;
    if (this.layersVersion !== layers.version) return false;
    return !layers.isUsed || (this.viewerMask === this.viewer.layers.mask && this.crowdMask === layersMask);
  }

  /** Leaves out those that are on none of the viewer's layers. */
  private filterLayers({ layers, layersMask }: SeenCrowd): void {
    this.layersVersion = layers.version;
    this.viewerMask = this.viewer.layers.mask;
    this.crowdMask = layersMask;
    if (layers.isUsed && this.byLayers) layers.filter(this.seen, this.viewerMask, layersMask);
  }

  /** Says how many triangles an instance has at each level at which the viewer sees it. */
  private takeCosts(crowd: SeenCrowd, chosen: CameraLevels | null): void {
    // Each mesh of the crowd asks.
    if (this.costsTurn === this.turn) return;
    this.costsTurn = this.turn;
    const { levels } = crowd;
    const { inShadow, limits } = this;
    if (chosen?.isEasing === true && this.camera === this.viewer) limits.again();
    for (let level = levels.count - 1; level >= 0; level--) {
      const triangles = crowd.trianglesAt(inShadow ? levels.inShadow(level) : level);
      limits.setCost(level, triangles);
      if (!levels.fadesFor(this.capacity)) continue;
      // A picture shows both levels of what is passing over, a shadow map one of them.
      const next = level + 1 < levels.count ? limits.costs[levels.nextTo(level)] : 0;
      limits.setCost(level + FADING, inShadow ? Math.max(triangles, next) : triangles + next);
    }
  }

  /** Begins levels sooner, and drops far instances, where the view would cost too much. Returns whether all are left. */
  private limit(crowdMatrixWorld: Matrix4, crowd: SeenCrowd, chosen: CameraLevels | null): boolean {
    const { seen, limits } = this;
    const { bits } = crowd.visibility;
    const { spheres } = crowd.groups;
    if (limits.maxTriangles < Infinity && chosen !== null) {
      const count = listSeen(seen, bits, this.ids);
      // Shadow maps, and each eye of a headset, show the levels of the picture.
      if (this.camera === this.viewer) chosen.fit(_ids, count, spheres, limits.costs, limits.maxTriangles);
      for (let i = 0; i < count; i++) chosen.choose(_ids[i], spheres);
      this.levelsVersion = chosen.version;
    }
    return limits.apply(seen, bits, spheres, crowdMatrixWorld.elements, this.levels);
  }

  private get ids(): Uint32Array {
    if (_ids.length < this.capacity) _ids = new Uint32Array(this.capacity);
    return _ids;
  }

  /** Marks what is seen, and returns whether all is. */
  private mark(crowdMatrixWorld: Matrix4, { groups, visibility, culls }: SeenCrowd): boolean {
    const { camera, seen } = this;
    const cameras = camerasOf(camera);
    const count = Math.max(1, cameras.length);
    if (this.clips.length !== count) this.clips = Array.from({ length: count }, () => new Matrix4());
    seen.fill(culls ? 0 : 0xffffffff);
    let all = !culls;
    for (let i = 0; i < count; i++) {
      const one = cameras[i] ?? camera;
      const clip = this.clips[i].copy(clipOf(one, crowdMatrixWorld));
      if (all) continue;
      _frustum.setFromProjectionMatrix(clip, one.coordinateSystem, one.reversedDepth);
      all = markSeen(groups, visibility.count, _frustum, seen);
    }
    return all;
  }
}

const NONE: readonly Camera[] = [];

const camerasOf = (camera: Camera): readonly Camera[] =>
  (camera as ArrayCamera).isArrayCamera === true ? (camera as ArrayCamera).cameras : NONE;

const clipOf = ({ projectionMatrix, matrixWorldInverse }: Camera, crowdMatrixWorld: Matrix4): Matrix4 =>
  _clip.multiplyMatrices(projectionMatrix, matrixWorldInverse).multiply(crowdMatrixWorld);
