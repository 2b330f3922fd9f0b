import { type ArrayCamera, type Camera, Frustum, type InstancedBufferAttribute, Matrix4 } from 'three';
import { ALL_LEVELS } from '../constants.js';
import { InstanceGroups } from './InstanceGroups.js';
import { InstanceList, type PoseRequest, SMALL, type View } from './InstanceList.js';
import type { KindSplitter, ListNumber, LODSelector } from './LODSelector.js';
import type { SplitLists } from './SplitLists.js';
import { listSeen, markSeen } from './seenInstances.js';

/** Instances on layers of no camera are left out first, and then those that are too many. */
export const STAGE_LAYERS = 0;
export const STAGE_LIMITS = 1;

/** A feature that has a say in what cameras draw of what they see of a crowd. The CPU makes the lists then. */
export interface CrowdStage {
  /** Those of lower numbers come first. */
  readonly stage: number;
  /** Whether it does anything. */
  readonly isUsed: boolean;
  /** Whether levels of detail are to begin sooner where there are too many triangles. */
  readonly fitsLevels?: boolean;
  /** The same for what one camera sees. */
  forView(view: CameraView): ViewStage;
}

/** What a feature does to what one camera sees. */
export interface ViewStage {
  /** @returns Whether `apply` would leave the same as the last time, provided that the camera sees the same. */
  update(crowd: CrowdViews): boolean;
  /** Clears bits of `view.seen`. */
  apply(crowdMatrixWorld: Matrix4, crowd: CrowdViews): void;
  /**
   * A list of the view in the order in which it is drawn.
   *
   * @param farFirst Whether the farthest come first, as in transparent materials.
   */
  sorted?(list: ListNumber, farFirst: boolean, crowdMatrixWorld: Matrix4, crowd: CrowdViews): View;
  /** Called when the view goes over to another camera. */
  clear?(): void;
  dispose?(): void;
}

/** Gives a feature a say in what cameras draw of what they see. */
export function addStage(views: CrowdViews, stage: CrowdStage): void {
  views.stages.push(stage);
  views.stages.sort((a, b) => a.stage - b.stage);
  views.dropViews();
}

export function removeStage(views: CrowdViews, stage: CrowdStage): void {
  views.stages.splice(views.stages.indexOf(stage), 1);
  views.dropViews();
}

/** What sorts what a camera sees into lists: levels of detail together with kinds, and kinds alone. */
export type LevelLists = LODSelector & { listsFor(capacity: number, kinds: KindSplitter | null): SplitLists };
export type KindLists = KindSplitter & { listsFor(capacity: number): SplitLists };

/** Frames after which a view that nobody asks for is let go. */
const IDLE = 300;
/** Frames in which a camera that saw the crowd is likely to do so again: several may take turns. */
const RECENT = 3;
/** Frames after which it may serve another camera: whoever makes a camera in each frame shall not have lists for all of them. */
const STALE = 30;

/** Which instances of a crowd each camera sees. */
export class CrowdViews {
  readonly groups: InstanceGroups;
  /** What renderers keep for views of the crowd, and is freed with it. It may `note` who has moved before a renderer forgets that. */
  readonly owned: Set<{ dispose(): void; note?(matrices: InstancedBufferAttribute): void }> = new Set();
  /** Instances that were posed last, for all cameras of a frame. */
  posed = 0;
  /** The frame for which they were last posed before anything was drawn. */
  posedAhead = -1;
  /** What hides instances; null if nothing does. Copies of the crowd are hidden by the same. */
  occlusion: {
    /** What a renderer finds out about it. */
    of(renderer: object): object;
  } | null = null;
  /** Divides what cameras see by kinds; null while all instances are of one. Call `dropViews` after a change. */
  kinds: KindLists | null = null;
  private culled: boolean | null = null;
  /** One or more for each camera: that of a point light looks six ways in a frame. */
  views: CameraView[] = [];
  private splits: LevelLists | null = null;
  /** What features have a say in what cameras draw, see `addStage`. */
  readonly stages: CrowdStage[] = [];
  /** Whose instances are expected to be drawn in a frame. */
  private readonly expectedViews: CameraView[] = [];
  private frame = -1;
  private turn = 0;
  /** What was asked for last; null before meshes are drawn. How far poses reach, who is culled, and where levels begin holds in between. */
  last: CameraView | null = null;
  private isFollowed = false;
  private all: InstanceList | null = null;

