import { RANGES, SLOT_HEAD, STEP_SLACK } from '../lib/animation/PoseTracks.js';
import { ENTRY_CONSTANT, ENTRY_STEP, ENTRY_STEPPED } from '../lib/animation/trackTexels.js';

/**
 * Twin of `mixPose` in `lib/animation`: reads the tracks of what plays and mixes them as three.js's `PropertyMixer` does.
 * Needs `slerpGLSL`, `trackTexel`, `readKey` and `trackLayout`.
 *
 * @param entry Changes entries of the table, see `bodiesGLSL`.
 * @param key Reads what they say then.
 */
export const mixTracksGLSL = (entry = '', key = ''): string => /* glsl */ `
struct Action {
  int table;
  int stride;
  float frame;
  float weight;
  bool additive;
};

vec4 mixValue( vec4 a, vec4 b, float t, bool turns ) {

  return turns ? slerp( a, b, t ) : a + ( b - a ) * t;

}

vec4 addValue( vec4 a, vec4 b, float t, bool turns ) {

  return turns ? slerp( a, multiplyQuaternions( a, b ), t ) : a + b * t;

}

vec4 readTrack( int entry, int range, int stride, float frame, bool turns ) {

  ${key}
  int first = entry / ${ENTRY_STEP};
  if ( ( entry & ${ENTRY_CONSTANT} ) != 0 ) return trackTexel( first );
  bool stepped = ( entry & ${ENTRY_STEPPED} ) != 0;
  float whole = floor( stepped ? frame + ${STEP_SLACK} : frame );
  int at = first + int( whole ) * stride;
  vec4 value = readKey( at, range, turns );
  float alpha = stepped ? 0.0 : frame - whole;
  return alpha > 0.0 ? mixValue( value, readKey( at + stride, range, turns ), alpha, turns ) : value;

}

// Where a frame of a clip is among those that are stored, where these do not lie evenly in time.
float storedFrame( int slots, float frame ) {

  vec4 head = trackTexel( slots );
  float place = clamp( ( frame - head.x ) * head.y, 0.0, head.z );
  if ( head.w == 0.0 ) return place;
  float whole = floor( place );
  int slot = int( whole ) + ${SLOT_HEAD};
  float stored = trackTexel( slots + ( slot >> 2 ) )[ slot & 3 ];
  slot ++;
  return stored + ( place - whole ) * ( trackTexel( slots + ( slot >> 2 ) )[ slot & 3 ] - stored );

}

// An action of a clip, some frames into it.
Action actionOf( vec4 clip, float frame, float weight ) {

  vec4 record = trackTexel( trackLayout.z + int( clip.x ) - 1 );
  if ( record.w > 0.0 ) frame = storedFrame( int( record.w ), frame );
  return Action( int( record.x ), int( record.y ), frame, weight, record.z > 0.5 );

}

// What the actions of a layer have come to, and what those below it show.
struct Mixed {
  vec4 below;
  vec4 value;
  float weights;
  vec4 added;
  float addedWeights;
};

Mixed mixedOver( vec4 below, bool turns ) {

  return Mixed( below, below, 0.0, vec4( 0.0, 0.0, 0.0, float( turns ) ), 0.0 );

}

void mixAction( inout Mixed mixed, int entry, int range, Action action, bool turns ) {

  if ( entry != - 1 ) {

    vec4 value = readTrack( entry, range, action.stride, action.frame, turns );
    if ( action.additive ) {

      mixed.added = addValue( mixed.added, value, action.weight, turns );
      mixed.addedWeights += action.weight;

    } else if ( mixed.weights == 0.0 ) {

      mixed.value = value;
      mixed.weights = action.weight;

    } else {

      mixed.weights += action.weight;
      mixed.value = mixValue( mixed.value, value, action.weight / mixed.weights, turns );

    }

  }

}

// Lays a layer over what those below it show.
void endLayer( inout Mixed mixed, float share, bool turns ) {

  vec4 value = mixed.below;
  float t = min( mixed.weights, 1.0 ) * share;
  if ( t >= 1.0 ) value = mixed.value;
  else if ( t > 0.0 ) value = mixValue( value, mixed.value, t, turns );
  if ( mixed.addedWeights > 0.0 ) value = addValue( value, mixed.added, share, turns );
  mixed = mixedOver( value, turns );

}

// Rotation, translation and scale of a node; influences of a group of morph targets are in the place of the translation.
struct Transform {
  Mixed rotation;
  Mixed translation;
  Mixed scale;
};

void mixAll( inout Transform mixed, int entry, Action action ) {

  vec4 entries = trackTexel( action.table + entry );
  ${entry}
  // Ranges of a scale come after those of the translation.
  int range = int( entries[ ${RANGES} ] );
  mixAction( mixed.rotation, int( entries.x ), range, action, true );
  mixAction( mixed.translation, int( entries.y ), range, action, false );
  mixAction( mixed.scale, int( entries.z ), range + 2, action, false );

}

void endAll( inout Transform mixed, float share ) {

  endLayer( mixed.rotation, share, true );
  endLayer( mixed.translation, share, false );
  endLayer( mixed.scale, share, false );

}
`;
