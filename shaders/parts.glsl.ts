import { MAP_STEPS } from '../lib/constants.js';

/** Colour of the vertex's part on its instance, and what says where its map is and whether it is shown; see `InstanceParts`. */
export const partsGLSL = /*@__PURE__*/ (() => /* glsl */ `
vec4 instancePart() {

  int perRow = CROWD_PARTS_PER_ROW;
  int index = instanceIndex();
  int row = index / perRow;
  ivec2 at = ivec2( ( index - row * perRow ) * CROWD_PART_COUNT + int( partIndex.x ), row );
  return texelFetch( CROWD_PARTS, at, 0 );

}

vec2 partMapOffset() {

  float steps = abs( instancePart().w ) - 1.0;
  float v = floor( steps * ${1 / MAP_STEPS} );
  return vec2( steps - v * ${MAP_STEPS}.0, v ) * ${1 / MAP_STEPS};

}
`)();
