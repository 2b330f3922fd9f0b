import { CLOCK_EPOCH } from '../lib/constants.js';
import { ACTION_TEXELS, HEADER_EPOCH } from '../lib/playback/instanceLayout.js';

/**
 * Where the texels of an instance begin among those of what instances play, see `lib/playback/ActionTexels.ts`, and what its
 * actions show at `CROWD_CLOCK` seconds of the epoch `CROWD_EPOCH`. Reads `CROWD_PLAYED`, and needs `frameAtGLSL`.
 *
 * @param rowBits `actionsRowBits` of the layers that there are, or GLSL of it.
 * @param texels GLSL of how many an instance has.
 */
export const playedTexelGLSL = (
  rowBits: number | string,
  texels = `textureSize( CROWD_PLAYED, 0 ).x >> ${rowBits}`,
): string => /* glsl */ `
// Epochs since the one from whose beginning the instance's times count, and seconds since then.
float playedAge = 0.0;
float playedClock = 0.0;
// Where in its row the instance's texels end.
int playedEnd = 0;

ivec2 playedTexel( int instance ) {

  int row = instance >> ${rowBits};
  int texels = ${texels};
  ivec2 at = ivec2( ( instance - ( row << ${rowBits} ) ) * texels, row );
  playedEnd = at.x + texels;
  playedAge = CROWD_EPOCH - texelFetch( CROWD_PLAYED, at, 0 )[ ${HEADER_EPOCH} ];
  playedClock = CROWD_CLOCK + playedAge * ${CLOCK_EPOCH}.0;
  return at;

}
`;

/**
 * Mixes what an instance plays, as far as it shows on an entry: its nodes, then groups of four morph targets.
 *
 * @param first Texels before its actions, or GLSL of them.
 * @param next What is done at an action that may be of another layer, see `layersGLSL`.
 */
export const playedActionsGLSL = (first: number | string, next: string): string => /* glsl */ `
// The clip that was started first comes first, as in a mixer; layers come one after another.
void mixActions( int instance, int entry, inout Transform mixed ) {

  ivec2 first = playedTexel( instance );
  ivec2 at = first + ivec2( ${first}, 0 );
  int layer = 0;
  float share = 1.0;
  for ( ; at.x < playedEnd; at.x += ${ACTION_TEXELS} ) {

    vec4 clip = texelFetch( CROWD_PLAYED, at, 0 );
    if ( clip.x < 0.5 ) break;
    float weight = rampAt( playedClock, texelFetch( CROWD_PLAYED, at + ivec2( 2, 0 ), 0 ) );
    ${next}
    if ( weight > 0.0 ) {

      vec4 timing = texelFetch( CROWD_PLAYED, at + ivec2( 1, 0 ), 0 );
      FrameMix shown = shownFrames( clip, timing, CROWD_CLOCK, playedAge, 1.0, true );
      // One that has finished and let go shows the rest pose, and is none.
      if ( shown.frame0 > 0.5 ) mixAll( mixed, entry, actionOf( clip, shown.frame0 - 1.0 + shown.alpha, weight ) );

    }

  }
  endAll( mixed, share );

}
`;
