import type { Texture, WebGLRenderer } from 'three';
import { paletteMatrixGLSL, paletteMorphsGLSL, paletteTexelGLSL } from '../../../shaders/palette.glsl.js';
import type { SourceGLSL } from '../../../shaders/SourceGLSL.js';
import { sourceOf, sourceOfNumber } from '../../animation/PoseSource.js';
import { PARAM_ROWS } from '../../constants.js';
import type { DrawnCrowd } from '../../core/Crowd.js';
import type { InstanceList, PoseRequest } from '../../culling/InstanceList.js';
import type { MatrixTexture } from './MatrixTexture.js';
import { PALETTE_TEXTURES } from './WebGLPosePass.js';
import { posesOf } from './WebGLPoses.js';

/** How a pose source poses vertices under WebGLRenderer: the twin of `NodeSource`. */
export interface GLSLSource {
  /** The name of the `PoseSource`. */
  readonly name: string;
  readonly glsl: SourceGLSL;
  /** Writes the textures of floats that its shaders read, at least one and at most `TEXTURE_PARTS`. */
  bindTextures(crowd: DrawnCrowd, textures: Texture[]): void;
  /** Writes the textures of unsigned integers that they read; none as long as `update` has not been called. */
  bindIntegers?(crowd: DrawnCrowd, textures: Texture[]): void;
  /**
   * Brings these up to date; called before the crowd is drawn, also into a shadow map.
   *
   * @param requested What cameras are about to draw; null for all instances.
   * @param isDrawing Whether the renderer is in the middle of drawing, rather than at the beginning of a frame: then they may wait
   * for `runPasses`.
   * @param matrices Where instances stand.
   * @throws If the device cannot do it.
   */
  update?(
    renderer: WebGLRenderer,
    crowd: DrawnCrowd,
    requested: readonly PoseRequest[] | null,
    isDrawing: boolean,
    matrices: MatrixTexture,
  ): void;
  /** Has a renderer make the programs that `update` runs. */
  compile?(renderer: WebGLRenderer, crowd: DrawnCrowd): void;
  /** A list as its shaders read it; where it `places`. */
  listed?(crowd: DrawnCrowd, list: InstanceList): InstanceList;
  /** How many instances were posed as they are now. */
  posedCount?(crowd: DrawnCrowd): number;
}

/** The clips' own tracks: a pass poses each instance once, as `AnimationMixer` does, and vertices read what it has written. */
const trackGLSL: GLSLSource = {
  name: 'tracks',
  glsl: {
    integers: PALETTE_TEXTURES,
    places: true,
    declarations(morphs) {
      const common = [paletteTexelGLSL()];
      return morphs ? [...common, paletteMorphsGLSL] : common;
    },
    skinningMatrix: paletteMatrixGLSL,
  },
  bindTextures(crowd, textures) {
    const { inOrder, instanceOf } = posesOf(crowd).rows;
    if (!inOrder) textures[0] = instanceOf.texture.plain;
  },
  bindIntegers(crowd, textures) {
    const posed = posesOf(crowd).textures;
    for (let i = 0; i < posed.length; i++) textures[i] = posed[i];
  },
  compile: (renderer, crowd) => posesOf(crowd).compile(renderer, crowd),
  listed: (crowd, list) => posesOf(crowd).rows.listed(list),
  posedCount: (crowd) => posesOf(crowd).count,
  update(renderer, crowd, requested, isDrawing, matrices) {
    const poses = posesOf(crowd);
    poses.update(renderer, crowd, requested, isDrawing, matrices);
    crowd.bindMatrix.elements[PARAM_ROWS] = Math.log2(poses.perRow);
  },
};

const sources: GLSLSource[] = [trackGLSL];

/** Lets WebGLRenderer pose crowds of more pose sources. */
export function registerGLSLSource(...added: GLSLSource[]): void {
  for (const source of added) if (!sources.includes(source)) sources.push(source);
}

/**
 * The shaders of a pose source.
 *
 * @throws If it has none for WebGLRenderer.
 */
function sourceNamed(name: string): GLSLSource {
  for (let i = 0; i < sources.length; i++) if (sources[i].name === name) return sources[i];
  throw new Error(
    `WebGLRenderer cannot draw poses of the source "${name}"; import what makes them from 'skinned-instanced-mesh' or 'skinned-instanced-mesh/vertex-textures'.`,
  );
}

/** Whether WebGLRenderer can draw a crowd: a page may have imported shaders of its pose source for WebGPURenderer alone. */
export function hasGLSLSource(crowd: DrawnCrowd): boolean {
  for (let i = 0; i < sources.length; i++) if (sources[i].name === sourceOf(crowd).name) return true;
  return false;
}

export const glslSourceOf = (crowd: DrawnCrowd): GLSLSource => sourceNamed(sourceOf(crowd).name);

/** The shaders of the source of a number, see `ShaderVariant.source`. */
export const glslOfNumber = (number: number): SourceGLSL => sourceNamed(sourceOfNumber(number).name).glsl;
