import { HEADER_PHASE } from '../lib/playback/instanceLayout.js';
import { playedTexelGLSL } from './playedActions.glsl.js';

const KIND = `int( texelFetch( CROWD_PLAYED, playedTexel( instance ), 0 )[ ${HEADER_PHASE} ] )`;

/** Reads the texels that `lib/features/kinds/fitBody.ts` writes, a row for each kind, which stands before the point in a header. */
const functionsGLSL = /*@__PURE__*/ (() => /* glsl */ `
uniform highp sampler2D bodies;

// Puts the translation of a node where the instance's body has it.
void fitBody( int instance, int node, inout vec4 translation ) {

  vec4 fit = texelFetch( bodies, ivec2( node, ${KIND} ), 0 );
  translation.xyz = fit.xyz + fit.w * translation.xyz;

}

// The inverse bind matrix of a joint of the instance's body.
mat3x4 bodyInverse( int instance, int joint ) {

  ivec2 at = ivec2( passLayout.x + joint * 3, ${KIND} );
  return mat3x4(
    texelFetch( bodies, at, 0 ),
    texelFetch( bodies, at + ivec2( 1, 0 ), 0 ),
    texelFetch( bodies, at + ivec2( 2, 0 ), 0 )
  );

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
