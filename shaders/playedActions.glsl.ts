import { LOOP_MODES } from '../lib/constants.js';
import { ACTION_TEXELS, actionsRowBits, actionsTexels, firstAction } from '../lib/playback/instanceLayout.js';

/** Reads what an instance plays, see `lib/playback/ActionTexels.ts`. */
export const playedActionsGLSL = /*@__PURE__*/ (() => /* glsl */ `
// From one weight to another, from a time on, by a share of the way each second; at a rate of 0, the way is done.
float fadeDone( float start, float rate ) {

  return rate == 0.0 ? 1.0 : clamp( ( clock - start ) * rate, 0.0, 1.0 );

}

// The action whose first texel is at a place; one that has finished and let go shows the rest pose, and is none.
bool readAction( ivec2 at, vec4 clip, out Action action ) {

  vec4 timing = texelFetch( played, at + ivec2( 1, 0 ), 0 );
  vec4 weights = texelFetch( played, at + ivec2( 2, 0 ), 0 );
  float done = fadeDone( timing.z, timing.w );
  float weight = weights.x + ( weights.y - weights.x ) * done;
  if ( weight <= 0.0 ) return false;
  float warped = fadeDone( weights.z, abs( weights.w ) );
  float ease = weights.w > 0.0 ? warped : 1.0 - warped;
  float count = floor( clip.y * ${1 / LOOP_MODES} );
  float loop = clip.y - count * ${LOOP_MODES}.0;
  FrameMix mixed = frameAt( clock, 1.0, count, clip.z + clip.w * ease * ease, loop, timing.x, timing.y, true );
  if ( mixed.frame0 < 0.5 ) return false;
  vec4 record = trackTexel( trackLayout.z + int( clip.x ) - 1 );
  action = Action( int( record.x ), int( record.y ), mixed.frame0 - 1.0 + mixed.alpha, weight, record.z > 0.5 );
  return true;

}

// The clip that was started first comes first, as in a mixer.
void collectActions( int instance ) {

  int row = instance >> ${actionsRowBits(1)};
  ivec2 at = ivec2( ( instance - ( row << ${actionsRowBits(1)} ) ) * ${actionsTexels(1)} + ${firstAction(1)}, row );
  for ( int i = 0; i < MAX_ACTIONS; i ++ ) {

    vec4 clip = texelFetch( played, at, 0 );
    if ( clip.x < 0.5 ) break;
    Action action;
    if ( readAction( at, clip, action ) ) actions[ actionCount ++ ] = action;
    at.x += ${ACTION_TEXELS};

  }

}
`)();
