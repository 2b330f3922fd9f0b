import { paletteMatrixGLSL, paletteMorphsGLSL, paletteTexelGLSL } from '../../../shaders/palette.glsl.js';
import type { SourceGLSL } from '../../../shaders/SourceGLSL.js';
import { sourceOf, sourceOfNumber } from '../../animation/PoseSource.js';
import type { DrawnCrowd } from '../../core/Crowd.js';
import type { DrawTextures } from '../../core/CrowdSkeleton.js';
import { posesOf, type WebGLPoses } from './WebGLPoses.js';

/** How a pose source poses vertices under WebGLRenderer: the twin of `NodeSource`. */
export interface GLSLSource {
  /** The name of the `PoseSource`. */
  readonly name: string;
  readonly glsl: SourceGLSL;
  /** Poses instances once, for all vertices; where it `places`. */
  poses?(crowd: DrawnCrowd): WebGLPoses;
  /** Puts the textures that its shaders read where three.js binds them, unless its poses do. */
  bindTextures?(crowd: DrawnCrowd, textures: DrawTextures): void;
}

/** The clips' own tracks: a pass poses each instance once, as `AnimationMixer` does, and vertices read what it has written. */
const trackGLSL: GLSLSource = {
  name: 'tracks',
  glsl: {
    places: true,
    declarations(morphs) {
      const common = [paletteTexelGLSL()];
      return morphs ? [...common, paletteMorphsGLSL] : common;
    },
    skinningMatrix: paletteMatrixGLSL,
  },
  poses: posesOf,
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
