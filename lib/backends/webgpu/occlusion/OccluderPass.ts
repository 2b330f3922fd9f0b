import { type Camera, type Material, type Object3D, RedFormat, type Scene, type Side, Vector4 } from 'three';
import { vec4 } from 'three/tsl';
import {
  DepthTexture,
  FloatType,
  MeshBasicNodeMaterial,
  RendererUtils,
  RenderTarget,
  type WebGPURenderer,
} from 'three/webgpu';
import type { DrawnMaterial } from '../../../../shaders/tsl.js';
import { isCrowd } from '../../DrawnCrowd.js';
import { hidesBehind } from './hidesBehind.js';

const _viewport = /*@__PURE__*/ new Vector4();

type RendererState = Parameters<typeof RendererUtils.resetRendererState>[1];

/** Renders how far away the nearest occluder is in each pixel of a picture: a pass of its own, before that of the picture. */
export class OccluderPass {
  /** Pixels of the last picture; the depth texture may be larger. */
  width = 0;
  height = 0;
  private readonly target: RenderTarget;
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

  render(camera: Camera): void {
    const { renderer, occluders, target } = this;
    const scene = occluders as Scene;
    this.state = RendererUtils.resetRendererState(renderer, this.state);
    const { matrixWorldAutoUpdate } = occluders;
    // Those in a scene were brought up to date with it.
    occluders.matrixWorldAutoUpdate = matrixWorldAutoUpdate && occluders.parent === null;
    renderer.transparent = false;
    renderer.setRenderObjectFunction((object, scene, camera, geometry, material, group, ...rest) => {
      if (isCrowd(object) || !hidesBehind(object, material as DrawnMaterial)) return;
      renderer.renderObject(object, scene, camera, geometry, this.materialFor(material), group, ...rest);
    });
    renderer.setRenderTarget(target);
    renderer.render(scene, camera);
    occluders.matrixWorldAutoUpdate = matrixWorldAutoUpdate;
    RendererUtils.restoreRendererState(renderer, this.state);
  }

  dispose(): void {
    this.target.dispose();
    for (const material of this.materials.values()) material.dispose();
  }

  private materialFor({ side }: Material): MeshBasicNodeMaterial {
    let material = this.materials.get(side);
    if (material === undefined) {
      material = new MeshBasicNodeMaterial({ side, colorWrite: false, fog: false });
      material.fragmentNode = vec4(0);
      this.materials.set(side, material);
    }
    return material;
  }
}
