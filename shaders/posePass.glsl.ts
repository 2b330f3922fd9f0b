import { LOOP_MODES } from '../lib/constants.js';
import { ACTION_TEXELS, actionsRowBits, actionsTexels, firstAction } from '../lib/playback/instanceLayout.js';
import { MAX_ACTIONS } from '../lib/playback/SlotOrder.js';
import { STEP_SLACK } from '../lib/tracks/PoseTracks.js';
import {
  ENTRY_CONSTANT,
  ENTRY_STEP,
  ENTRY_STEPPED,
  JOINT_TEXELS,
  NODE_TEXELS,
  TRACK_ROW,
} from '../lib/tracks/trackTexels.js';
import { frameAtGLSL } from './frameAt.glsl.js';

/** Turns quaternions as `lib/tracks/slerp.ts` does, without the sines of a GPU, which may be off by 2^-11. */
export const slerpGLSL = /* glsl */ `
// sin( t * angle ) / sin( angle ) as a series in 1 - cos( angle ), up to 45 degrees: off by less than 1e-7.
// Eberly, "A Fast and Accurate Algorithm for Computing SLERP", 2011.
float slerpShare( float t, float x ) {

  float tt = t * t;
  float sum = 1.0;
  sum = 1.0 + sum * x * ( tt * ( 1.0 / 136.0 ) - 8.0 / 17.0 );
  sum = 1.0 + sum * x * ( tt * ( 1.0 / 105.0 ) - 7.0 / 15.0 );
  sum = 1.0 + sum * x * ( tt * ( 1.0 / 78.0 ) - 6.0 / 13.0 );
  sum = 1.0 + sum * x * ( tt * ( 1.0 / 55.0 ) - 5.0 / 11.0 );
  sum = 1.0 + sum * x * ( tt * ( 1.0 / 36.0 ) - 4.0 / 9.0 );
  sum = 1.0 + sum * x * ( tt * ( 1.0 / 21.0 ) - 3.0 / 7.0 );
  sum = 1.0 + sum * x * ( tt * ( 1.0 / 10.0 ) - 2.0 / 5.0 );
  sum = 1.0 + sum * x * ( tt * ( 1.0 / 3.0 ) - 1.0 / 3.0 );
  return t * sum;

}

vec4 slerp( vec4 a, vec4 b, float t ) {

  float cosine = dot( a, b );
  if ( cosine < 0.0 ) {
    b = - b;
    cosine = - cosine;
  }
  // From the middle no end is further than 45 degrees.
  vec4 middle = normalize( a + b );
  float half_ = sqrt( max( 0.5 * ( 1.0 + cosine ), 0.0 ) );
  float t2 = 2.0 * t;
  if ( t2 < 1.0 ) b = middle;
  else {
    a = middle;
    t2 -= 1.0;
  }
  float x = half_ - 1.0;
  return a * slerpShare( 1.0 - t2, x ) + b * slerpShare( t2, x );

}
`;

