import { SHORT_ONE } from '../lib/animation/PoseTracks.js';
import { SHORT_ROW, TRACK_ROW } from '../lib/animation/trackTexels.js';

/** A key of 16 bits: eight of them are in a texel. Needs `trackTexel`. */
export const shortKeyGLSL = /*@__PURE__*/ (() => /* glsl */ `
vec4 readKey( int at, int range, bool turns ) {

  int pair = at >> 1;
  uvec4 four = texelFetch( shortKeys, ivec2( pair & ${SHORT_ROW - 1}, pair >> ${Math.log2(SHORT_ROW)} ), 0 );
  uvec2 bits = ( at & 1 ) == 0 ? four.xy : four.zw;
  vec4 key = vec4( float( bits.x & 0xffffu ), float( bits.x >> 16 ), float( bits.y & 0xffffu ), float( bits.y >> 16 ) );
  if ( turns ) return normalize( key / ${SHORT_ONE}.0 - 1.0 );
  return trackTexel( range ) + trackTexel( range + 1 ) * key;

}
`)();

/** Reads the texels that `lib/animation/trackTexels.ts` writes. */
export const trackTexelGLSL = /*@__PURE__*/ (() => /* glsl */ `
uniform highp sampler2D tracks;

vec4 trackTexel( int at ) {

  return texelFetch( tracks, ivec2( at & ${TRACK_ROW - 1}, at >> ${Math.log2(TRACK_ROW)} ), 0 );

}

#ifdef SHORT_KEYS

uniform highp usampler2D shortKeys;
${shortKeyGLSL}
#else

#define readKey( at, range, turns ) trackTexel( at )

#endif

mat3x4 matrixRows( int at ) {

  return mat3x4( trackTexel( at ), trackTexel( at + 1 ), trackTexel( at + 2 ) );

}
`)();
