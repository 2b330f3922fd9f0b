import { type Camera, type Material, type Object3D, RedFormat, Scene, type Side, Vector4 } from 'three';
import { vec4 } from 'three/tsl';
import {
  DepthTexture,
  FloatType,
  MeshBasicNodeMaterial,
  RendererUtils,
  RenderTarget,
  type WebGPURenderer,
} from 'three/webgpu';
import type { DrawnMaterial } from '../../../shaders/tsl.js';
import { isCrowd } from '../../core/drawnCrowds.js';
import { hidesBehind } from './occludedSphere.js';

const _viewport = /*@__PURE__*/ new Vector4();

type RendererState = Parameters<typeof RendererUtils.resetRendererState>[1];
type DrawObject = NonNullable<Parameters<WebGPURenderer['setRenderObjectFunction']>[0]>;

/** Renders how far away the nearest occluder is in each pixel of a picture: a pass of its own, before that of the picture. */
export class OccluderPass {
  /** Pixels of the last picture; the depth texture may be larger. */
  width = 0;
  height = 0;
  private readonly target: RenderTarget;
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

  constructor(
    private readonly renderer: WebGPURenderer,
    private readonly occluders: Object3D,
  ) {
    // three.js has no render targets without a colour.
    this.target = new RenderTarget(1, 1, { format: RedFormat, generateMipmaps: false, samples: 0 });
    // As exact as any buffer that the picture may have.
    this.target.depthTexture = new DepthTexture(1, 1, FloatType);
    this.scene.matrixWorldAutoUpdate = false;
    // Not by `add`, which would take them out of the scene that they stand in.
    this.scene.children.push(occluders);
  }

  get depth(): DepthTexture {
    return this.target.depthTexture as DepthTexture;
  }

  /** Takes over how many pixels the picture has that is being drawn. Returns whether there is now another texture. */
  resize(): boolean {
    const { renderer, target } = this;
    const drawn = renderer.getRenderTarget();
    if (drawn === null) renderer.getViewport(_viewport).multiplyScalar(renderer.getPixelRatio());
    else _viewport.copy(drawn.viewport);
    this.width = Math.max(1, Math.floor(_viewport.z));
    this.height = Math.max(1, Math.floor(_viewport.w));
    const grows = this.width > target.width || this.height > target.height;
    // Pictures of several sizes take turns: the largest decides.
    if (grows) target.setSize(Math.max(this.width, target.width), Math.max(this.height, target.height));
    target.viewport.set(0, 0, this.width, this.height);
    return grows;
  }

  /** Leaves the renderer as it was, also where a hook of an occluder throws. */
  render(camera: Camera): void {
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

  dispose(): void {
    this.target.dispose();
    for (const material of this.materials.values()) material.dispose();
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
