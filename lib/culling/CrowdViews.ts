import type { Camera, Matrix4 } from 'three';
import type { Crowd } from '../crowd/Crowd.js';
import type { InstanceVisibility } from '../instances/InstanceVisibility.js';
import { CameraView } from './CameraView.js';
import type { LayersOfInstances } from './InstanceGroups.js';
import { InstanceGroups } from './InstanceGroups.js';
import type { KindSplitter, LODSelector } from './LODSelector.js';
import type { DrawnMember } from './ViewInfo.js';
import { type CrowdStage, STAGE_LIMITS } from './ViewStage.js';

/** What hides instances from cameras, where the GPU makes the lists. */
export interface CrowdOcclusion {
  /** What a renderer finds out about it. */
  of(renderer: object): object;
}

/** Frames after which a view that nobody asks for is let go. */
const IDLE = 300;
/** Frames in which a camera that saw the crowd is likely to do so again: several may take turns. */
const RECENT = 3;
/** Frames after which it may serve another camera: whoever makes a camera in each frame shall not have lists for all of them. */
const STALE = 30;

/** Which instances of a crowd each camera sees. */
export class CrowdViews {
  readonly groups: InstanceGroups;
  /** What renderers keep for views of the crowd, and is freed with it. */
  readonly owned: Set<{ dispose(): void }> = new Set();
  /** Instances that were posed last, for all cameras of a frame. */
  posed = 0;
  /** The frame for which they were last posed before anything was drawn. */
  posedAhead = -1;
  /** Null if nothing does. */
  occlusion: CrowdOcclusion | null = null;
  /** Divides what cameras see by kinds; null while all instances are of one. Call `dropViews` after a change. */
  kinds: KindSplitter | null = null;
  private culled: boolean | null = null;
  /** Whether some instance was not drawn: the shaders that this takes are kept, since it is likely to happen again. */
  private wasPartly = false;
  /** One or more for each camera: that of a point light looks six ways in a frame. */
  views: CameraView[] = [];
  private splits: LODSelector | null = null;
  /** What features have a say in what cameras draw, see `addStage`. */
  readonly stages: CrowdStage[] = [];
  /** Whose instances are expected to be drawn in a frame. */
  private readonly expectedViews: CameraView[] = [];
  private frame = -1;
  private turn = 0;
  /** What was asked for last; null before meshes are drawn. How far poses reach, and who is culled, holds in between. */
  last: CameraView | null = null;
  private isFollowed = false;

  constructor(private readonly crowd: Crowd) {
    this.groups = new InstanceGroups(crowd);
  }

  /** Whether instances that a camera does not see are left out. */
  get perObjectFrustumCulled(): boolean {
    return this.culled ?? this.crowd.culledByDefault;
  }

  set perObjectFrustumCulled(value: boolean) {
    this.culled = value;
    this.wasPartly = false;
    // Nobody has looked at the matrices in between.
    this.groups.invalidate();
  }

  /** Takes over from another crowd whether that was said. */
  copy(source: CrowdViews): void {
    if (this.culled !== source.culled) this.groups.invalidate();
    this.culled = source.culled;
  }

  /** Whether instances outside of a camera's frustum are left out now. */
  get culls(): boolean {
    return this.perObjectFrustumCulled && this.crowd.frustumCulled;
  }

  /** Whether the meshes of the crowd are drawn by lists. When it changes, materials are compiled anew. */
  get isUsed(): boolean {
    if (!this.crowd.visibility.allDrawn) this.wasPartly = true;
    return (
      this.wasPartly ||
      this.kinds !== null ||
      this.culls ||
      this.crowd.written !== null ||
      (this.splits !== null && (this.splits.isUsed || this.splits.hasPoseRates)) ||
      this.isStaged
    );
  }

  get visibility(): InstanceVisibility {
    return this.crowd.visibility;
  }

  get layers(): LayersOfInstances | null {
    return this.crowd.layers;
  }

  get layersMask(): number {
    return this.crowd.layersMask;
  }

  /** Sorts what cameras see into several lists; null for one. */
  get splitter(): LODSelector | null {
    return this.splits;
  }

  set splitter(value: LODSelector | null) {
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

  get members(): readonly DrawnMember[] {
    return this.crowd.members;
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
    const isFitted = this.fitsLevels && this.splits?.isUsed === true;
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
    this.dropViews();
  }

  /** Lets views be made anew. */
  dropViews(): void {
    for (const view of this.views) view.dispose();
    this.views = [];
  }

  private begin(frame: number): void {
    if (frame === this.frame) return;
    this.frame = frame;
    this.last = null;
    this.turn++;
    this.splits?.beginFrame();
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
    const levels = this.splits?.lists(capacity) ?? null;
    const lists = this.kinds?.listsFor(levels) ?? levels;
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
