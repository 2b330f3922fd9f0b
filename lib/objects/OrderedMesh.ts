import { isWithin } from '../utils/checkOptions.js';
import { describe } from '../utils/describe.js';
import type { CrowdOcclusion } from '../views/CrowdOcclusion.js';
import type { CustomSort } from '../views/DrawOrder.js';
import { IdentityMesh } from './IdentityMesh.js';

const NAME = 'SkinnedInstancedMesh';

/** A crowd's own mesh, which says in what order its instances are drawn, and how many of them. */
export abstract class OrderedMesh extends IdentityMesh {
  /**
   * Whether instances are drawn by their distance from the camera, for each camera by itself, as `BatchedMesh` has it: near ones
   * first, so that what they hide costs no pixels, and with transparent materials far ones first. What is attached is sorted
   * too; shadow maps are not. Else instances are drawn in the order of their ids, as those of an `InstancedMesh`.
   *
   * @default false
   */
  get sortObjects(): boolean {
    return this.views.order.sortObjects;
  }

  /** Changing it may compile the materials anew. */
  set sortObjects(value: boolean) {
    this.views.order.sortObjects = value;
    this.prepareDraw();
  }

  /** The function that sorts instances in place of their distance; null if none does. */
  get customSort(): CustomSort | null {
    return this.views.order.customSort;
  }

  /**
   * Has a function sort the instances while `sortObjects` is true, as `BatchedMesh.setCustomSort`: it is called with those that a
   * camera sees, once a frame for each list, each with its `index` and with `z`, how far it lies in front of the camera. Null to sort by distance again.
   */
  setCustomSort(sort: CustomSort | null): this {
    if (sort !== null && typeof sort !== 'function') {
      throw new Error(
        `${NAME}.setCustomSort: ${describe(sort)} is no function; pass one that sorts, or null.`,
      );
    }
    this.views.order.customSort = sort;
    return this;
  }

  /**
   * What hides instances from cameras, so that those wholly behind it are neither posed nor drawn: an `Occlusion`, made by
   * `skinned-instanced-mesh/occlusion`; null for nothing. For `WebGPURenderer` on WebGPU where the GPU makes the lists of what
   * cameras see; others, and arrays of cameras, draw hidden instances too. Not for crowds in materials that are to be seen
   * through walls. What is attached is left out with the instance, as with `perObjectFrustumCulled`, which it needs.
   *
   * @default null
   */
  get occlusion(): CrowdOcclusion | null {
    return this.views.occlusion;
  }

  /** @throws If it is something else. */
  set occlusion(value: CrowdOcclusion | null) {
    if (value !== null && (value as CrowdOcclusion | undefined)?.isOcclusion !== true)
      throw new Error(
        `${NAME}.occlusion: ${describe(value)} is no Occlusion; use new Occlusion(object), or null for none.`,
      );
    this.views.occlusion = value;
  }

  /**
   * The most instances that are drawn for a camera: the nearest of those that it sees. Shadow maps have as many, the nearest to the
   * camera for which they are drawn. One that is drawn stays so until others are nearer by a tenth, so that none flickers.
   *
   * @default Infinity
   */
  get maxVisible(): number {
    return this.views.order.maxVisible;
  }

  /** @throws If it is no number from 0. Changing it may compile the materials anew. */
  set maxVisible(value: number) {
    if (!isWithin(value))
      throw new Error(`${NAME}.maxVisible: ${describe(value)} is no number of instances; use one from 0.`);
    this.views.order.maxVisible = Math.floor(value);
    this.prepareDraw();
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
    return this.views.order.maxTriangles;
  }

  /** @throws If it is no number from 0. Changing it may compile the materials anew. */
  set maxTriangles(value: number) {
    if (!isWithin(value))
      throw new Error(`${NAME}.maxTriangles: ${describe(value)} is no number of triangles; use one from 0.`);
    this.views.order.maxTriangles = value;
    this.prepareDraw();
  }
}
