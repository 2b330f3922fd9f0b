import { INSTANCES_PER_ROW, INSTANCES_PER_ROW_BITS } from '../lib/constants.js';
import {
  EDIT_AXIS,
  EDIT_COSINE,
  EDIT_KIND,
  EDIT_MODELS,
  EDIT_NODE,
  EDIT_SINE,
  EDIT_TEXELS,
  EDIT_WEIGHT,
  EDITS_PER_ROW,
  HEADER_COUNTS,
  HEADER_FIRST,
  HEADER_LIVE,
  HEADER_TEXELS,
  KIND_ADD,
  KIND_LOOK_AT,
  KIND_POSITION,
  KIND_ROTATION,
  LIVE_TEXELS,
  OPPOSITE,
} from './editLayout.js';
import { slerpGLSL } from './slerp.glsl.js';

/** Text for what edits poses, see `PoseEditor`. It comes with that. */
export interface PoseEditGLSL {
  /** Names of its textures, in the order of `PoseEditor.textures`. */
  readonly textures: readonly string[];
  /** What both steps need. */
  readonly common: string;
  /** `void editLocals( int instance, int node, inout vec4 rotation, inout vec4 position, inout vec4 scale )`. */
  readonly locals: string;
  /**
   * `void beginModelEdits( int instance )` and `mat3x4 editModels( int node, mat3x4 rows )`, which is called for the nodes of a
   * chain from the root down.
   */
  readonly models: string;
  /** Where these are called: of a transform, once an instance, of the rows of a node. */
  readonly edit: string;
  readonly begin: string;
  readonly editNode: string;
}

/** Reads which edits an instance has, see `EditStore`, and moves from one value to another. Both steps of the pass need it. */
const editTexelsGLSL = /*@__PURE__*/ (() => /* glsl */ `
vec4 editHeader( int instance, int texel ) {

  ivec2 at = ivec2( ( instance & ${INSTANCES_PER_ROW - 1} ) * ${HEADER_TEXELS} + texel, instance >> ${INSTANCES_PER_ROW_BITS} );
  return texelFetch( editHeaders, at, 0 );

}

vec4 editTexel( int edit, int texel ) {

  ivec2 at = ivec2( ( edit & ${EDITS_PER_ROW - 1} ) * ${EDIT_TEXELS} + texel, edit >> ${Math.log2(EDITS_PER_ROW)} );
  return texelFetch( jointEdits, at, 0 );

}

vec4 mixTo( vec4 a, vec4 b, float weight, bool turns ) {

  if ( weight >= 1.0 ) return b;
  return turns ? slerp( a, b, weight ) : a + ( b - a ) * weight;

}
`)();

/**
 * Twin of `applyEdits.ts`: live poses, and edits of local transforms. Needs `slerpGLSL`, `rampAt`, `CROWD_CLOCK`, `poseNodes` (how many
 * a live pose has) and `livePerRow`.
 */
const localEditsGLSL = /*@__PURE__*/ (() => /* glsl */ `
vec4 liveTexel( int place, int row, int texel ) {

  return texelFetch( livePoses, ivec2( place * ${LIVE_TEXELS} + texel, row ), 0 );

}

// How much of a node's live pose shows; where the pose begins. Nothing for nodes that it has not.
void mixLive( int instance, int live, int node, inout vec4 rotation, inout vec4 position, inout vec4 scale ) {

  float weight = rampAt( CROWD_CLOCK, editHeader( instance, 1 ) );
  int row = live / livePerRow;
  int place = ( live - row * livePerRow ) * poseNodes + node;
  vec4 moved = liveTexel( place, row, 1 );
  if ( weight > 0.0 && moved.w != 0.0 ) {

    rotation = mixTo( rotation, liveTexel( place, row, 0 ), weight, true );
    position = mixTo( position, moved, weight, false );
    scale = mixTo( scale, liveTexel( place, row, 2 ), weight, false );

  }

}

void editLocal( int edit, vec4 head, inout vec4 rotation, inout vec4 position, inout vec4 scale ) {

  vec4 value = editTexel( edit, 1 );
  float weight = head[ ${EDIT_WEIGHT} ];
  int kind = int( head[ ${EDIT_KIND} ] );
  int property = kind & ${KIND_LOOK_AT};
  bool adds = ( kind & ${KIND_ADD} ) != 0;
  if ( property == ${KIND_ROTATION} ) {

    rotation = mixTo( rotation, adds ? multiplyQuaternions( rotation, value ) : value, weight, true );

  } else if ( property == ${KIND_POSITION} ) {

    position = adds ? position + value * weight : mixTo( position, value, weight, false );

  } else {

    scale = adds ? scale * mix( vec4( 1.0 ), value, weight ) : mixTo( scale, value, weight, false );

  }

}

void editLocals( int instance, int node, inout vec4 rotation, inout vec4 position, inout vec4 scale ) {

  vec4 lists = editHeader( instance, 0 );
  int live = int( lists[ ${HEADER_LIVE} ] ) - 1;
  if ( live >= 0 ) mixLive( instance, live, node, rotation, position, scale );

  int first = int( lists[ ${HEADER_FIRST} ] );
  int end = first + ( int( lists[ ${HEADER_COUNTS} ] ) & ${EDIT_MODELS - 1} );
  for ( int edit = first; edit < end; edit ++ ) {

    vec4 head = editTexel( edit, 0 );
    int edited = int( head[ ${EDIT_NODE} ] );
    // They are sorted by node.
    if ( edited > node ) break;
    if ( edited == node ) editLocal( edit, head, rotation, position, scale );

  }

}
`)();

