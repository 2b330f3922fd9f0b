import { LIST_TEXELS, LIST_TEXELS_BITS, PLACED } from '../lib/constants.js';
import type { ShaderVariant } from './ShaderVariant.js';

/** Where the pose pass has written an instance's matrices, see `WebGLPosePass`. */
export const paletteTexelGLSL = /* glsl */ `
// Where the matrices of the instance that is drawn begin.
ivec2 paletteTexel() {

  int shift = int( CROWD_ROWS );
  int place = instanceIndex();
  // In a crowd that is drawn whole, or is small, each has the place of its own number.
  #ifdef CROWD_VIEWED
    if ( shift >= ${PLACED} ) {

      shift -= ${PLACED};
      int group = place >> 2;
      ivec2 at = ivec2( group & ${LIST_TEXELS - 1}, group >> ${LIST_TEXELS_BITS} );
      place = int( texelFetch( CROWD_PLACES, at, 0 )[ place & 3 ] );

    }
  #endif
  int row = place >> shift;
  return ivec2( ( place - ( row << shift ) ) * int( CROWD_STRIDE ), row );

}

`;

/** Adds a joint's matrix times a weight: its rows, as bits of floats. */
export const paletteJointGLSL = /* glsl */ `
void addJoint( inout mat3x4 skin, ivec2 palette, int joint, float weight ) {

  ivec2 at = palette + ivec2( joint, 0 );
  skin[ 0 ] += weight * uintBitsToFloat( texelFetch( CROWD_PALETTE_ROW0, at, 0 ) );
  skin[ 1 ] += weight * uintBitsToFloat( texelFetch( CROWD_PALETTE_ROW1, at, 0 ) );
  skin[ 2 ] += weight * uintBitsToFloat( texelFetch( CROWD_PALETTE_ROW2, at, 0 ) );

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
 * A variant may follow fewer joints than the geometry has, for instance in shadow maps. Then the weights of those it follows,
 * which are the strongest, are scaled to add up to 1 again.
 */
export const STRONGEST: Record<ShaderVariant['influences'], string> = {
  1: 'weights.x = 1.0;',
  2: 'weights.xy /= weights.x + weights.y;',
  4: '',
};

/**
 * The weighted sum of the vertex's joints, as rows, from the palette that the pose pass has written. What plays, and how
 * many clips, makes no difference here.
 */
export function paletteMatrixGLSL(name: string, { influences, morphs }: ShaderVariant): string {
  return /* glsl */ `
mat3x4 ${name}() {

  mat3x4 skin = mat3x4( 0.0 );
  ivec2 palette = paletteTexel();
  vec4 joints = skinIndex;
  vec4 weights = skinWeight;
  ${STRONGEST[influences]}

  for ( int i = 0; i < ${influences}; i ++ ) {

    if ( weights.x <= 0.0 ) break;
    addJoint( skin, palette, int( joints.x ), weights.x );
    joints = joints.yzwx;
    weights = weights.yzwx;

  }

  ${morphs ? 'addPosedMorphs( palette );' : ''}
  return skin;

}
`;
}
