import { variantCode } from '../../shaders/ShaderVariant.js';
import {
  PARAM_CLOCK,
  PARAM_PARTS,
  PARAM_PARTS_PER_ROW,
  PARAM_SHADOW_VARIANT,
  PARAM_VARIANT,
} from '../constants.js';
import { numberOfSource, sourceOf } from '../sources/sources.js';
import type { DrawnCrowd } from './DrawnCrowd.js';

/** The shader variants that a crowd is drawn with, see `variantCode`. */
export interface VariantCodes {
  color: number;
  shadow: number;
}

/**
 * Writes the parameters that shaders read of a draw into `bindMatrix`, which three.js uploads for each object it draws.
 *
 * @param viewed Whether a view may say which instances are drawn.
 */
export function setDrawParameters(crowd: DrawnCrowd, viewed: boolean): VariantCodes {
  const { elements } = crowd.bindMatrix;
  const { parts } = crowd;
  const codes = variantCodes(crowd, viewed);
  elements[PARAM_CLOCK] = crowd.clock;
  elements[PARAM_VARIANT] = codes.color;
  elements[PARAM_SHADOW_VARIANT] = codes.shadow;
  elements[PARAM_PARTS] = parts?.count ?? 0;
  elements[PARAM_PARTS_PER_ROW] = parts?.texture.perRow ?? 1;
  sourceOf(crowd).setParameters(crowd, elements);
  return codes;
}

function variantCodes(crowd: DrawnCrowd, view: boolean): VariantCodes {
  const { interpolate, influences, shadowInfluences, clipsMorph: morphs } = crowd;
  const source = numberOfSource(sourceOf(crowd));
  const parts = crowd.parts !== null;
  const uniforms = crowd.instanceUniforms?.layout.number ?? 0;
  const motion = crowd.motions?.program.number ?? 0;
  const common = { source, interpolate, parts, morphs, view, uniforms, motion };
  const fades = view && crowd.view === null && crowd.views.levels.fadesFor(crowd.capacity);
  return {
    color: variantCode({ ...common, influences, fades }),
    // In shadow maps levels do not fade.
    shadow: variantCode({ ...common, influences: shadowInfluences, fades: false }),
  };
}
