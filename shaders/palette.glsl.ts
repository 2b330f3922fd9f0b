import type { Palette } from '../lib/crowd/Palette.js';
import type { ShaderVariant } from './ShaderVariant.js';
import { STRONGEST } from './skinningMatrix.glsl.js';

/** What stands for a share of 1 in 16 bits. */
const SHARE = 2 ** 15;

/** Where the pose pass has written an instance's matrices, see `WebGLPosePass`. */
export const paletteTexelGLSL = /* glsl */ `
// Where an instance's matrices begin.
ivec2 paletteTexel( int instance ) {

  int shift = int( CROWD_ROWS );
  int row = instance >> shift;
  return ivec2( ( instance - ( row << shift ) ) * int( CROWD_STRIDE ), row );

}

`;

/** Adds a joint's matrix times a weight, from an exact palette: its rows, as bits of floats. */
export const exactPaletteGLSL = /* glsl */ `
void addJoint_exact( inout mat3x4 skin, ivec2 palette, int joint, float weight ) {

  ivec2 at = palette + ivec2( joint, 0 );
  skin[ 0 ] += weight * uintBitsToFloat( texelFetch( CROWD_PALETTE_ROW0, at, 0 ) );
  skin[ 1 ] += weight * uintBitsToFloat( texelFetch( CROWD_PALETTE_ROW1, at, 0 ) );
  skin[ 2 ] += weight * uintBitsToFloat( texelFetch( CROWD_PALETTE_ROW2, at, 0 ) );

}
`;

/**
 * The same from a compact palette: nine signed 16-bit shares of a scale, which is a 16-bit float, and the translation as bits of
 * floats. Of two shares in an integer, the upper one is read as the whole integer, which was chosen so that it is right.
 */
export const compactPaletteGLSL = /*@__PURE__*/ (() => /* glsl */ `
void addJoint_compact( inout mat3x4 skin, ivec2 palette, int joint, float weight ) {

  ivec2 at = palette + ivec2( joint, 0 );
  uvec4 shares = texelFetch( CROWD_PALETTE_ROW0, at, 0 );
  uvec4 rest = texelFetch( CROWD_PALETTE_ROW1, at, 0 );
  float scale = weight * unpackHalf2x16( rest.x ).x;
  float l = scale * ${1 / SHARE};
  float u = scale * ${1 / (SHARE * 65536)};
  vec4 lower = vec4( ivec4( shares << 16 ) >> 16 );
  vec4 upper = vec4( ivec4( shares ) );
  vec3 translation = uintBitsToFloat( rest.yzw );
  skin[ 0 ] += vec4( l, u, l, weight ) * vec4( lower.x, upper.x, lower.w, translation.x );
  skin[ 1 ] += vec4( l, u, u, weight ) * vec4( lower.y, upper.y, upper.w, translation.y );
  skin[ 2 ] += vec4( l, u, u, weight ) * vec4( lower.z, upper.z, float( int( rest.x ) ), translation.z );

}
`)();

/** Writes what `compactPaletteGLSL` reads. */
export const packCompactGLSL = /*@__PURE__*/ (() => /* glsl */ `
// At least so much is the largest of the nine numbers taken for, so that the scale is no denormal number.
const float LEAST_SCALE = 1.0e-4;

uint lowerShare( float share ) {

  return uint( int( round( share * ${SHARE}.0 ) ) ) & 0xffffu;

}

// Puts a share above 16 bits that count as a fraction of it.
uint aboveLower( float share, uint lower ) {

  return uint( int( round( share * ${SHARE}.0 - float( lower ) * ( 1.0 / 65536.0 ) ) ) << 16 ) | lower;

}

uint packShares( float lower, float upper ) {

  return aboveLower( upper, lowerShare( lower ) );

}

void writeCompact( mat3x4 rows ) {

  vec3 largest = max( max( abs( rows[ 0 ].xyz ), abs( rows[ 1 ].xyz ) ), abs( rows[ 2 ].xyz ) );
  float most = max( max( largest.x, largest.y ), max( largest.z, LEAST_SCALE ) );
  // A 16-bit float may be lower than what it stands for by 2^-10 of it.
  uint scale = packHalf2x16( vec2( most * ( 1.0 + 1.0 / 512.0 ), 0.0 ) ) & 0xffffu;
  float share = 1.0 / unpackHalf2x16( scale ).x;
  vec3 x = share * rows[ 0 ].xyz;
  vec3 y = share * rows[ 1 ].xyz;
  vec3 z = share * rows[ 2 ].xyz;
  texel0 = uvec4( packShares( x.x, x.y ), packShares( y.x, y.y ), packShares( z.x, z.y ), packShares( x.z, y.z ) );
  texel1 = uvec4( aboveLower( z.z, scale ), floatBitsToUint( vec3( rows[ 0 ].w, rows[ 1 ].w, rows[ 2 ].w ) ) );

}
`)();

/** Influences of morph targets, which the pass has written behind the joints. */
export const paletteMorphsGLSL = /* glsl */ `
#ifdef USE_MORPHTARGETS

  void addPosedMorphs( ivec2 palette ) {

    ivec2 first = palette + ivec2( CROWD_MORPH_TEXEL, 0 );
    for ( int i = 0; i < MORPHTARGETS_COUNT; i ++ )
      crowdMorphs[ i ] = uintBitsToFloat( texelFetch( CROWD_PALETTE_ROW0, first + ivec2( i >> 2, 0 ), 0 )[ i & 3 ] );

  }

#else

  void addPosedMorphs( ivec2 palette ) {}

#endif
`;

/**
 * The weighted sum of the vertex's joints, as rows, from the palette that the pose pass has written. What plays, and how
 * many clips, makes no difference here. All vertices of a hidden part are at one point.
 */
export function paletteMatrixGLSL(
  name: string,
  palette: Palette,
  { influences, parts, morphs }: ShaderVariant,
): string {
  return /* glsl */ `
mat3x4 ${name}() {

  mat3x4 skin = mat3x4( 0.0 );
  ${parts ? 'if ( instancePart().w <= 0.0 ) return skin;' : ''}
  ivec2 palette = paletteTexel( instanceIndex() );
  vec4 joints = skinIndex;
  vec4 weights = skinWeight;
  ${STRONGEST[influences]}

  for ( int i = 0; i < ${influences}; i ++ ) {

    if ( weights.x <= 0.0 ) break;
    addJoint_${palette}( skin, palette, int( joints.x ), weights.x );
    joints = joints.yzwx;
    weights = weights.yzwx;

  }

  ${morphs ? 'addPosedMorphs( palette );' : ''}
  return skin;

}
`;
}
