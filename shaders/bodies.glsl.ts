import { TRACK_ROW } from '../lib/animation/trackTexels.js';
import { HEADER_PHASE } from '../lib/playback/instanceLayout.js';
import { playedTexelGLSL } from './playedActions.glsl.js';

/** Reads the texels that `lib/features/kinds/fitBody.ts` writes. */
const functionsGLSL = /*@__PURE__*/ (() => /* glsl */ `
uniform highp sampler2D bodies;

// The first row of the instance's body, which stands before the point in a header.
int bodyRow( int instance ) {

  return int( texelFetch( CROWD_PLAYED, playedTexel( instance ), 0 )[ ${HEADER_PHASE} ] );

}

vec4 bodyTexel( int row, int at ) {

  return texelFetch( bodies, ivec2( at & ${TRACK_ROW - 1}, row + ( at >> ${Math.log2(TRACK_ROW)} ) ), 0 );

}

// Puts the translation of a node where the instance's body has it.
void fitBody( int instance, int node, inout vec4 translation ) {

  vec4 fit = bodyTexel( bodyRow( instance ), node );
  translation.xyz = fit.xyz + fit.w * translation.xyz;

}

// The inverse bind matrix of a joint of the instance's body.
mat3x4 bodyInverse( int instance, int joint ) {

  int row = bodyRow( instance );
  int at = passLayout.x + joint * 3;
  return mat3x4( bodyTexel( row, at ), bodyTexel( row, at + 1 ), bodyTexel( row, at + 2 ) );

}
`)();

/** What passes need for bodies of other proportions than the keys' own: functions, and where they are called. */
export const bodiesGLSL = {
  functions: functionsGLSL,
  fit: 'fitBody( instance, entry, mixed.translation.below );',
  inverse: 'bodyInverse( instance, column )',
};

/** The functions for nodes. */
export const bodyGLSL = /*@__PURE__*/ (() =>
  playedTexelGLSL('playedLayout.z', 'playedLayout.y') + functionsGLSL)();
