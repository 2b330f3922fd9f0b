import { MAX_LAYOUTS } from '../lib/instances/UniformLayout.js';

/** How many joints a vertex may follow. */
export type Influences = 1 | 2 | 4;

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
  /** Whether a view says which instances are drawn. */
  view: boolean;
  /** Number of the layout of what instances have in the place of the material's, see `UniformLayout`; 0 if that is nothing. */
  uniforms: number;
}

const INFLUENCES: readonly Influences[] = [1, 2, 4];

/** Sources that codes tell apart. */
export const MAX_SOURCES = 8;

/** Codes are below this: there are four flags. */
export const VARIANT_CODES = MAX_LAYOUTS * MAX_SOURCES * 16 * 3;

/** A whole number that stands for a variant, in program cache keys and in draw parameters. */
export function variantCode(variant: ShaderVariant): number {
  const { source, interpolate, influences, parts, morphs, view, uniforms } = variant;
  const flags = (view ? 8 : 0) + (morphs ? 4 : 0) + (parts ? 2 : 0) + (interpolate ? 1 : 0);
  const sourceAndLayout = uniforms * MAX_SOURCES + source;
  return (sourceAndLayout * 16 + flags) * INFLUENCES.length + INFLUENCES.indexOf(influences);
}

/** The variant of a code. */
export function variantOf(code: number): ShaderVariant {
  const rest = Math.floor(code / INFLUENCES.length);
  const sourceAndLayout = rest >> 4;
  return {
    source: sourceAndLayout % MAX_SOURCES,
    uniforms: Math.floor(sourceAndLayout / MAX_SOURCES),
    interpolate: (rest & 1) === 1,
    parts: (rest & 2) === 2,
    morphs: (rest & 4) === 4,
    view: (rest & 8) === 8,
    influences: INFLUENCES[code % INFLUENCES.length],
  };
}
