import type { Object3D } from 'three';
import type { WebGPURenderer } from 'three/webgpu';
import type { CameraOcclusion } from '../../backends/webgpu/gpuLists/cullInstances.js';
import { enableGPULists } from '../../backends/webgpu/gpuLists/GPUViews.js';
import type { SkinnedInstancedMesh } from '../../crowd/SkinnedInstancedMesh.js';
import { describe } from '../../utils/messages.js';
import { OccluderDepth } from './OccluderDepth.js';

/**
 * Leaves out instances that are wholly behind something else, for crowds that `WebGPURenderer` draws on WebGPU. The GPU makes the
 * lists of what cameras see then:
 *
 * ```ts
 * const occlusion = new Occlusion(houses).add(crowd);
 * ```
 *
 * For each camera and frame, the depth of the occluders is rendered once more beforehand, as large as the picture, and compute
 * shaders then compare a sphere around each instance with it. Nothing is guessed from frames before, so that nothing pops.
 * Shadow maps go on showing everyone, and so do other renderers and arrays of cameras. What is attached is left out with the
 * instance, as with `perObjectFrustumCulled`, which it needs. Not for crowds in materials that are to be seen through walls.
 *
 * Dispose it when none needs it any more, and before a renderer is given up that has drawn them:
 * until then it holds on to each such renderer.
 *
 * @category See
 */
export class Occlusion {
  private readonly byRenderer = new Map<object, OccluderDepth>();

  /**
   * @param occluders An object that hides instances, with all that is below it. Few large meshes are best, such as an
   * `InstancedMesh` of houses: each is drawn twice. Of it, those meshes hide something that are visible and on a layer of the camera,
   * in mesh materials of three.js that are opaque and have the shape of their geometry: not transparent, with `alphaTest`, or with
   * nodes for positions, depth, masks or whole fragments. Crowds hide nothing. What cannot be known is whether other nodes, such as a
   * `colorNode`, discard pixels: do not name such objects. It may also stand in no scene, as plain boxes inside of houses; what it
   * hides must then be hidden by the scene too.
   * @throws If it is no object of three.js.
   */
  constructor(readonly occluders: Object3D) {
    if ((occluders as Object3D | undefined)?.isObject3D !== true)
      throw new Error(`Occlusion: ${describe(occluders)} is no Object3D; pass what hides instances.`);
  }

  /**
   * Leaves out instances of a crowd, and of its copies.
   *
   * @throws If another one does so.
   */
  add(crowd: SkinnedInstancedMesh): this {
    enableGPULists();
    const { views } = crowd;
    if (views.occlusion !== null && views.occlusion !== this)
      throw new Error(
        'Another Occlusion hides instances of the crowd; remove the crowd from that one first.',
      );
    views.occlusion = this;
    return this;
  }

  /** Lets all instances of a crowd be drawn again. */
  remove(crowd: SkinnedInstancedMesh): this {
    if (crowd.views.occlusion === this) crowd.views.occlusion = null;
    return this;
  }

  /** What a renderer finds out about the occluders. @internal */
  of(renderer: object): CameraOcclusion {
    let depth = this.byRenderer.get(renderer);
    if (depth === undefined) {
      depth = new OccluderDepth(renderer as WebGPURenderer, this.occluders);
      this.byRenderer.set(renderer, depth);
    }
    return depth;
  }

  /** Frees what it has on the GPU. It is made anew if a crowd that was added is drawn again. */
  dispose(): void {
    for (const depth of this.byRenderer.values()) depth.dispose();
    this.byRenderer.clear();
  }
}
