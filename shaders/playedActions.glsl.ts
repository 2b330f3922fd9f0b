import { CLOCK_EPOCH } from '../lib/constants.js';
import {
  ACTION_TEXELS,
  actionsRowBits,
  actionsTexels,
  firstAction,
  HEADER_EPOCH,
  MAX_ACTIONS,
} from '../lib/playback/instanceLayout.js';

/** Names the layout of what instances play, see `lib/playback/instanceLayout.ts`. */
export const playedLayoutGLSL = (layers: number): string => /* glsl */ `
#define PLAYED_LAYERS ${layers}
#define PLAYED_FIRST ${firstAction(layers)}
#define PLAYED_TEXELS ${actionsTexels(layers)}
#define PLAYED_ROW_BITS ${actionsRowBits(layers)}
`;

/**
 * Where the texels of an instance begin among those of what instances play, see `lib/playback/ActionTexels.ts`, and what its
 * actions show at `CROWD_CLOCK` seconds of the epoch `CROWD_EPOCH`. Reads `CROWD_PLAYED`, and needs `playedLayoutGLSL`.
 */
export const playedTexelGLSL = /* glsl */ `
// Epochs since the one from whose beginning the instance's times count, and seconds since then.
float playedAge = 0.0;
float playedClock = 0.0;

ivec2 playedTexel( int instance ) {

  int row = instance >> PLAYED_ROW_BITS;
  ivec2 at = ivec2( ( instance - ( row << PLAYED_ROW_BITS ) ) * PLAYED_TEXELS, row );
  playedAge = CROWD_EPOCH - texelFetch( CROWD_PLAYED, at, 0 )[ ${HEADER_EPOCH} ];
  playedClock = CROWD_CLOCK + playedAge * ${CLOCK_EPOCH}.0;
  return at;

}
`;

/**
 * Mixes what an instance plays, as far as it shows on an entry: its nodes, then groups of four morph targets. Needs `frameAtGLSL`, and
 * what `layersGLSL` has.
 */
export const playedActionsGLSL = /* glsl */ `
// The clip that was started first comes first, as in a mixer; layers come one after another.
void mixActions( int instance, int entry, inout Transform mixed ) {

  ivec2 first = playedTexel( instance );
  ivec2 at = first + ivec2( PLAYED_FIRST, 0 );
  int layer = 0;
  float share = 1.0;
  for ( int i = 0; i < PLAYED_LAYERS * ${MAX_ACTIONS}; i ++, at.x += ${ACTION_TEXELS} ) {

    vec4 clip = texelFetch( CROWD_PLAYED, at, 0 );
    if ( clip.x < 0.5 ) break;
    int its = layerOf( clip, layer );
    if ( its != layer ) {

      endAll( mixed, share );
      layer = its;
      share = layerShare( entry, layer, playedClock, texelFetch( CROWD_PLAYED, first + ivec2( layer, 0 ), 0 ) );

    }
    float weight = 0.0;
    if ( share > 0.0 ) weight = rampAt( playedClock, texelFetch( CROWD_PLAYED, at + ivec2( 2, 0 ), 0 ) );
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