/** Twin of `lib/tracks/mixPose.ts`: reads and mixes tracks, and composes a joint's skinning matrix. */
export const mixPoseGLSL = /*@__PURE__*/ (() => /* glsl */ `
struct Action {
  int table;
  int stride;
  float frame;
  float weight;
  bool additive;
};

Action actions[ MAX_ACTIONS ];
int actionCount = 0;

vec4 trackTexel( int at ) {

  return texelFetch( tracks, ivec2( at & ${TRACK_ROW - 1}, at >> ${Math.log2(TRACK_ROW)} ), 0 );

}

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

// Rows of translation * rotation * scale, as Matrix4.compose has them.
mat3x4 composeRows( vec4 q, vec3 t, vec3 s ) {

  vec3 d = q.xyz + q.xyz;
  vec3 xd = q.x * d;
  vec3 yd = q.y * d;
  float zz = q.z * d.z;
  vec3 wd = q.w * d;
  return mat3x4(
    ( 1.0 - yd.y - zz ) * s.x, ( xd.y - wd.z ) * s.y, ( xd.z + wd.y ) * s.z, t.x,
    ( xd.y + wd.z ) * s.x, ( 1.0 - xd.x - zz ) * s.y, ( yd.z - wd.x ) * s.z, t.y,
    ( xd.z - wd.y ) * s.x, ( yd.z + wd.x ) * s.y, ( 1.0 - xd.x - yd.y ) * s.z, t.z
  );

}

mat3x4 matrixRows( int at ) {

  return mat3x4( trackTexel( at ), trackTexel( at + 1 ), trackTexel( at + 2 ) );

}

// a * b, both as rows.
mat3x4 multiplyRows( mat3x4 a, mat3x4 b ) {

  return mat3x4(
    a[ 0 ].x * b[ 0 ] + a[ 0 ].y * b[ 1 ] + a[ 0 ].z * b[ 2 ] + vec4( 0.0, 0.0, 0.0, a[ 0 ].w ),
    a[ 1 ].x * b[ 0 ] + a[ 1 ].y * b[ 1 ] + a[ 1 ].z * b[ 2 ] + vec4( 0.0, 0.0, 0.0, a[ 1 ].w ),
    a[ 2 ].x * b[ 0 ] + a[ 2 ].y * b[ 1 ] + a[ 2 ].z * b[ 2 ] + vec4( 0.0, 0.0, 0.0, a[ 2 ].w )
  );

}

mat3x4 localMatrix( int node, int fixedAt ) {

  if ( fixedAt >= 0 ) return matrixRows( fixedAt );
  int rest = trackLayout.x + node * ${NODE_TEXELS} + 1;
  vec4 rotation = mixProperty( node, 0, trackTexel( rest ) );
  vec4 translation = mixProperty( node, 1, trackTexel( rest + 1 ) );
  vec4 scale = mixProperty( node, 2, trackTexel( rest + 2 ) );
  return composeRows( rotation, translation.xyz, scale.xyz );

}

mat3x4 jointRows( int joint ) {

  int at = trackLayout.y + joint * ${JOINT_TEXELS};
  int node = int( trackTexel( at ).z );
  mat3x4 rows = matrixRows( at + 1 );
  while ( node >= 0 ) {

    vec4 head = trackTexel( trackLayout.x + node * ${NODE_TEXELS} );
    rows = multiplyRows( localMatrix( node, int( head.y ) ), rows );
    node = int( head.x );

  }
  return multiplyRows( matrixRows( 0 ), rows );

}
`)();

/**
 * The fragment shader of the pose pass: one fragment for each joint of each instance, and behind the joints one for each
 * group of four morph targets. Rows of the skinning matrix go to three targets.
 */
export const posePassGLSL = /*@__PURE__*/ (() => /* glsl */ `
precision highp float;
precision highp int;

#define MAX_ACTIONS ${MAX_ACTIONS}

uniform highp sampler2D tracks;
/* What instances play. */
uniform highp sampler2D played;
/* Where nodes, joints and clips begin among the texels of the tracks. */
uniform ivec3 trackLayout;
/* Joints, columns of an instance (joints and groups of morph targets), instances in a row, nodes. */
uniform ivec4 paletteLayout;
uniform float clock;

layout( location = 0 ) out vec4 row0;
layout( location = 1 ) out vec4 row1;
layout( location = 2 ) out vec4 row2;

${slerpGLSL}
${mixPoseGLSL}
${frameAtGLSL}

/* From one weight to another, from a time on, by a share of the way each second; at a rate of 0, the way is done. */
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

void main() {

  ivec2 at = ivec2( gl_FragCoord.xy );
  int instance = at.y * paletteLayout.z + at.x / paletteLayout.y;
  int column = at.x % paletteLayout.y;
  collectActions( instance );

  mat3x4 rows = mat3x4( 0.0 );
  if ( column < paletteLayout.x ) rows = jointRows( column );
  else {

    int group = paletteLayout.w + column - paletteLayout.x;
    vec4 rest = trackTexel( trackLayout.x + group * ${NODE_TEXELS} + 2 );
    rows[ 0 ] = mixProperty( group, 1, rest ) - rest;

  }
  row0 = rows[ 0 ];
  row1 = rows[ 1 ];
  row2 = rows[ 2 ];

}
`)();
