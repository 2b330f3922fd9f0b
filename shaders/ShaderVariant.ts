import type { EncodingName } from '../lib/encodings/Encoding.js';
import { ENCODING_NAMES } from '../lib/encodings/index.js';

/** How many joints a vertex may follow. */
export type Influences = 1 | 2 | 4;

/** What is compiled into the skinning functions rather than asked at run time. */
export interface ShaderVariant {
  encoding: EncodingName;
  /** Mix two frames, or take the nearest. */
  interpolate: boolean;
  influences: Influences;
  /** Whether parts of instances may be hidden or tinted. */
  parts: boolean;
  /** Whether clips move morph targets. */
  morphs: boolean;
}

const INFLUENCES: readonly Influences[] = [1, 2, 4];

/** Codes are below this. */
export const VARIANT_CODES = 128;

/** A whole number that stands for a variant, in program cache keys and in draw parameters. */
export function variantCode({ encoding, interpolate, influences, parts, morphs }: ShaderVariant): number {
  const flags = (morphs ? 4 : 0) + (parts ? 2 : 0) + (interpolate ? 1 : 0);
  return (ENCODING_NAMES.indexOf(encoding) * 8 + flags) * INFLUENCES.length + INFLUENCES.indexOf(influences);
}

/** The variant of a code. */
export function variantOf(code: number): ShaderVariant {
  const rest = Math.floor(code / INFLUENCES.length);
  return {
    encoding: ENCODING_NAMES[rest >> 3],
    interpolate: (rest & 1) === 1,
    parts: (rest & 2) === 2,
    morphs: (rest & 4) === 4,
    influences: INFLUENCES[code % INFLUENCES.length],
  };
}
