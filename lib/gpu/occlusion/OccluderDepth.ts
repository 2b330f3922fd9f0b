import { type ArrayCamera, type Camera, Matrix4, type Object3D } from 'three';
import type { Node, WebGPURenderer } from 'three/webgpu';
import type { CameraOcclusion } from '../../backends/webgpu/gpuLists/cullInstances.js';
import { warnOnce } from '../../utils/messages.js';
import { DepthPyramid } from './DepthPyramid.js';
import { OccluderPass } from './OccluderPass.js';
import { hiddenSphere, ScreenRows } from './occludedSphere.js';

let nextId = 1;

/** What is hidden by occluders from the cameras of one renderer. */
export class OccluderDepth implements CameraOcclusion {
  readonly id = nextId++;
  private readonly pass: OccluderPass;
  private readonly pyramid: DepthPyramid;
  private readonly screen = new ScreenRows();
  /** Of what was rendered last. */
  private camera: Camera | null = null;
  private frame = -1;
  private readonly view = new Matrix4();
  private readonly projection = new Matrix4();
  private version = 0;
  private isRendering = false;
  private readonly sign: number;

  constructor(
    private readonly renderer: WebGPURenderer,
    private readonly occluders: Object3D,
  ) {
    this.sign = (renderer as { reversedDepthBuffer?: boolean }).reversedDepthBuffer === true ? -1 : 1;
    this.pass = new OccluderPass(renderer, occluders);
    this.pyramid = new DepthPyramid(this.pass.depth, this.sign);
  }

  prepare(camera: Camera): number {
    const { renderer, pass, screen } = this;
    // An occluder's hook may render another picture, as of a mirror: what is being rendered cannot be asked for it.
    if (this.isRendering || !this.isOf(camera)) return 0;
    const { frame } = renderer.info;
    const resized = pass.resize();
    const same =
      !resized &&
      this.camera === camera &&
      this.frame === frame &&
      screen.width.value === pass.width &&
      screen.height.value === pass.height &&
      this.view.equals(camera.matrixWorldInverse) &&
      this.projection.equals(camera.projectionMatrix);
    if (same) return this.version;
    // Until all of it is done nothing is known: a hook may throw.
    this.camera = null;
    this.view.copy(camera.matrixWorldInverse);
    this.projection.copy(camera.projectionMatrix);
    screen.width.value = pass.width;
    screen.height.value = pass.height;
    this.isRendering = true;
    try {
      pass.render(camera);
      renderer.compute(this.pyramid.prepare(pass.width, pass.height));
    } finally {
      this.isRendering = false;
    }
    this.camera = camera;
    this.frame = frame;
    return ++this.version;
  }

  use(version: number, clip: Matrix4, matrixWorld: Matrix4): void {
    if (version > 0) this.screen.set(clip, this.sign, this.view, matrixWorld);
    else this.screen.clear();
  }

  hides(sphere: Node<'vec4'>): Node<'bool'> {
    return hiddenSphere(this.pyramid, this.screen, sphere);
  }

  dispose(): void {
    this.pass.dispose();
    this.pyramid.dispose();
  }

  /** Whether a camera can be asked, and the occluders are in its picture. */
  private isOf(camera: Camera): boolean {
    const { renderer, occluders } = this;
    if ((camera as ArrayCamera).isArrayCamera === true) return false;
    // Nothing may be rendered while shaders are compiled ahead.
    if ((renderer as unknown as { _compilationPromises: unknown })._compilationPromises) return false;
    if ((renderer as { logarithmicDepthBuffer?: boolean }).logarithmicDepthBuffer === true) {
      warnOnce(
        'Occlusion: a renderer with logarithmicDepthBuffer hides nobody; use reversedDepthBuffer, or neither.',
      );
      return false;
    }
    for (let above = occluders.parent; above !== null; above = above.parent)
      if (!above.visible || (above as { isClippingGroup?: boolean }).isClippingGroup === true) return false;
    return true;
  }
}
