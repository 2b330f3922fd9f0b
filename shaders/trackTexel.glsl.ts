import { TRACK_ROW } from '../lib/tracks/trackTexels.js';

/** Reads the texels that `lib/tracks/trackTexels.ts` writes. */
export const trackTexelGLSL = /*@__PURE__*/ (() => /* glsl */ `
uniform highp sampler2D tracks;
/* Texels at which nodes, joints and clips begin. */
uniform ivec3 trackLayout;

vec4 trackTexel( int at ) {

  return texelFetch( tracks, ivec2( at & ${TRACK_ROW - 1}, at >> ${Math.log2(TRACK_ROW)} ), 0 );

}

mat3x4 matrixRows( int at ) {

  return mat3x4( trackTexel( at ), trackTexel( at + 1 ), trackTexel( at + 2 ) );

}
`)();
