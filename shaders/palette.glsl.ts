import type { ShaderVariant } from './ShaderVariant.js';
import { STRONGEST } from './skinningMatrix.glsl.js';

/** Reads what the pose pass has written, see `WebGLPosePass`. */
export const paletteGLSL = /* glsl */ `
// Where an instance's matrices begin.
ivec2 paletteTexel( int instance ) {

  int shift = int( CROWD_ROWS );
  int row = instance >> shift;
  return ivec2( ( instance - ( row << shift ) ) * int( CROWD_STRIDE ), row );

}

mat3x4 jointMatrix_palette( ivec2 palette, int joint ) {

  ivec2 at = palette + ivec2( joint, 0 );
  return mat3x4(
    uintBitsToFloat( texelFetch( CROWD_PALETTE_ROW0, at, 0 ) ),
    uintBitsToFloat( texelFetch( CROWD_PALETTE_ROW1, at, 0 ) ),
    uintBitsToFloat( texelFetch( CROWD_PALETTE_ROW2, at, 0 ) )
  );

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
export function paletteMatrixGLSL(name: string, { influences, parts, morphs }: ShaderVariant): string {
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
    skin += weights.x * jointMatrix_palette( palette, int( joints.x ) );
    joints = joints.yzwx;
    weights = weights.yzwx;

  }

  ${morphs ? 'addPosedMorphs( palette );' : ''}
  return skin;

}
`;
}
