import { variantCode } from '../../shaders/ShaderVariant.js';
import {
  PARAM_CLOCK,
  PARAM_MORPH_TEXEL,
  PARAM_PARTS,
  PARAM_PARTS_PER_ROW,
  PARAM_ROWS,
  PARAM_SHADOW_VARIANT,
  PARAM_STRIDE,
  PARAM_VARIANT,
} from '../constants.js';
import type { DrawnCrowd } from './DrawnCrowd.js';

/** The shader variants that a crowd is drawn with, see `variantCode`. */
export interface VariantCodes {
  color: number;
  shadow: number;
}

/** Whether a pass of its own poses the instances, rather than each vertex. */
export function isPosedByPass({ boneTexture }: DrawnCrowd): boolean {
  return boneTexture.encoding === 'tracks';
}

/**
 * Writes the parameters that shaders read of a draw into `bindMatrix`, which three.js uploads for each object it draws.
 *
 * @param paletteColumns Columns of an instance in the palette, for a crowd that a pass poses.
 */
export function setDrawParameters(crowd: DrawnCrowd, paletteColumns: number): VariantCodes {
  const { elements } = crowd.bindMatrix;
  const { boneTexture, parts } = crowd;
  const { layout } = boneTexture;
  const codes = variantCodes(crowd);
  elements[PARAM_CLOCK] = crowd.clock;
  if (isPosedByPass(crowd)) {
    elements[PARAM_STRIDE] = paletteColumns;
  } else {
    elements[PARAM_ROWS] = layout.height;
    elements[PARAM_STRIDE] = layout.stride;
  }
  elements[PARAM_VARIANT] = codes.color;
  elements[PARAM_SHADOW_VARIANT] = codes.shadow;
  elements[PARAM_MORPH_TEXEL] = boneTexture.morphTexel;
  elements[PARAM_PARTS] = parts?.count ?? 0;
  elements[PARAM_PARTS_PER_ROW] = parts?.texture.perRow ?? 1;
  return codes;
}

function variantCodes(crowd: DrawnCrowd): VariantCodes {
  const { interpolate, influences, shadowInfluences, clipsMorph: morphs } = crowd;
  const { encoding } = crowd.boneTexture;
  const parts = crowd.parts !== null;
  const common = { encoding, interpolate, parts, morphs };
  return {
    color: variantCode({ ...common, influences }),
    shadow: variantCode({ ...common, influences: shadowInfluences }),
  };
}
