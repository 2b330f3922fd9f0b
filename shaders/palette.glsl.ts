import type { ShaderVariant } from './ShaderVariant.js';

/** The product of two affine matrices, as rows. */
export const multiplyRowsGLSL = /* glsl */ `
// a * b, both as rows.
mat3x4 multiplyRows( mat3x4 a, mat3x4 b ) {

  return mat3x4(
    a[ 0 ].x * b[ 0 ] + a[ 0 ].y * b[ 1 ] + a[ 0 ].z * b[ 2 ] + vec4( 0.0, 0.0, 0.0, a[ 0 ].w ),
    a[ 1 ].x * b[ 0 ] + a[ 1 ].y * b[ 1 ] + a[ 1 ].z * b[ 2 ] + vec4( 0.0, 0.0, 0.0, a[ 1 ].w ),
    a[ 2 ].x * b[ 0 ] + a[ 2 ].y * b[ 1 ] + a[ 2 ].z * b[ 2 ] + vec4( 0.0, 0.0, 0.0, a[ 2 ].w )
  );

}
`;

/** Where the pose pass has written an instance's matrices, see `WebGLPosePass`. */
export const paletteTexelGLSL = (): string => /* glsl */ `
// Where the matrices of the instance that is drawn begin.
ivec2 paletteTexel() {

  int shift = int( CROWD_ROWS );
  int row = crowdRow >> shift;
  return ivec2( ( crowdRow - ( row << shift ) ) * ( int( CROWD_STRIDE ) + 1 ), row );

}

mat3x4 paletteRows( ivec2 at ) {

  return mat3x4(
    uintBitsToFloat( texelFetch( CROWD_PALETTE_ROW0, at, 0 ) ),
    uintBitsToFloat( texelFetch( CROWD_PALETTE_ROW1, at, 0 ) ),
    uintBitsToFloat( texelFetch( CROWD_PALETTE_ROW2, at, 0 ) )
  );

}

// The inverse of the instance's matrix, behind all else.
mat3x4 unplacingRows() {

  return paletteRows( paletteTexel() + ivec2( int( CROWD_STRIDE ), 0 ) );

}

#ifdef CROWD_UNPLACED
  // Takes what a skinning matrix has posed and placed back to where the instance is the origin.
  mat3x4 crowdBack = mat3x4( 1.0 );
  #define CROWD_BACK
#endif
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
  #ifdef CROWD_UNPLACED
    crowdBack = unplacingRows();
  #endif
  return skin;

}
`;
}
