import { OWN_KEYS, TRACK_ROW } from '../lib/animation/trackTexels.js';
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

// How the body has the translation of a node.
vec4 bodyFit( int row, int node ) {

  return bodyTexel( row, node );

}

// The entry of what the body has in place of a clip's translation, if there is a texel that says where that is.
float bodyEntry( int row, int at, float entry ) {

  float first = bodyTexel( row, at ).x;
  return first > 0.0 ? - 2.0 - first - float( row * ${TRACK_ROW} + at ) : entry;

}

vec4 bodyKey( int at, float frame ) {

  float place = frame * ${OWN_KEYS}.0;
  float whole = floor( place );
  at += int( whole );
  vec4 key = bodyTexel( 0, at );
  return key + ( place - whole ) * ( bodyTexel( 0, at + 1 ) - key );

}

// The inverse bind matrix of a joint of the body.
mat3x4 bodyInverse( int row, int joint ) {

  int at = passLayout.x + joint * 3;
  return mat3x4( bodyTexel( row, at ), bodyTexel( row, at + 1 ), bodyTexel( row, at + 2 ) );

}
`)();

/**
 * How the body has the translation of the node that is sampled, and the row of the body if it has something in place of that of clips;
 * else -1.
 */
export const bodyGlobalsGLSL = 'vec4 nodeFit = vec4( 0.0 ); int ownRow = - 1;';

/** What passes need for bodies of other proportions than the keys' own: functions, and where they are called. */
export const bodiesGLSL = {
  functions: /*@__PURE__*/ (() => functionsGLSL + bodyGlobalsGLSL)(),
  begin: /* glsl */ `
ownRow = - 1;
if ( isNode ) {

  int row = bodyRow( instance );
  nodeFit = bodyFit( row, entry );
  if ( nodeFit.w < 0.0 ) ownRow = row;

}
`,
  entry: /* glsl */ `
if ( ownRow >= 0 ) {

  int joints = int( trackTexel( trackLayout.x ).w );
  entries.y = bodyEntry( ownRow, passLayout.x + joints * 3 + ( action.table - trackLayout.z ) / passLayout.y, entries.y );

}
`,
  key: 'if ( entry < - 1 ) return bodyKey( - 2 - entry, frame );',
  fit: 'mixed.translation.below.xyz = nodeFit.xyz + abs( nodeFit.w ) * mixed.translation.below.xyz;',
  inverse: 'bodyInverse( bodyRow( instance ), int( chain.w ) )',
};

/** The functions for nodes. */
export const bodyGLSL = /*@__PURE__*/ (() =>
  playedTexelGLSL('playedLayout.z', 'playedLayout.y') + functionsGLSL)();
