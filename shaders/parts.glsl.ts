import { MAP_STEPS, PARAM_PARTS, PARAM_PARTS_PER_ROW } from '../lib/constants.js';
import { drawParameterGLSL } from './drawParameter.js';

/** Colour of the vertex's part on its instance, and what says where its map is and whether it is shown; see `InstanceParts`. */
export const partsGLSL = (partsTexel: string): string => /* glsl */ `
attribute float partIndex;

vec4 instancePart() {

  int parts = int( ${drawParameterGLSL(PARAM_PARTS)} );
  int perRow = int( ${drawParameterGLSL(PARAM_PARTS_PER_ROW)} );
  int row = gl_InstanceID / perRow;
  ivec2 at = ivec2( ( gl_InstanceID - row * perRow ) * parts + int( partIndex ), row );
  return ${partsTexel};

}

vec2 partMapOffset() {

  float steps = abs( instancePart().w ) - 1.0;
  float v = floor( steps * ${1 / MAP_STEPS} );
  return vec2( steps - v * ${MAP_STEPS}.0, v ) * ${1 / MAP_STEPS};

}
`;