  constructor(readonly crowd: InstanceGroups['crowd']) {
    this.groups = new InstanceGroups(crowd);
  }

  /** Whether instances that a camera does not see are left out. */
  get perObjectFrustumCulled(): boolean {
    return this.culled ?? this.crowd.culledByDefault;
  }

  set perObjectFrustumCulled(value: boolean) {
    this.culled = value;
    // Nobody has looked at the matrices in between.
    this.groups.invalidate();
  }

  /** Takes over from another crowd whether that was said, and what hides its instances. */
  copy(source: CrowdViews): void {
    if (this.culled !== source.culled) this.groups.invalidate();
    this.culled = source.culled;
    this.occlusion = source.occlusion;
  }

  /** Whether instances outside of a camera's frustum are left out now. */
  get culls(): boolean {
    return this.perObjectFrustumCulled && this.crowd.frustumCulled;
  }

  /** Whether what cameras see says who is drawn; else all are, in order. */
  get isUsed(): boolean {
    return (
      !this.crowd.visibility.allDrawn ||
      this.kinds !== null ||
      this.culls ||
      this.crowd.written !== null ||
      (this.splits !== null && (this.splits.isUsed || this.splits.hasPoseRates)) ||
      this.isStaged
    );
  }

  /** Sorts what cameras see into several lists; null for one. */
  get splitter(): LevelLists | null {
    return this.splits;
  }

  set splitter(value: LevelLists | null) {
    this.splits = value;
    this.dropViews();
  }

  /** Whether a feature has a say in what cameras draw: the CPU has to make the lists. */
  get isStaged(): boolean {
    for (let i = 0; i < this.stages.length; i++) if (this.stages[i].isUsed) return true;
    return false;
  }

  /** Whether a feature says in what order instances are drawn. */
  get isOrdered(): boolean {
    return this.stages.some(({ stage }) => stage === STAGE_LIMITS);
  }

  get fitsLevels(): boolean {
    return this.stages.some(({ fitsLevels }) => fitsLevels === true);
  }

  /** The list of all instances, in order. */
  get everyone(): InstanceList {
    const { capacity } = this.crowd;
    if (this.all?.capacity !== capacity) {
      this.all?.dispose();
      this.all = new InstanceList(capacity);
      this.all.assignAll();
    }
    return this.all;
  }

  /** Whether a camera has asked lately, so that there is something to be kept up to date. */
  get isWatched(): boolean {
    return this.views.length > 0 || this.isFollowed;
  }

  /** Brings `groups` up to date for who finds out otherwise what cameras see. It calls this before each upload of matrices. */
  follow(): void {
    if (!this.isWatched) this.groups.invalidate();
    this.isFollowed = true;
    this.groups.update();
  }

  /** Brings `groups` up to date for who is no camera. */
  updateGroups(): void {
    // Where no camera asks what it sees, nobody follows the instances.
    if (this.isWatched) this.groups.update();
    else this.groups.updateUnwatched();
  }

  /**
   * What a camera sees.
   *
   * @param camera Its `matrixWorldInverse` and `projectionMatrix` are up to date.
   * @param crowdMatrixWorld Where the crowd is.
   * @param frame The renderer's: a view that was not asked for in a frame may be used for something else.
   * @param lodCamera The camera that the frame is drawn for, if `camera` is a light's: it decides on levels of detail and on who is
   * near.
   * @param inShadow Whether it is for a shadow map, which may be drawn coarser.
   * @param byLayers Whether instances on none of the camera's layers are left out; not for a mesh that is on layers of its own.
   */
  of(
    camera: Camera,
    crowdMatrixWorld: Matrix4,
    frame: number,
    lodCamera: Camera = camera,
    inShadow = lodCamera !== camera,
    byLayers = true,
  ): CameraView {
    // Shadow maps are often drawn first, and what the viewer sees decides on its levels.
    const isFitted = this.splits?.isUsed === true && this.fitsLevels;
    if (isFitted && lodCamera !== camera)
      this.of(lodCamera, crowdMatrixWorld, frame, lodCamera, false, byLayers);
    this.begin(frame);
    // What was written before a crowd is drawn for the first time is drawn without anybody having been told of it.
    if (!this.isWatched) this.groups.invalidate();
    const view = this.find(camera, lodCamera, crowdMatrixWorld, byLayers);
    // Each mesh asks what was asked for the first.
    const again = view === this.last;
    this.last = view;
    view.turn = this.turn;
    view.inShadow = inShadow;
    this.groups.update(again);
    view.update(crowdMatrixWorld, this, again);
    return view;
  }

