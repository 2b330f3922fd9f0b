import { RANGES, SCALE, SLOT_PARTS, STEP_SLACK } from '../lib/animation/PoseTracks.js';
import { ENTRY_CONSTANT, ENTRY_STEP, ENTRY_STEPPED } from '../lib/animation/trackTexels.js';
import { MAX_ACTIONS } from '../lib/playback/instanceLayout.js';

/** Text for layers over the base. It comes with these. */
export interface LayersGLSL {
  /** Declares `layerShares`. */
  shares(layers: number): string;
  /** Lays what was mixed over what lies below it, before an action of another layer is mixed. */
  readonly next: string;
  /** `void readLayerShares( ivec2 at, int entry )`. */
  read(layers: number): string;
  /** Reads the layer of an action off its clip, and leaves out actions that do not show on the entry. */
  take(): string;
}

/**
 * Twin of `mixPose` in `lib/tracks`: reads the tracks of what plays and mixes them as three.js's `PropertyMixer` does.
 *
 * @param layers How many there are, with the base.
 */
export const mixTracksGLSL = (layers: number, over: LayersGLSL | null): string => /* glsl */ `
#define MAX_PLAYED ${MAX_ACTIONS * layers}

struct Action {
  int table;
  int stride;
  float frame;
  float weight;
  bool additive;
  int layer;
};

// Layers one after another.
Action actions[ MAX_PLAYED ];
int actionCount = 0;
${over?.shares(layers) ?? ''}
vec4 mixValue( vec4 a, vec4 b, float t, bool turns ) {

  return turns ? slerp( a, b, t ) : a + ( b - a ) * t;

}

vec4 addValue( vec4 a, vec4 b, float t, bool turns ) {

  return turns ? slerp( a, multiplyQuaternions( a, b ), t ) : a + b * t;

}

vec4 readTrack( int entry, int range, Action action, bool turns ) {

  int first = entry / ${ENTRY_STEP};
  if ( ( entry & ${ENTRY_CONSTANT} ) != 0 ) return trackTexel( first );
  bool stepped = ( entry & ${ENTRY_STEPPED} ) != 0;
  float whole = floor( stepped ? action.frame + ${STEP_SLACK} : action.frame );
  int at = first + int( whole ) * action.stride;
  vec4 value = readKey( at, range, turns );
  float alpha = stepped ? 0.0 : action.frame - whole;
  return alpha > 0.0 ? mixValue( value, readKey( at + action.stride, range, turns ), alpha, turns ) : value;

}

// Where a frame of a clip is among those that are stored, where these do not lie evenly in time.
float storedFrame( int slots, float frame ) {

  float whole = floor( frame );
  int slot = int( whole );
  float entry = trackTexel( slots + ( slot >> 2 ) )[ slot & 3 ];
  float first = floor( entry * ${1 / SLOT_PARTS} );
  return first + ( frame - whole ) * ( entry - first * ${SLOT_PARTS}.0 );

}

// What the actions of a layer have come to.
struct Mixed {
  vec4 value;
  float weights;
  vec4 added;
  float addedWeights;
};

void mixAction( inout Mixed mixed, vec4 value, Action action, bool turns ) {

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

// Lays a layer over what those below it show.
vec4 layOver( vec4 value, Mixed mixed, float share, bool turns ) {

  float t = min( mixed.weights, 1.0 ) * share;
  if ( t >= 1.0 ) value = mixed.value;
  else if ( t > 0.0 ) value = mixValue( value, mixed.value, t, turns );
  return mixed.addedWeights > 0.0 ? addValue( value, mixed.added, share, turns ) : value;

}

vec4 mixProperty( int node, int property, vec4 rest ) {

  bool turns = property == 0;
  Mixed none = Mixed( rest, 0.0, vec4( 0.0, 0.0, 0.0, turns ? 1.0 : 0.0 ), 0.0 );
  Mixed mixed = none;
  vec4 value = rest;
  int layer = 0;

  for ( int i = 0; i < actionCount; i ++ ) {

    Action action = actions[ i ];
    vec4 entries = trackTexel( action.table + node );
    int entry = int( entries[ property ] );
    if ( entry < 0 ) continue;
    ${over?.next ?? ''}
    // Ranges of a scale come after those of the translation.
    int range = int( entries[ ${RANGES} ] ) + ( property == ${SCALE} ? 2 : 0 );
    mixAction( mixed, readTrack( entry, range, action, turns ), action, turns );

  }

  return layOver( value, mixed, ${over === null ? '1.0' : 'layerShares[ layer ]'}, turns );

}
`;