/** Twin of `applyEdits.ts`: edits of matrices relative to the root, and look-at. Needs `slerpGLSL`. */
const modelEditsGLSL = /*@__PURE__*/ (() => /* glsl */ `
int nextEdit = 0;
int lastEdit = 0;

// Finds the edits of an instance that are to be applied on the way down a joint's chain.
void beginModelEdits( int instance ) {

  vec4 lists = editHeader( instance, 0 );
  int counts = int( lists[ ${HEADER_COUNTS} ] );
  nextEdit = int( lists[ ${HEADER_FIRST} ] ) + ( counts & ${EDIT_MODELS - 1} );
  lastEdit = nextEdit + counts / ${EDIT_MODELS};

}

vec3 turned( vec4 q, vec3 v ) {

  return v + 2.0 * cross( q.xyz, cross( q.xyz, v ) + q.w * v );

}

vec3 column( mat3x4 rows, int i ) {

  return vec3( rows[ 0 ][ i ], rows[ 1 ][ i ], rows[ 2 ][ i ] );

}

// Turns a node about its own origin.
void turnRows( vec4 q, inout mat3x4 rows ) {

  vec3 x = turned( q, column( rows, 0 ) );
  vec3 y = turned( q, column( rows, 1 ) );
  vec3 z = turned( q, column( rows, 2 ) );
  rows = mat3x4(
    x.x, y.x, z.x, rows[ 0 ].w,
    x.y, y.y, z.y, rows[ 1 ].w,
    x.z, y.z, z.z, rows[ 2 ].w
  );

}

// The rotation of a matrix whose columns these are, as Matrix4.decompose has it; zero if it flattens space.
vec4 rotationOf( vec3 x, vec3 y, vec3 z ) {

  vec3 size = vec3( length( x ), length( y ), length( z ) );
  if ( min( size.x, min( size.y, size.z ) ) <= 0.0 ) return vec4( 0.0 );
  if ( dot( cross( x, y ), z ) < 0.0 ) size.x = - size.x;
  x /= size.x;
  y /= size.y;
  z /= size.z;
  vec4 squares = 1.0 + vec4( x.x - y.y - z.z, y.y - x.x - z.z, z.z - x.x - y.y, x.x + y.y + z.z );
  vec3 differences = vec3( y.z - z.y, z.x - x.z, x.y - y.x );
  vec3 sums = vec3( x.y + y.x, x.z + z.x, y.z + z.y );
  // All numbers of the quaternion, times the largest of them.
  vec4 q;
  if ( squares.w >= 1.0 ) q = vec4( differences, squares.w );
  else if ( squares.x >= squares.y && squares.x >= squares.z ) q = vec4( squares.x, sums.xy, differences.x );
  else if ( squares.y >= squares.z ) q = vec4( sums.x, squares.y, sums.z, differences.y );
  else q = vec4( sums.yz, squares.z, differences.z );
  return normalize( q );

}

// How a node has to turn so that an axis, which points in a direction, points at the target; the identity if there is no such turn.
vec4 turnToTarget( vec3 direction, vec3 target, float cosine, float sine ) {

  if ( dot( direction, direction ) <= 0.0 || dot( target, target ) <= 0.0 ) return vec4( 0.0, 0.0, 0.0, 1.0 );
  direction = normalize( direction );
  // Half way between both: turning by twice the angle to there goes all the way, without a sine or an angle.
  vec3 half_ = direction + normalize( target );
  float size = length( half_ );
  vec4 q;
  if ( size < ${OPPOSITE} ) {

    bool across = abs( direction.x ) > abs( direction.z );
    vec3 side = across ? vec3( - direction.y, direction.x, 0.0 ) : vec3( 0.0, - direction.z, direction.y );
    q = vec4( normalize( side ), 0.0 );

  } else {

    half_ /= size;
    q = vec4( cross( direction, half_ ), dot( direction, half_ ) );

  }
  return q.w < cosine ? vec4( normalize( q.xyz ) * sine, cosine ) : q;

}

void editModel( vec4 head, int edit, inout mat3x4 rows ) {

  int kind = int( head[ ${EDIT_KIND} ] );
  int property = kind & ${KIND_LOOK_AT};
  bool adds = ( kind & ${KIND_ADD} ) != 0;
  float weight = head[ ${EDIT_WEIGHT} ];
  vec4 value = editTexel( edit, 1 );
  if ( property == ${KIND_POSITION} ) {

    vec4 place = vec4( column( rows, 3 ), 0.0 );
    place = adds ? place + value * weight : mixTo( place, value, weight, false );
    rows[ 0 ].w = place.x;
    rows[ 1 ].w = place.y;
    rows[ 2 ].w = place.z;

  } else {

    vec4 turn = value;
    if ( property == ${KIND_LOOK_AT} ) {

      vec3 axis = editTexel( edit, ${EDIT_AXIS / 4} ).xyz;
      vec3 direction = vec3( dot( rows[ 0 ].xyz, axis ), dot( rows[ 1 ].xyz, axis ), dot( rows[ 2 ].xyz, axis ) );
      turn = turnToTarget( direction, value.xyz - column( rows, 3 ), head[ ${EDIT_COSINE} ], value[ ${EDIT_SINE % 4} ] );

    } else if ( ! adds ) {

      vec4 now = rotationOf( column( rows, 0 ), column( rows, 1 ), column( rows, 2 ) );
      // A node that is flattened has no rotation, and stays as it is.
      bool isFlat = dot( now, now ) == 0.0;
      turn = isFlat ? vec4( 0.0, 0.0, 0.0, 1.0 ) : multiplyQuaternions( value, vec4( - now.xyz, now.w ) );

    }
    turnRows( mixTo( vec4( 0.0, 0.0, 0.0, 1.0 ), turn, weight, true ), rows );

  }

}

// Applies the edits of a node, of a chain whose nodes are asked for from the root down: so are the edits sorted.
mat3x4 editModels( int node, mat3x4 rows ) {

  for ( ; nextEdit < lastEdit; nextEdit ++ ) {

    vec4 head = editTexel( nextEdit, 0 );
    int edited = int( head[ ${EDIT_NODE} ] );
    if ( edited > node ) break;
    if ( edited == node ) editModel( head, nextEdit, rows );

  }
  return rows;

}
`)();

/** All of them, for nodes. */
export const poseEditsGLSL = /*@__PURE__*/ (() => editTexelsGLSL + localEditsGLSL + modelEditsGLSL)();

/** Edits of joints and live poses, for the steps of the pose pass. */
export const jointEditsGLSL: PoseEditGLSL = /*@__PURE__*/ (() => ({
  textures: ['editHeaders', 'jointEdits', 'livePoses'],
  common: /* glsl */ `
/* Which edits and which live pose each instance has; the edits. */
uniform highp sampler2D editHeaders;
uniform highp sampler2D jointEdits;
`,
  locals: /* glsl */ `
uniform highp sampler2D livePoses;
#define poseNodes passLayout.x
#define livePerRow ( textureSize( livePoses, 0 ).x / ( poseNodes * ${LIVE_TEXELS} ) )
${editTexelsGLSL}${localEditsGLSL}`,
  models: slerpGLSL + editTexelsGLSL + modelEditsGLSL,
  edit: 'editLocals( instance, entry, mixed.rotation.below, mixed.translation.below, mixed.scale.below );',
  begin: 'beginModelEdits( instance );',
  editNode: 'skin = editModels( node, skin );',
}))();
