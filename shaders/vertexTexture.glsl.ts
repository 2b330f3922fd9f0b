import type { ShaderVariant } from './ShaderVariant.js';
import { eachClipGLSL } from './skinningMatrix.glsl.js';

/** Kind of number that vertices are stored in, see `VertexTextureData.precision`. */
export type VertexPrecision = 'half' | 'float';

/** Reads what a frame has of a vertex: twin of `VertexReader.ts`. */
const addVertexGLSL = (precision: VertexPrecision): string => /* glsl */ `
void addVertex_${precision}( ivec2 frame, int vertex, float weight, inout vec3 posed, inout vec3 turned ) {

  vec4 size = texelFetch( CROWD_BAKED, frame, 0 );
  vec4 least = texelFetch( CROWD_BAKED, frame + ivec2( 1, 0 ), 0 );
  int place = int( size.w ) * int( abs( least.w ) ) + vertex;
  int bits = CROWD_VERTEX_BITS;
  uvec4 texel = texelFetch( CROWD_VERTICES, ivec2( place & ( ( 1 << bits ) - 1 ), place >> bits ), 0 );
  ${decoders[precision]}
  posed += weight * stored;
  // Where there are no normals, the number of vertices is written as a negative one.
  if ( least.w > 0.0 ) turned += weight * unfoldNormal( square );

}

void addPosed_${precision}( PoseLayer pose, float share, int vertex, bool interpolate, inout vec3 posed, inout vec3 turned ) {

  float second = interpolate ? share * pose.alpha : 0.0;
  addVertex_${precision}( pose.texel0, vertex, share - second, posed, turned );
  if ( interpolate ) addVertex_${precision}( pose.texel1, vertex, second, posed, turned );

}
`;

const decoders: Record<VertexPrecision, string> = {
  half: /* glsl */ `
  vec3 stored = least.xyz + size.xyz * vec3( float( texel.x & 0xffffu ), float( texel.x >> 16 ), float( texel.y & 0xffffu ) );
  vec2 square = vec2( float( int( texel.y << 8 ) >> 24 ), float( int( texel.y ) >> 24 ) ) / 127.0;
`,
  float: /* glsl */ `
  vec3 stored = uintBitsToFloat( texel.xyz );
  vec2 square = unpackSnorm2x16( texel.w );
`,
};

const posingMatrixGLSL = /* glsl */ `
vec3 unfoldNormal( vec2 square ) {

  vec3 normal = vec3( square, 1.0 - abs( square.x ) - abs( square.y ) );
  float folded = max( - normal.z, 0.0 );
  normal.x += normal.x < 0.0 ? folded : - folded;
  normal.y += normal.y < 0.0 ? folded : - folded;
  return normalize( normal );

}

// Turns by the least turn that takes the normal as it was modelled to that as it is posed, which is crowdPosedNormal.
mat3x4 posingMatrix( float shown, vec3 modelled, vec3 posed, vec3 turned ) {

  vec3 x = vec3( shown, 0.0, 0.0 );
  vec3 y = vec3( 0.0, shown, 0.0 );
  vec3 z = vec3( 0.0, 0.0, shown );
  crowdPosedNormal = shown * modelled;

  if ( dot( turned, turned ) > 0.0 && dot( modelled, modelled ) > 0.0 ) {

    crowdPosedNormal = turned;
    vec3 from = normalize( modelled );
    vec3 to = normalize( turned );
    float cosine = dot( from, to );
    if ( cosine > - 0.99999 ) {

      vec3 v = cross( from, to );
      vec3 k = v / ( 1.0 + cosine );
      x = shown * ( vec3( cosine, - v.z, v.y ) + v * k.x );
      y = shown * ( vec3( v.z, cosine, - v.x ) + v * k.y );
      z = shown * ( vec3( - v.y, v.x, cosine ) + v * k.z );

    } else {

      // By half a turn, about any axis across the normal.
      vec3 side = abs( from.x ) < 0.5 ? vec3( 1.0, 0.0, 0.0 ) : vec3( 0.0, 1.0, 0.0 );
      vec3 axis = normalize( cross( from, side ) );
      x = shown * ( 2.0 * axis.x * axis - vec3( 1.0, 0.0, 0.0 ) );
      y = shown * ( 2.0 * axis.y * axis - vec3( 0.0, 1.0, 0.0 ) );
      z = shown * ( 2.0 * axis.z * axis - vec3( 0.0, 0.0, 1.0 ) );

    }

  }

  return mat3x4( vec4( x, posed.x ), vec4( y, posed.y ), vec4( z, posed.z ) );

}
`;

const commonGLSL = /* glsl */ `
#define CROWD_VERTEX_BITS CROWD_MORPH_TEXEL

// Where the vertex was modelled, its normal there, and its normal as it is posed: the matrix turns what differs from those.
vec3 crowdRestPosition = vec3( 0.0 );
vec3 crowdRestNormal = vec3( 0.0 );
vec3 crowdPosedNormal = vec3( 0.0 );

vec4 posed( vec4 vector, mat3x4 skin );

vec3 posedPosition( vec3 place, mat3x4 skin ) {

  return posed( vec4( place - crowdRestPosition, 1.0 ), skin ).xyz;

}

vec3 posedNormal( vec3 direction, mat3x4 skin ) {

  return posed( vec4( direction - crowdRestNormal, 0.0 ), skin ).xyz + crowdPosedNormal;

}
${posingMatrixGLSL}`;

/** What the functions of vertex textures need: the first is the same for both precisions. */
export const vertexTextureGLSL = (precision: VertexPrecision): readonly string[] => [
  commonGLSL,
  addVertexGLSL(precision),
];

/** The same functions for nodes. */
export const verticesGLSL = /*@__PURE__*/ (() =>
  posingMatrixGLSL + addVertexGLSL('half') + addVertexGLSL('float'))();

/**
 * Poses a vertex, as it is in the frames that its instance shows, and turns what is beside it as its normal turns: by the
 * least turn that does it, which tangents and motions follow. Position and normal themselves are added as the frames have them, so
 * that compilers leave the turn out where nothing else is asked for: in shadow maps, and in materials without normal maps.
 */
export const vertexMatrixGLSL = (
  name: string,
  precision: VertexPrecision,
  { interpolate }: ShaderVariant,
): string => /* glsl */ `
mat3x4 ${name}() {

  int vertex = int( skinIndex.y ) + ( int( skinIndex.z ) << 16 ) - 1;
  float shown = 0.0;
  vec3 posed = vec3( 0.0 );
  vec3 turned = vec3( 0.0 );
  ${eachClipGLSL(interpolate, `addPosed_${precision}( pose, share, vertex, ${interpolate}, posed, turned );\nshown += share;`)}
  crowdRestPosition = position;
  crowdRestNormal = normal;
  return posingMatrix( shown, normal, posed, turned );

}
`;
