import { HEADER_PHASE } from '../lib/playback/instanceLayout.js';

/** Text for bodies of other proportions than the keys' own. It comes with `CrowdKinds`. */
export interface BodiesGLSL {
  readonly common: string;
  /** Puts the translation of a node where the instance's body has it. */
  readonly fit: string;
  /** The inverse bind matrix of a joint of the instance's body. */
  readonly inverse: string;
}

/** Reads the texels that `lib/features/kinds/bodyTexels.ts` writes: a row for each kind. Needs `playedTexel`. */
export const bodiesGLSL: BodiesGLSL = {
  common: /* glsl */ `
uniform highp sampler2D bodies;

// The texel of a body of an instance, in whose header the kind stands before the point.
ivec2 bodyTexel( int instance, int at ) {

  return ivec2( at, int( texelFetch( CROWD_PLAYED, playedTexel( instance ), 0 )[ ${HEADER_PHASE} ] ) );

}

mat3x4 bodyRows( ivec2 at ) {

  return mat3x4(
    texelFetch( bodies, at, 0 ),
    texelFetch( bodies, at + ivec2( 1, 0 ), 0 ),
    texelFetch( bodies, at + ivec2( 2, 0 ), 0 )
  );

}
`,
  fit: /* glsl */ `
    vec4 fit = texelFetch( bodies, bodyTexel( instance, entry ), 0 );
    translation.xyz = fit.xyz + fit.w * translation.xyz;
`,
  inverse: 'bodyRows( bodyTexel( instance, passLayout.x + joint * 3 ) )',
};
