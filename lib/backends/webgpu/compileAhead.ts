import { type Camera, NoBlending, type PointLight, type Scene } from 'three';
import { pointShadow, shadow, vec4 } from 'three/tsl';
import { CubeRenderTarget, NodeMaterial, RenderTarget, type WebGPURenderer } from 'three/webgpu';

/** Calls of `renderer.compileAsync` for which all shadow maps were drawn. */
const compiled = /*@__PURE__*/ new WeakSet<object>();

let material: NodeMaterial | null = null;

/** As three.js has one for each light, but throws it away, and what was made for it, where a material is built that receives shadows. */
function shadowMaterial(): NodeMaterial {
  material ??= Object.assign(new NodeMaterial(), {
    colorNode: vec4(0, 0, 0, 1),
    isShadowPassMaterial: true,
    blending: NoBlending,
    fog: false,
  });
  return material;
}

/**
 * Where `renderer.compileAsync` makes the pipelines of what it finds, has those of shadow maps made too, which three.js leaves to the
 * first frame: by drawing each of them once, into a texture that nobody reads. Call it in `onBeforeRender` of who casts shadows.
 */
export function compileShadows(renderer: WebGPURenderer, scene: Scene, camera: Camera): void {
  const { _compilationPromises: call, _renderLists: lists } = renderer as unknown as {
    /** Null but for the part of a call of `compileAsync` that goes through the scene. */
    _compilationPromises: object | null;
    _renderLists: { get(scene: Scene, camera: Camera, lighting: object): { frameId: number } };
  };
  if (!call || !renderer.shadowMap.enabled || compiled.has(call)) return;
  compiled.add(call);
  // A render empties lists that no frame has used of late, that of the call too, which is gone through right now.
  lists.get(scene, camera, renderer.lighting).frameId = renderer.info.frame;
  scene.traverseVisible((object) => {
    const light = object as PointLight;
    if (!light.isLight || !light.castShadow) return;
    const node = (light.isPointLight ? pointShadow(light) : shadow(light)) as unknown as {
      shadowMap: RenderTarget;
      getShadowMaterial(): NodeMaterial;
      setupRenderTarget(shadow: object, builder: object): { shadowMap: RenderTarget };
      updateShadow(frame: object): void;
      vsmPass(): void;
    };
    const { shadowMap } = node.setupRenderTarget(light.shadow, {
      renderer,
      createRenderTarget: (width: number, height: number) => new RenderTarget(width, height),
      createCubeRenderTarget: (size: number) => new CubeRenderTarget(size),
    });
    node.shadowMap = shadowMap;
    node.getShadowMaterial = shadowMaterial;
    // What blurs a map is no crowd's.
    node.vsmPass = () => {};
    node.updateShadow({ renderer, scene, camera });
    shadowMap.dispose();
  });
}
