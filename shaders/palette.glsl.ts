import type { Palette } from '../lib/crowd/Palette.js';
import type { ShaderVariant } from './ShaderVariant.js';
import { STRONGEST } from './skinningMatrix.glsl.js';

/** Where the pose pass has written an instance's matrices, see `WebGLPosePass`. */
export const paletteTexelGLSL = /* glsl */ `
// Where an instance's matrices begin.
ivec2 paletteTexel( int instance ) {

  int shift = int( CROWD_ROWS );
  int row = instance >> shift;
  return ivec2( ( instance - ( row << shift ) ) * int( CROWD_STRIDE ), row );

}

`;

/** Reads a joint's matrix from an exact palette: its rows, as bits of floats. */
export const exactPaletteGLSL = /* glsl */ `
mat3x4 jointMatrix_exact( ivec2 palette, int joint ) {

  ivec2 at = palette + ivec2( joint, 0 );
  return mat3x4(
    uintBitsToFloat( texelFetch( CROWD_PALETTE_ROW0, at, 0 ) ),
    uintBitsToFloat( texelFetch( CROWD_PALETTE_ROW1, at, 0 ) ),
    uintBitsToFloat( texelFetch( CROWD_PALETTE_ROW2, at, 0 ) )
  );

}
`;

/**
 * Reads a joint's matrix from a compact palette: nine signed 16-bit shares of a scale, which is a 16-bit float, and the
 * translation as bits of floats.
 */
export const compactPaletteGLSL = /* glsl */ `
mat3x4 jointMatrix_compact( ivec2 palette, int joint ) {

  ivec2 at = palette + ivec2( joint, 0 );
  uvec4 shares = texelFetch( CROWD_PALETTE_ROW0, at, 0 );
  uvec4 rest = texelFetch( CROWD_PALETTE_ROW1, at, 0 );
  float scale = unpackHalf2x16( rest.x ).y;
  vec3 translation = uintBitsToFloat( rest.yzw );
  vec2 z = scale * unpackSnorm2x16( shares.w );
  return mat3x4(
    vec4( scale * unpackSnorm2x16( shares.x ), z.x, translation.x ),
    vec4( scale * unpackSnorm2x16( shares.y ), z.y, translation.y ),
    vec4( scale * unpackSnorm2x16( shares.z ), scale * unpackSnorm2x16( rest.x ).x, translation.z )
  );

}
`;

/** Writes what `compactPaletteGLSL` reads. */
export const packCompactGLSL = /* glsl */ `
// At least so much is the largest of the nine numbers taken for, so that the scale is no denormal number.
const float LEAST_SCALE = 1.0e-4;

void writeCompact( mat3x4 rows ) {

  vec3 largest = max( max( abs( rows[ 0 ].xyz ), abs( rows[ 1 ].xyz ) ), abs( rows[ 2 ].xyz ) );
  float most = max( max( largest.x, largest.y ), max( largest.z, LEAST_SCALE ) );
  // A 16-bit float may be lower than what it stands for by 2^-10 of it.
  uint half_ = packHalf2x16( vec2( 0.0, most * ( 1.0 + 1.0 / 512.0 ) ) ) & 0xffff0000u;
  float share = 1.0 / unpackHalf2x16( half_ ).y;
  texel0 = uvec4(
    packSnorm2x16( share * rows[ 0 ].xy ),
    packSnorm2x16( share * rows[ 1 ].xy ),
    packSnorm2x16( share * rows[ 2 ].xy ),
    packSnorm2x16( share * vec2( rows[ 0 ].z, rows[ 1 ].z ) )
  );
  uint last = packSnorm2x16( vec2( share * rows[ 2 ].z, 0.0 ) ) & 0x0000ffffu;
  texel1 = uvec4( half_ | last, floatBitsToUint( vec3( rows[ 0 ].w, rows[ 1 ].w, rows[ 2 ].w ) ) );

}
`;

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
    skin += weights.x * jointMatrix_${palette}( palette, int( joints.x ) );
    joints = joints.yzwx;
    weights = weights.yzwx;

  }

  ${morphs ? 'addPosedMorphs( palette );' : ''}
  return skin;

}
`;
}
