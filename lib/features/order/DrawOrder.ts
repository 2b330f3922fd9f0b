import type { Camera } from 'three';
import type { Crowd } from '../../crowd/Crowd.js';
import type { CrowdMesh } from '../../crowd/CrowdMesh.js';
import type { CameraView } from '../../culling/CameraView.js';
import { addStage, removeStage, STAGE_LIMITS, type ViewStage } from '../../culling/ViewStage.js';
import type { CrowdFeature, FeaturedCrowd } from '../../drawing/CrowdFeature.js';
import { OrderedView } from './OrderedView.js';

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