  /**
   * What cameras will see in a frame that begins, as far as that can be known: for each that saw the crowd lately what it sees
   * now, or saw then if it looks several ways.
   */
  expected(crowdMatrixWorld: Matrix4, frame: number): readonly CameraView[] {
    this.begin(frame);
    const { expectedViews, views, turn } = this;
    let count = 0;
    if (views.length > 0) this.groups.update();
    // Without iterators, here and below: this is done for each mesh in each frame, and V8 is slow to compile them away.
    for (let i = 0; i < views.length; i++) {
      const view = views[i];
      if (turn - view.turn > RECENT || view.capacity !== this.crowd.capacity) continue;
      if (this.isOnly(view)) view.update(crowdMatrixWorld, this);
      expectedViews[count++] = view;
    }
    // Set to what it was, a length takes away what the array has allocated.
    if (expectedViews.length !== count) expectedViews.length = count;
    return expectedViews;
  }

  dispose(): void {
    for (const owned of this.owned) owned.dispose();
    this.owned.clear();
    this.occlusion = null;
    this.dropViews();
  }

  /** Lets views be made anew. */
  dropViews(): void {
    for (const view of this.views) view.dispose();
    this.views = [];
    this.all?.dispose();
    this.all = null;
  }

  private begin(frame: number): void {
    if (frame === this.frame) return;
    this.frame = frame;
    this.last = null;
    this.turn++;
    this.dropUnused();
  }

  /** Whether a camera has no other view. */
  private isOnly(view: CameraView): boolean {
    const { views } = this;
    for (let i = 0; i < views.length; i++) {
      const other = views[i];
      if (other !== view && other.camera === view.camera && other.byLayers === view.byLayers) return false;
    }
    return true;
  }

  /** The camera's view that still holds, or one that is not needed any more in this frame, or a new one. */
  private find(camera: Camera, lodCamera: Camera, crowdMatrixWorld: Matrix4, byLayers: boolean): CameraView {
    const { views } = this;
    const { capacity } = this.crowd;
    let unused: CameraView | null = null;
    let stale: CameraView | null = null;
    for (let i = 0; i < views.length; i++) {
      const view = views[i];
      if (view.capacity !== capacity || view.byLayers !== byLayers) continue;
      if (view.camera !== camera || view.lodCamera !== lodCamera) {
        if (this.turn - view.turn > STALE) stale ??= view;
        continue;
      }
      if (view.isFor(crowdMatrixWorld)) return view;
      if (view.turn !== this.turn) unused ??= view;
    }
    if (unused !== null) return unused;
    if (stale !== null) {
      stale.serve(camera, lodCamera);
      return stale;
    }
    const lists = this.splits?.listsFor(capacity, this.kinds) ?? this.kinds?.listsFor(capacity) ?? null;
    const made = new CameraView(camera, lodCamera, capacity, byLayers, lists, this.stages);
    this.views.push(made);
    return made;
  }

  /** Lets go of views that are for another number of instances, or have been idle for long. */
  private dropUnused(): void {
    const { views, turn } = this;
    const { capacity } = this.crowd;
    let kept = 0;
    for (let i = 0; i < views.length; i++) {
      const view = views[i];
      if (view.capacity === capacity && turn - view.turn < IDLE) views[kept++] = view;
      else view.dispose();
    }
    views.length = kept;
  }
}

const _frustum = /*@__PURE__*/ new Frustum();

const _clip = /*@__PURE__*/ new Matrix4();

const NO_RATES = /*@__PURE__*/ new Float32Array(1);

/** Ids that are being listed. */
let _ids = /*@__PURE__*/ new Uint32Array(0);

/** Which instances a camera sees. It holds as long as neither the camera nor the crowd changes. */
export class CameraView implements PoseRequest {
  /** When it was last asked for. */
  turn = 0;
  /** Whether it is for a shadow map. */
  inShadow = false;
  readonly seen: Int32Array;
  posedIn = 0;
  /** Goes up when what is seen changes, or how it is posed. */
  version = 0;
  /** For who takes several. */
  readonly alone: readonly PoseRequest[] = [this];

