import { type ArrayCamera, type Camera, Matrix4, type Object3D, Vector4 } from 'three';
import { bool, If, uniform } from 'three/tsl';
import type { Node, WebGPURenderer } from 'three/webgpu';
import { warnOnce } from '../../../utils/warnOnce.js';
import type { CameraOcclusion } from '../views/CameraOcclusion.js';
import { DepthPyramid } from './DepthPyramid.js';
import { hiddenSphere } from './hiddenSphere.js';
import { OccluderPass } from './OccluderPass.js';

/** What is hidden by occluders from the cameras of one renderer. */
export class OccluderDepth implements CameraOcclusion {
  private readonly pass: OccluderPass;
  private readonly pyramid: DepthPyramid;
  private readonly isActive = uniform(0, 'int');
  private readonly rows = [0, 1, 2, 3].map(() => uniform(new Vector4()));
  private readonly width = uniform(1);
  private readonly height = uniform(1);
  /** Of what was rendered last. */
  private camera: Camera | null = null;
  private frame = -1;
  private readonly view = new Matrix4();
  private readonly projection = new Matrix4();
  private version = 0;
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
    const { renderer, pass, pyramid } = this;
    if (!this.isOf(camera)) return 0;
    const { frame } = renderer.info;
    const resized = pass.resize();
    const same =
      !resized &&
      this.camera === camera &&
      this.frame === frame &&
      this.width.value === pass.width &&
      this.height.value === pass.height &&
      this.view.equals(camera.matrixWorldInverse) &&
      this.projection.equals(camera.projectionMatrix);
    if (same) return this.version;
    this.camera = camera;
    this.frame = frame;
    this.view.copy(camera.matrixWorldInverse);
    this.projection.copy(camera.projectionMatrix);
    this.width.value = pass.width;
    this.height.value = pass.height;
    pass.render(camera);
    renderer.compute(pyramid.prepare(pass.width, pass.height));
    return ++this.version;
  }

  use(version: number, { elements }: Matrix4): void {
    this.isActive.value = version > 0 ? 1 : 0;
    this.rows.forEach(({ value }, i) => {
      value.set(elements[i], elements[i + 4], elements[i + 8], elements[i + 12]);
    });
    this.rows[2].value.multiplyScalar(this.sign);
  }

  hides(sphere: Node<'vec4'>): Node<'bool'> {
    const hidden = bool(false).toVar();
    If(this.isActive.notEqual(0), () => {
      const [x, y, z, w] = this.rows;
      const { width, height } = this;
      hidden.assign(hiddenSphere(this.pyramid, { x, y, z, w, width, height }, sphere));
    });
    return hidden;
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
        'Occlusion: a renderer with logarithmicDepthBuffer draws what is hidden too; use reversedDepthBuffer, or neither.',
      );
      return false;
    }
    for (let above = occluders.parent; above !== null; above = above.parent)
      if (!above.visible || (above as { isClippingGroup?: boolean }).isClippingGroup === true) return false;
    return true;
  }
}
