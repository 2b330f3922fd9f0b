import { STEP_SLACK } from '../lib/tracks/PoseTracks.js';
import { ENTRY_CONSTANT, ENTRY_STEP, ENTRY_STEPPED } from '../lib/tracks/trackTexels.js';

/** Twin of `mixPose` in `lib/tracks`: reads the tracks of what plays and mixes them as three.js's `PropertyMixer` does. */
export const mixTracksGLSL = /*@__PURE__*/ (() => /* glsl */ `
struct Action {
  int table;
  int stride;
  float frame;
  float weight;
  bool additive;
};

Action actions[ MAX_ACTIONS ];
int actionCount = 0;

vec4 mixValue( vec4 a, vec4 b, float t, bool turns ) {

  return turns ? slerp( a, b, t ) : a + ( b - a ) * t;

}

vec4 multiplyQuaternions( vec4 a, vec4 b ) {

  return vec4( a.w * b.xyz + b.w * a.xyz + cross( a.xyz, b.xyz ), a.w * b.w - dot( a.xyz, b.xyz ) );

}

vec4 addValue( vec4 a, vec4 b, float t, bool turns ) {

  return turns ? slerp( a, multiplyQuaternions( a, b ), t ) : a + b * t;

}

vec4 readTrack( int entry, Action action, bool turns ) {

  int first = entry / ${ENTRY_STEP};
  if ( ( entry & ${ENTRY_CONSTANT} ) != 0 ) return trackTexel( first );
  bool stepped = ( entry & ${ENTRY_STEPPED} ) != 0;
  float whole = floor( stepped ? action.frame + ${STEP_SLACK} : action.frame );
  int at = first + int( whole ) * action.stride;
  vec4 value = trackTexel( at );
  float alpha = stepped ? 0.0 : action.frame - whole;
  return alpha > 0.0 ? mixValue( value, trackTexel( at + action.stride ), alpha, turns ) : value;

}

vec4 mixProperty( int node, int property, vec4 rest ) {

  bool turns = property == 0;
  vec4 value = rest;
  vec4 mixed = rest;
  vec4 added = turns ? vec4( 0.0, 0.0, 0.0, 1.0 ) : vec4( 0.0 );
  float weights = 0.0;
  float addedWeights = 0.0;

  for ( int i = 0; i < actionCount; i ++ ) {

    Action action = actions[ i ];
    int entry = int( trackTexel( action.table + node )[ property ] );
    if ( entry < 0 ) continue;
    vec4 sampled = readTrack( entry, action, turns );
    if ( action.additive ) {

      added = addValue( added, sampled, action.weight, turns );
      addedWeights += action.weight;

    } else if ( weights == 0.0 ) {

      mixed = sampled;
      weights = action.weight;

    } else {

      weights += action.weight;
      mixed = mixValue( mixed, sampled, action.weight / weights, turns );

    }

  }

  if ( weights >= 1.0 ) value = mixed;
  else if ( weights > 0.0 ) value = mixValue( value, mixed, weights, turns );
  if ( addedWeights > 0.0 ) value = addValue( value, added, 1.0, turns );
  return value;

}
`)();
