import {
  type ArrayCamera,
  type Camera,
  type Material,
  Matrix4,
  type Object3D,
  RedFormat,
  Scene,
  type Side,
  Vector4,
} from 'three';
import { vec4 } from 'three/tsl';
import {
  DepthTexture,
  FloatType,
  MeshBasicNodeMaterial,
  type Node,
  RendererUtils,
  RenderTarget,
  type WebGPURenderer,
} from 'three/webgpu';
import type { DrawnMaterial } from '../../../shaders/tsl.js';
import type { CameraOcclusion } from '../../backends/webgpu/gpuLists/cullInstances.js';
import { isCrowd } from '../../core/drawnCrowds.js';
import { warnOnce } from '../../utils/messages.js';
import { DepthPyramid } from './DepthPyramid.js';
import { hiddenSphere, hidesBehind, ScreenRows } from './occludedSphere.js';

const _viewport = /*@__PURE__*/ new Vector4();

type RendererState = Parameters<typeof RendererUtils.resetRendererState>[1];
type DrawObject = NonNullable<Parameters<WebGPURenderer['setRenderObjectFunction']>[0]>;

let nextId = 1;

/**
 * What is hidden by occluders from the cameras of one renderer. How far away the nearest of them is in each pixel of a picture is
 * rendered in a pass of its own, before that of the picture.
 */
export class OccluderDepth implements CameraOcclusion {
  readonly id = nextId++;
  /** Its depth texture may be larger than the picture. three.js has no render targets without a colour. */
  private readonly target = new RenderTarget(1, 1, { format: RedFormat, generateMipmaps: false, samples: 0 });
  /**
   * The occluders alone. Were one of the user's scenes rendered within itself, its list of what is drawn would be overwritten,
   * and its background, override material and hooks would take part.
   */
  private readonly scene = new Scene();
  /**
   * Cameras that see what those of the pictures see. three.js keeps lists of what is drawn, and recorded bundles, for each camera:
   * with the picture's own camera, a pass within a picture would overwrite those that the picture is being drawn from.
   */
  private readonly cameras = new WeakMap<Camera, Camera>();
  /** Which draws depth alone, for each side. */
  private readonly materials = new Map<Side, MeshBasicNodeMaterial>();
  private state = {} as RendererState;
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
    // As exact as any buffer that the picture may have.
    this.target.depthTexture = new DepthTexture(1, 1, FloatType);
    this.scene.matrixWorldAutoUpdate = false;
    // Not by `add`, which would take them out of the scene that they stand in.
    this.scene.children.push(occluders);
    this.pyramid = new DepthPyramid(this.target.depthTexture, this.sign);
  }

  prepare(camera: Camera): number {
    // An occluder's hook may render another picture, as of a mirror: what is being rendered cannot be asked for it.
    if (this.isRendering || !this.isOf(camera)) return 0;
    const { renderer } = this;
    const { frame } = renderer.info;
    const same =
      !this.resize() &&
      this.camera === camera &&
      this.frame === frame &&
      this.view.equals(camera.matrixWorldInverse) &&
      this.projection.equals(camera.projectionMatrix);
    if (same) return this.version;
    // Until all of it is done nothing is known: a hook may throw.
    this.camera = null;
    this.view.copy(camera.matrixWorldInverse);
    this.projection.copy(camera.projectionMatrix);
    this.isRendering = true;
    try {
      this.render(camera);
      renderer.compute(this.pyramid.prepare(this.screen.width.value, this.screen.height.value));
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
    this.target.dispose();
    for (const material of this.materials.values()) material.dispose();
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

  /** Takes over how many pixels the picture has that is being drawn. Returns whether what was rendered is of another size. */
  private resize(): boolean {
    const { renderer, target, screen } = this;
    const drawn = renderer.getRenderTarget();
    if (drawn === null) renderer.getViewport(_viewport).multiplyScalar(renderer.getPixelRatio());
    else _viewport.copy(drawn.viewport);
    const width = Math.max(1, Math.floor(_viewport.z));
    const height = Math.max(1, Math.floor(_viewport.w));
    // Pictures of several sizes take turns: the largest decides.
    if (width > target.width || height > target.height)
      target.setSize(Math.max(width, target.width), Math.max(height, target.height));
    target.viewport.set(0, 0, width, height);
    const isOther = screen.width.value !== width || screen.height.value !== height;
    screen.width.value = width;
    screen.height.value = height;
    return isOther;
  }

  /** Leaves the renderer as it was, also where a hook of an occluder throws. */
  private render(camera: Camera): void {
    const { renderer, occluders } = this;
    this.state = RendererUtils.resetRendererState(renderer, this.state);
    try {
      renderer.transparent = false;
      // Those in a scene were brought up to date with it.
      if (occluders.parent === null && occluders.matrixWorldAutoUpdate) occluders.updateMatrixWorld();
      renderer.setRenderObjectFunction(this.draw);
      renderer.setRenderTarget(this.target);
      renderer.render(this.scene, this.cameraFor(camera));
    } finally {
      RendererUtils.restoreRendererState(renderer, this.state);
    }
  }

  /** Made once: it is called for each occluder in each pass. */
  private readonly draw: DrawObject = (
    object,
    scene,
    camera,
    geometry,
    material,
    group,
    lights,
    clip,
    pass,
  ) => {
    if (isCrowd(object) || !hidesBehind(object, material as DrawnMaterial)) return;
    const depth = this.materialFor(material);
    this.renderer.renderObject(object, scene, camera, geometry, depth, group, lights, clip, pass);
  };

  private cameraFor(camera: Camera): Camera {
    let own = this.cameras.get(camera);
    if (own === undefined) {
      // Its matrices are those of the picture already.
      own = Object.create(camera, { matrixWorldAutoUpdate: { value: false } }) as Camera;
      this.cameras.set(camera, own);
    }
    return own;
  }

  private materialFor({ side }: Material): MeshBasicNodeMaterial {
    let material = this.materials.get(side);
    if (material === undefined) {
      material = new MeshBasicNodeMaterial({ side, colorWrite: false, fog: false });
      material.fragmentNode = vec4(0);
      material.lights = material.allowOverride = false;
      this.materials.set(side, material);
    }
    return material;
  }
}
