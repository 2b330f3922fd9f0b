import {
  Color,
  GLSL3,
  type Material,
  NoBlending,
  ShaderMaterial,
  UnsignedShort5551Type,
  type WebGLRenderer,
} from 'three';
import { TILE_TEXELS } from '../../../shaders/atlasLayout.js';
import {
  impostorFragmentGLSL,
  resolveTilesGLSL,
  resolveVertexGLSL,
  tileFragmentGLSL,
  tileVertexGLSL,
} from '../../../shaders/impostor.glsl.js';
import type { TilePrinter } from '../../features/impostors/TilePrinter.js';
import { mergedCode } from '../../utils/surfaceMaps.js';
import { keptOf } from './WebGLPosePass.js';

/** Draws and shows the tiles of impostors with `WebGLRenderer`. */
export const glslTiles: TilePrinter = {
  isWebGL: true,
  numbersOf: ({ plain }) => plain,
  colorType: UnsignedShort5551Type,
  tileTexels: TILE_TEXELS,
  has: (texture, renderer) => keptOf(renderer as WebGLRenderer, texture).__webglTexture !== undefined,

  dress(material, tiles, isShadow) {
    material.onBeforeCompile = (parameters) => {
      Object.assign(parameters.uniforms, tiles.uniforms);
      parameters.fragmentShader = impostorFragmentGLSL(parameters.fragmentShader, isShadow, tiles.hasParts);
    };
  },

  dressTile(copy, source) {
    const { userHook = source.onBeforeCompile } = source.onBeforeCompile as {
      userHook?: Material['onBeforeCompile'];
    };
    copy.onBeforeCompile = (parameters, renderer) => {
      userHook.call(source, parameters, renderer);
      parameters.vertexShader = tileVertexGLSL(parameters.vertexShader, mergedCode(source) > 0);
      parameters.fragmentShader = tileFragmentGLSL(parameters.fragmentShader);
    };
    copy.customProgramCacheKey = () => `tile ${userHook}`;
  },

  createResolve: ([colors, shapes, parts]) =>
    new ShaderMaterial({
      glslVersion: GLSL3,
      vertexShader: resolveVertexGLSL,
      fragmentShader: resolveTilesGLSL,
      uniforms: { colors: { value: colors }, shapes: { value: shapes }, parts: { value: parts } },
      depthTest: false,
      depthWrite: false,
      blending: NoBlending,
    }),

  enter(target) {
    const renderer = target as WebGLRenderer;
    const { xr, info, autoClear } = renderer;
    const { enabled } = xr;
    const { autoReset } = info;
    const drawn = renderer.getRenderTarget();
    const face = renderer.getActiveCubeFace();
    const mipmap = renderer.getActiveMipmapLevel();
    const alpha = renderer.getClearAlpha();
    const color = renderer.getClearColor(new Color());
    xr.enabled = info.autoReset = false;
    return () => {
      xr.enabled = enabled;
      info.autoReset = autoReset;
      renderer.autoClear = autoClear;
      renderer.setClearColor(color, alpha);
      renderer.setRenderTarget(drawn, face, mipmap);
    };
  },
};