  /** From the crowd's space into what the camera shows; several for an array of cameras. */
  private clips: readonly Matrix4[] = [];
  private culls = false;
  private groupsVersion = -1;
  private visibilityVersion = -1;
  private readonly stages: readonly ViewStage[];
  private readonly all: { count: number; list: InstanceList };
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
    this.all = { count: 0, list: new InstanceList(capacity < SMALL ? capacity : 0) };
  }

  get levels(): Uint8Array | null {
    return this.split?.byLevel?.levels ?? null;
  }

  get poseRates(): Float32Array {
    return this.split?.byLevel?.poseRates ?? NO_RATES;
  }

  get hasPoseRates(): boolean {
    return this.split?.byLevel?.hasPoseRates ?? false;
  }

  /** Instances of which anything is drawn. */
  get visible(): number {
    return this.splitVersion < 0 ? this.all.count : (this.split as SplitLists).visible;
  }

  /**
   * What a mesh of the crowd draws.
   *
   * @param isRising Whether the ids have to be in ascending order.
   */
  of(list: ListNumber = ALL_LEVELS, isRising = false): View {
    const { split, all } = this;
    return split === null || this.splitVersion < 0 ? all : split.of(list, all.list, isRising);
  }

  /**
   * The same in the order of the distance from the camera, if that is asked for.
   *
   * @param farFirst Whether the farthest come first, as in transparent materials.
   * @param crowdMatrixWorld As for `update`.
   */
  inOrder(list: ListNumber, farFirst: boolean, crowdMatrixWorld: Matrix4, crowd: CrowdViews): View {
    for (const stage of this.stages) {
      if (stage.sorted !== undefined) return stage.sorted(list, farFirst, crowdMatrixWorld, crowd);
    }
    return this.of(list);
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
    const { groups } = crowd;
    const { visibility } = groups.crowd;
    const { split, stages } = this;
    if (!again && split?.byLevel?.update(this, crowdMatrixWorld, crowd.fitsLevels) === false) {
      this.version++;
      this.posedIn = 0;
    }
    const splitVersion = split?.splitVersion ?? -1;
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
    this.posedIn = 0;
    this.culls = crowd.culls;
    this.groupsVersion = groups.version;
    this.visibilityVersion = visibility.version;
    this.splitVersion = splitVersion;
    const { seen, all, capacity } = this;
    this.mark(crowdMatrixWorld, crowd);
    for (let i = 0; i < stages.length; i++) stages[i].apply(crowdMatrixWorld, crowd);
    all.count = listSeen(seen, visibility.bits, this.ids);
    const sorted = splitVersion < 0 ? null : split;
    if (sorted !== null) all.count = sorted.split(_ids, all.count, groups.spheres, seen);
    if (all.count > all.list.capacity) {
      all.list.dispose();
      // Whoever passes over to another level comes twice.
      all.list = new InstanceList(all.count > capacity ? 2 * capacity : Math.min(2 * all.count, capacity));
    }
    if (sorted?.isFading) all.list.assignFading(sorted.entries, all.count);
    else all.list.assign(sorted?.entries ?? _ids, all.count);
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

  /** Marks what is seen. */
  private mark(crowdMatrixWorld: Matrix4, { groups, crowd: { visibility }, culls }: CrowdViews): void {
    const { camera, seen } = this;
    const cameras = camerasOf(camera);
    const count = Math.max(1, cameras.length);
    if (this.clips.length !== count) this.clips = Array.from({ length: count }, () => new Matrix4());
    seen.fill(culls ? 0 : 0xffffffff);
    for (let i = 0; i < count; i++) {
      const one = cameras[i] ?? camera;
      const clip = this.clips[i].copy(clipOf(one, crowdMatrixWorld));
      if (!culls) continue;
      _frustum.setFromProjectionMatrix(clip, one.coordinateSystem, one.reversedDepth);
      markSeen(groups, visibility.count, _frustum, seen);
    }
  }
}

const NONE: readonly Camera[] = [];

/** Those that a camera is made of, if of any. */
export const camerasOf = (camera: Camera): readonly Camera[] =>
  (camera as ArrayCamera).isArrayCamera === true ? (camera as ArrayCamera).cameras : NONE;

const clipOf = ({ projectionMatrix, matrixWorldInverse }: Camera, crowdMatrixWorld: Matrix4): Matrix4 =>
  _clip.multiplyMatrices(projectionMatrix, matrixWorldInverse).multiply(crowdMatrixWorld);
