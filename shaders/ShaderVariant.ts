import type { Influences } from '../lib/constants.js';
import { MAX_LAYOUTS } from '../lib/instances/UniformLayout.js';

/** What is compiled into the skinning functions rather than asked at run time. */
export interface ShaderVariant {
  /** Number of the pose source among those that are registered. */
  source: number;
  /** Mix two frames, or take the nearest. */
  interpolate: boolean;
  influences: Influences;
  /** Whether parts of instances may be hidden or tinted. */
  parts: boolean;
  /** Whether clips move morph targets. */
  morphs: boolean;
  /** Whether only some pixels of instances may be drawn, since levels of detail fade. */
  fades: boolean;
  /** Number of the layout of what instances have in the place of the material's, see `UniformLayout`; 0 if that is nothing. */
  uniforms: number;
  /** Number of the program of motions that move vertices, see `MotionProgram`; 0 if none do. */
  motion: number;
}

const INFLUENCES: readonly Influences[] = [1, 2, 4];

/** Sources that codes tell apart. */
export const MAX_SOURCES = 10;

/** What flags stand for: four that are apart from each other. */
const FLAGS = 16;

/** A whole number that stands for a variant, in program cache keys and in draw parameters: below 2^23, so that shaders can round a float32 to it. */
export function variantCode(variant: ShaderVariant): number {
  const { source, interpolate, influences, parts, morphs, fades, uniforms, motion } = variant;
  const flags = (fades ? 8 : 0) + (morphs ? 4 : 0) + (parts ? 2 : 0) + (interpolate ? 1 : 0);
  const numbers = (motion * MAX_LAYOUTS + uniforms) * MAX_SOURCES + source;
  return (numbers * FLAGS + flags) * INFLUENCES.length + INFLUENCES.indexOf(influences);
}

/**
 * How many joints a vertex may follow, as a number below 3: what the variants of an object's colours and of its shadows differ in,
 * besides `fades`.
 */
export const influencesCode = (code: number): number => code % INFLUENCES.length;

/** The variant of a code. */
export function variantOf(code: number): ShaderVariant {
  const rest = Math.floor(code / INFLUENCES.length);
  const numbers = Math.floor(rest / FLAGS);
  const flags = rest % FLAGS;
  const layoutAndMotion = Math.floor(numbers / MAX_SOURCES);
  return {
    source: numbers % MAX_SOURCES,
    uniforms: layoutAndMotion % MAX_LAYOUTS,
    motion: Math.floor(layoutAndMotion / MAX_LAYOUTS),
    interpolate: (flags & 1) === 1,
    parts: (flags & 2) === 2,
    morphs: (flags & 4) === 4,
    fades: flags >= 8,
    influences: INFLUENCES[code % INFLUENCES.length],
  };
}
