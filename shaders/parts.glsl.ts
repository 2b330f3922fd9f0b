import { MAP_STEPS, NEARLY_BLACK } from '../lib/constants.js';
import { variantOf } from './ShaderVariant.js';
import { PART_INDEX, type SurfaceGLSL } from './skinVertex.glsl.js';

/** GLSL that says whether the object drawn has parts that may be hidden or coloured, where some of a program have none. */
function havingParts(codes: readonly number[]): string {
  const parted = codes.filter((code) => variantOf(code).parts);
  if (parted.length === codes.length) return 'true';
  return parted.map((code) => `CROWD_VARIANT == ${code}`).join(' || ');
}

/** What the vertex's part looks like on its instance: its colour, and what says where its map is and whether it is shown. */
const functionsGLSL = (having: string): string => /* glsl */ `
vec4 instancePart() {

  if ( ! ( ${having} ) ) return vec4( 1.0 );
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
`;

const MAP_GLSL = /* glsl */ `
#include <uv_vertex>
#ifdef USE_MAP
  vMapUv += mat2( mapTransform ) * partMapOffset();
#endif
`;

const COLOR_GLSL = /* glsl */ `
#include <color_vertex>
#ifdef USE_INSTANCING_COLOR
  vColor.rgb *= instancePart().rgb;
#endif
`;

/** Comes with `InstanceParts`. */
export const partsGLSL: SurfaceGLSL = {
  vertex: (shader, codes) =>
    havingParts(codes) === ''
      ? shader
      : shader.replace('#include <uv_vertex>', MAP_GLSL).replace('#include <color_vertex>', COLOR_GLSL),
  functions(codes) {
    const having = havingParts(codes);
    return having === '' ? [] : [PART_INDEX, functionsGLSL(having)];
  },
  fragment: (shader, { codes }) =>
    havingParts(codes) === ''
      ? shader
      : shader.replace('vec4( diffuse,', `vec4( max( diffuse, vec3( ${NEARLY_BLACK} ) ),`),
  hidden: (codes) => (havingParts(codes) === '' ? '' : 'instancePart().w <= 0.0'),
};
