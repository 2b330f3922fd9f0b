import {
  BackSide,
  DoubleSide,
  FrontSide,
  type Material,
  PerspectiveCamera,
  VSMShadowMap,
  type WebGLProgramParametersWithUniforms,
  type WebGLRenderer,
  WebGLRenderTarget,
} from 'three';
import type { DrawnCrowd } from '../../core/Crowd.js';
import { rootOf } from '../../core/drawnCrowds.js';
import { glslSourceOf } from './glslSources.js';
import { syncShadowMaterial } from './syncShadowMaterial.js';

/**
 * Where `renderer.compile` makes the program of a crowd's material, ahead of the first frame that draws it, has the other
 * programs of that frame made too: those of the pose pass, and of shadow maps if lights cast shadows.
 */
export function compileAhead(
  renderer: WebGLRenderer,
  crowd: DrawnCrowd,
  parameters: WebGLProgramParametersWithUniforms,
): void {
  if (crowd.skeleton.drawn.renderer) return;
  const counts = parameters as unknown as Record<string, number | undefined>;
  // Suns are there in newer ones only.
  const shadowsOf = (kind: string) => counts[`num${kind}LightShadows`] ?? 0;
  const flat = shadowsOf('Sun') + shadowsOf('Dir') + shadowsOf('Spot');
  const round = shadowsOf('Point');
  const { castShadow, customDepthMaterial, customDistanceMaterial } = crowd;
  // One call of `renderer.compile` within another would leave the lights of the inner one to the outer one.
  queueMicrotask(() => {
    try {
      glslSourceOf(crowd).poses?.(crowd).compile(renderer, crowd);
      if (!castShadow || !renderer.shadowMap.enabled) return;
      if (flat > 0) compileShadow(renderer, crowd, customDepthMaterial);
      if (round > 0) compileShadow(renderer, crowd, customDistanceMaterial);
    } catch {
      // The first draw comes to the same error.
    }
  });
}

/** Makes the program of one of the crowd's materials for shadow maps. */
function compileShadow(renderer: WebGLRenderer, crowd: DrawnCrowd, material: Material | undefined): void {
  if (material === undefined) return;
  const [own] = [crowd.material].flat();
  give(material, own as Material, renderer.shadowMap.type === VSMShadowMap);
  syncShadowMaterial(renderer, material);
  // three.js draws shadow maps without the scene, whose lights count all the same.
  const lights = Object.create(rootOf(crowd), { isScene: { value: false } });
  const alone = Object.create(crowd, { material: { value: material }, children: { value: [] } });
  const target = renderer.getRenderTarget();
  const face = renderer.getActiveCubeFace();
  const level = renderer.getActiveMipmapLevel();
  const map = new WebGLRenderTarget(1, 1);
  renderer.setRenderTarget(map);
  renderer.compile(alone, new PerspectiveCamera(), lights);
  renderer.setRenderTarget(target, face, level);
  map.dispose();
}

/** Gives a material for shadow maps what three.js gives it of the one that casts the shadow, as far as its program depends on it. */
function give(material: Material, own: Material, keepsSide: boolean): void {
  const { side, shadowSide, alphaToCoverage, alphaTest } = own;
  const maps = own as Partial<Record<'map' | 'alphaMap' | 'displacementMap', object>>;
  const other = side === DoubleSide ? DoubleSide : side === FrontSide ? BackSide : FrontSide;
  Object.assign(material, {
    map: maps.map ?? null,
    alphaMap: maps.alphaMap ?? null,
    displacementMap: maps.displacementMap ?? null,
    alphaTest: alphaToCoverage ? 0.5 : alphaTest,
    side: shadowSide ?? (keepsSide ? side : other),
  });
}
