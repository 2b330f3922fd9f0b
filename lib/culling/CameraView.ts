import { type ArrayCamera, type Camera, Frustum, Matrix4 } from 'three';
import type { CrowdViews } from './CrowdViews.js';
import { InstanceList } from './InstanceList.js';
import type { DividedView, SplitLists } from './LODSelector.js';
import { listSeen, markSeen } from './seenInstances.js';
import type { PoseRequest, View } from './View.js';
import type { CrowdStage, ViewStage } from './ViewStage.js';

const _frustum = /*@__PURE__*/ new Frustum();
const _clip = /*@__PURE__*/ new Matrix4();
const NO_RATES = /*@__PURE__*/ new Float32Array(1);
/** Ids that are being listed. */
let _ids = /*@__PURE__*/ new Uint32Array(0);

/** Which instances a camera sees. It holds as long as neither the camera nor the crowd changes. */
export class CameraView implements PoseRequest, DividedView {
  /** When it was last asked for. */
  turn = 0;
  /** Whether it is for a shadow map. */
  inShadow = false;
  readonly seen: Int32Array;
  version = 0;

  /** From the crowd's space into what the camera shows; several for an array of cameras. */
  private clips: readonly Matrix4[] = [];
  private culls = false;
  private groupsVersion = -1;
  private visibilityVersion = -1;
  private readonly stages: readonly ViewStage[];
  private readonly all: { count: number; readonly list: InstanceList; isWhole: boolean; isFading: boolean };
  /** The version of `split` that the lists are for; -1 with one list. */
  splitVersion = -1;

  /**
   * @param lodCamera The camera that decides on levels of detail, and on who is near.
   * @param split Divides what is seen into several lists; null if there is one.
   */
  constructor(
    public camera: Camera,
    public lodCamera: Camera,
    readonly capacity: number,
    /** Whether instances on none of the viewer's layers are left out. */
    readonly byLayers = true,
    readonly split: SplitLists | null = null,
    stages: readonly CrowdStage[] = [],
  ) {
    this.stages = stages.map((stage) => stage.forView(this));
    this.seen = new Int32Array(Math.ceil(capacity / 32));
    this.all = { count: 0, list: new InstanceList(capacity), isWhole: true, isFading: false };
  }

  get levels(): Uint8Array | null {
    return this.split?.levels ?? null;
  }

  get poseRates(): Float32Array {
    return this.split?.poseRates ?? NO_RATES;
  }

  get hasPoseRates(): boolean {
    return this.split?.hasPoseRates ?? false;
  }

  /**
   * What a mesh of the crowd draws.
   *
   * @param list See `LODSelector.listOf`.
   */
  of(list: number | null): View {
    const { split } = this;
    if (list === null || split === null || (list === 0 && this.splitVersion < 0)) return this.all;
    return split.of(list);
  }

  /**
   * The same in the order of the distance from the camera, if that is asked for.
   *
   * @param farFirst Whether the farthest come first, as in transparent materials.
   * @param crowdMatrixWorld As for `update`.
   */
  inOrder(level: number | null, farFirst: boolean, crowdMatrixWorld: Matrix4, crowd: CrowdViews): View {
    for (const stage of this.stages) {
      if (stage.sorted !== undefined) return stage.sorted(level, farFirst, crowdMatrixWorld, crowd);
    }
    return this.of(level);
  }

  /** Goes over to another camera. */
  serve(camera: Camera, lodCamera: Camera): void {
    this.camera = camera;
    this.lodCamera = lodCamera;
    this.groupsVersion = -1;
    for (const stage of this.stages) stage.clear?.();
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
   * @param again Whether it is known that it was made for where camera and crowd are.
   */
  update(crowdMatrixWorld: Matrix4, crowd: CrowdViews, again = false): void {
    const { visibility, groups } = crowd;
    const { split, stages } = this;
    if (split?.update(this, crowdMatrixWorld, crowd.fitsLevels) === false) this.version++;
    const splitVersion = split?.version ?? -1;
    let isStaged = true;
    for (let i = 0; i < stages.length; i++) if (!stages[i].update(crowd)) isStaged = false;
    const same = again || (this.culls === crowd.culls && this.isFor(crowdMatrixWorld));
    if (
      same &&
      this.splitVersion === splitVersion &&
      isStaged &&
      this.groupsVersion === groups.version &&
      this.visibilityVersion === visibility.version
    )
      return;
    this.version++;
    this.culls = crowd.culls;
    this.groupsVersion = groups.version;
    this.visibilityVersion = visibility.version;
    this.splitVersion = splitVersion;
    const { seen, all } = this;
    let whole = this.mark(crowdMatrixWorld, crowd) && visibility.allDrawn;
    for (let i = 0; i < stages.length; i++) if (!stages[i].apply(crowdMatrixWorld, crowd)) whole = false;
    all.isWhole = whole;
    all.isFading = false;
    const divided = splitVersion >= 0 ? split : null;
    if (whole && divided === null) {
      all.count = visibility.count;
      return;
    }
    all.count = listSeen(seen, visibility.bits, this.ids);
    if (divided !== null) {
      const left = divided.split(_ids, all.count, whole, groups.spheres, seen);
      all.isFading = divided.isFading;
      all.isWhole = whole && left === all.count && !all.isFading;
      all.count = left;
    }
    if (all.isFading) all.list.assignFading(_ids, all.count);
    else if (!all.isWhole) all.list.assign(_ids, all.count);
  }

  dispose(): void {
    this.all.list.dispose();
    this.split?.dispose();
    for (const stage of this.stages) stage.dispose?.();
  }

  private get ids(): Uint32Array {
    if (_ids.length < this.capacity) _ids = new Uint32Array(this.capacity);
    return _ids;
  }

  /** Marks what is seen, and returns whether all is. */
  private mark(crowdMatrixWorld: Matrix4, { groups, visibility, culls }: CrowdViews): boolean {
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

/** Those that a camera is made of, if of any. */
export const camerasOf = (camera: Camera): readonly Camera[] =>
  (camera as ArrayCamera).isArrayCamera === true ? (camera as ArrayCamera).cameras : NONE;

const clipOf = ({ projectionMatrix, matrixWorldInverse }: Camera, crowdMatrixWorld: Matrix4): Matrix4 =>
  _clip.multiplyMatrices(projectionMatrix, matrixWorldInverse).multiply(crowdMatrixWorld);
