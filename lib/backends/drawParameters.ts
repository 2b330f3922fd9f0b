import { type ShaderVariant, variantCode } from '../../shaders/ShaderVariant.js';
import { numberOfSource, sourceOf } from '../animation/PoseSource.js';
import {
  PARAM_CLOCK,
  PARAM_EPOCH,
  PARAM_PARTS,
  PARAM_PARTS_PER_ROW,
  PARAM_SHADOW_VARIANT,
  PARAM_VARIANT,
} from '../constants.js';
import type { DrawnCrowd } from '../core/Crowd.js';

/** One object for all draws, so that these make none. */
const _variant: ShaderVariant = {
  source: 0,
  interpolate: false,
  influences: 1,
  parts: false,
  morphs: false,
  fades: false,
  uniforms: 0,
  motion: 0,
};

/** Writes the parameters that shaders read of a draw into `bindMatrix`, which three.js uploads for each object it draws. */
export function setDrawParameters(crowd: DrawnCrowd): void {
  const { elements } = crowd.bindMatrix;
  const { parts } = crowd;
  setVariant(crowd);
  elements[PARAM_CLOCK] = crowd.clock;
  elements[PARAM_EPOCH] = crowd.playback.time.epoch;
  elements[PARAM_VARIANT] = variantCode(_variant);
  // In shadow maps levels do not fade.
  _variant.influences = crowd.shadowInfluences;
  _variant.fades = false;
  elements[PARAM_SHADOW_VARIANT] = variantCode(_variant);
  elements[PARAM_PARTS] = parts?.count ?? 0;
  elements[PARAM_PARTS_PER_ROW] = parts?.texture.perRow ?? 1;
  sourceOf(crowd).setParameters(crowd, elements);
}

/** Says with which variant the colours of a crowd are drawn. */
function setVariant(crowd: DrawnCrowd): void {
  _variant.source = numberOfSource(sourceOf(crowd));
  _variant.interpolate = crowd.interpolate;
  _variant.influences = crowd.influences;
  _variant.parts = crowd.parts !== null;
  _variant.morphs = crowd.clipsMorph;
  _variant.fades = crowd.views.splitter?.fadesFor(crowd.capacity) === true;
  _variant.uniforms = crowd.instanceUniforms?.layout.number ?? 0;
  _variant.motion = crowd.motions?.program.number ?? 0;
}
