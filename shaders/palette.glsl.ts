import { PALETTE_COLUMNS } from '../lib/constants.js';
import type { ShaderVariant } from './ShaderVariant.js';

/** The product of two affine matrices, as rows. */
export const multiplyRowsGLSL = /* glsl */ `
vec4 multiplyRow( vec4 row, mat3x4 by ) {

  return row.x * by[ 0 ] + row.y * by[ 1 ] + row.z * by[ 2 ] + vec4( 0.0, 0.0, 0.0, row.w );

}

// a * b, both as rows.
mat3x4 multiplyRows( mat3x4 a, mat3x4 b ) {

  return mat3x4( multiplyRow( a[ 0 ], b ), multiplyRow( a[ 1 ], b ), multiplyRow( a[ 2 ], b ) );

}
`;

/** Where the pose pass has written an instance's matrices, see `WebGLPosePass`. */
export const paletteTexelGLSL = (): string => /* glsl */ `
// Where the matrices of the instance that is drawn begin.
ivec2 paletteTexel() {

  int shift = int( CROWD_ROWS ) & 31;
  int row = crowdRow >> shift;
  return ivec2( ( crowdRow - ( row << shift ) ) * ( int( CROWD_STRIDE ) + 1 ), row + ( int( CROWD_ROWS ) >> 5 ) );

}

mat3x4 paletteRows( ivec2 at ) {

  return mat3x4(
    uintBitsToFloat( texelFetch( CROWD_ROW0, at, 0 ) ),
    uintBitsToFloat( texelFetch( CROWD_ROW1, at, 0 ) ),
    uintBitsToFloat( texelFetch( CROWD_ROW2, at, 0 ) )
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

/** Influences of morph targets, which the pass has written behind the joints. */
export const paletteMorphsGLSL = /* glsl */ `
void addPosedMorphs( ivec2 palette ) {

  #ifdef USE_MORPHTARGETS

    for ( int i = 0; i < MORPHTARGETS_COUNT; i ++ ) {

      ivec2 at = palette + ivec2( CROWD_MORPH_TEXEL + ( i >> 2 ), 0 );
      crowdMorphs[ i ] = uintBitsToFloat( texelFetch( CROWD_ROW0, at, 0 )[ i & 3 ] );

    }

  #endif

}
`;

/**
 * A loop over the joints that a vertex follows. Their weights are sorted, so it ends at the first that is zero; and it is a loop, not a
 * row of `if`s, because some drivers run both sides of an `if`.
 *
 * @param add Is done with `int( joints.x )` and `weights.x`.
 */
export const eachJointGLSL = (
  influences: ShaderVariant['influences'] | 'INFLUENCES',
  add: string,
): string => /* glsl */ `
  vec4 joints = ${PALETTE_COLUMNS};
  vec4 weights = skinWeight;

  // A variant may follow fewer joints than the geometry has, for instance in shadow maps: then the weights of those it follows, which
  // are the strongest, are scaled to add up to 1 again.
  if ( ${influences} == 1 ) weights.x = 1.0;
  if ( ${influences} == 2 ) weights /= weights.x + weights.y;

  for ( int i = 0; i < ${influences}; i ++ ) {

    if ( weights.x <= 0.0 ) break;
    ${add}
    joints = joints.yzwx;
    weights = weights.yzwx;

  }
`;

/** The same for nodes. */
export const followJointsGLSL = /*@__PURE__*/ (() => /* glsl */ `
void followJoints() {
${eachJointGLSL('INFLUENCES', /* glsl */ `followJoint( int( joints.x ), weights.x );`)}
}
`)();

/**
 * The weighted sum of the vertex's joints, as rows, from the palette that the pose pass has written. What plays, and how
 * many clips, makes no difference here.
 */
export function paletteMatrixGLSL(name: string, { influences, morphs }: ShaderVariant): string {
  return /* glsl */ `
mat3x4 ${name}() {

  mat3x4 skin = mat3x4( 0.0 );
  ivec2 palette = paletteTexel();
  ${eachJointGLSL(influences, /* glsl */ `skin += weights.x * paletteRows( palette + ivec2( int( joints.x ), 0 ) );`)}

  ${morphs ? /* glsl */ `addPosedMorphs( palette );` : ''}
  #ifdef CROWD_UNPLACED
    crowdBack = unplacingRows();
  #endif
  return skin;

}
`;
}
