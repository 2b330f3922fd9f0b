import type { Box2, OrthographicCamera, PerspectiveCamera, Vector2 } from 'three';
import type { WebGPURenderer } from 'three/webgpu';
import {
  type EachInstance,
  idsWithin,
  nearestOf,
  type PickedInstance,
  type PickOptions,
  SeenInstances,
} from '../features/picking/pickInstance.js';
import type { GPUInstances } from './GPUInstances.js';

/**
 * As `pickInstance`, for instances that the GPU places: where they stood when it was asked, some frames later.
 *
 * @category Ask
 */
export async function pickGPUInstance(
  gpu: GPUInstances,
  renderer: WebGPURenderer,
  camera: PerspectiveCamera | OrthographicCamera,
  pointer: Vector2,
  { pixels, height }: Omit<PickOptions, 'triangles'> = {},
): Promise<PickedInstance | null> {
  const at = pointer.clone();
  const seen = await new ReadInstances(gpu, camera).read(renderer);
  const found = nearestOf(seen, at, pixels, height);
  return found && { ...found, object: gpu.crowd };
}

/**
 * As `selectInstances`, for instances that the GPU places: where they stood when it was asked, some frames later.
 *
 * @category Ask
 */
export async function selectGPUInstances(
  gpu: GPUInstances,
  renderer: WebGPURenderer,
  camera: PerspectiveCamera | OrthographicCamera,
  rectangle: Box2,
): Promise<Uint32Array> {
  const within = rectangle.clone();
  return idsWithin(await new ReadInstances(gpu, camera).read(renderer), within);
}

/** Instances as the GPU says where they are. */
class ReadInstances extends SeenInstances {
  private spheres: Float32Array = new Float32Array(0);

  constructor(
    private readonly gpu: GPUInstances,
    camera: PerspectiveCamera | OrthographicCamera,
  ) {
    super(gpu.crowd, camera);
  }

  async read(renderer: WebGPURenderer): Promise<this> {
    this.spheres = await this.gpu.readSpheres(renderer);
    return this;
  }

  override forEach(_isAsked: unknown, each: EachInstance): void {
    const { crowd, spheres, mask } = this;
    if ((crowd.layers.mask & mask) === 0) return;
    for (let id = 0; id < spheres.length / 4; id++) if (crowd.visibility.isDrawn(id)) each(spheres, id);
  }
}
