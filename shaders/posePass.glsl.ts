import { CHAIN_NODES, JOINT_TEXELS, NODE_TEXELS, SEGMENT_NODES } from '../lib/animation/trackTexels.js';
import {
  INSTANCES_PER_ROW,
  INSTANCES_PER_ROW_BITS,
  LIST_TEXELS,
  LIST_TEXELS_BITS,
} from '../lib/constants.js';
import { actionsRowBits, actionsTexels } from '../lib/playback/instanceLayout.js';
import type { BodiesGLSL } from './bodies.glsl.js';
import { frameAtGLSL } from './frameAt.glsl.js';
import { type LayersGLSL, mixTracksGLSL } from './mixTracks.glsl.js';
import { multiplyRowsGLSL } from './palette.glsl.js';
import { playedActionsGLSL, playedTexelGLSL } from './playedActions.glsl.js';
import { slerpGLSL } from './slerp.glsl.js';
import { trackTexelGLSL } from './trackTexel.glsl.js';

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
}

/** What both steps of the pass begin with. Each writes textures of integers, since every device can draw into those. */
const stepGLSL = (edits: PoseEditGLSL | null): string => /* glsl */ `
precision highp float;
precision highp int;

uniform highp vec4 settings[ 3 ];
/* Nodes; then entries of an instance: its nodes and groups of four morph targets; then joints; then instances in a row. */
#define passLayout ivec4( settings[ 0 ] )
/* Texels at which nodes, joints and clips begin. */
#define trackLayout ivec3( settings[ 1 ].xyz )
/* By how many rows local matrices lie below those of the palette. */
#define localsBelow int( settings[ 1 ].w )
/* The instance of each place that is to be posed, from an entry on; -1 for places that are not. */
uniform highp sampler2D instances;
#define firstInstance int( settings[ 2 ].z )

${trackTexelGLSL}
${edits?.common ?? ''}

layout( location = 0 ) out uvec4 texel0;
layout( location = 1 ) out uvec4 texel1;
layout( location = 2 ) out uvec4 texel2;

int instanceAt( int row, int place ) {

  place += row * passLayout.w + firstInstance;
  int group = place >> 2;
  return int( texelFetch( instances, ivec2( group & ${LIST_TEXELS - 1}, group >> ${LIST_TEXELS_BITS} ), 0 )[ place & 3 ] );

}

void writeRows( mat3x4 rows ) {

  texel0 = floatBitsToUint( rows[ 0 ] );
  texel1 = floatBitsToUint( rows[ 1 ] );
  texel2 = floatBitsToUint( rows[ 2 ] );

}
`;

/** What instances play, whose header says their kind. */
const playedGLSL = (layers: number): string => /* glsl */ `
uniform highp sampler2D played;
#define CROWD_PLAYED played
/* Seconds since the epoch began, and its number. */
#define CROWD_CLOCK settings[ 2 ].x
#define CROWD_EPOCH settings[ 2 ].y
${playedTexelGLSL(actionsRowBits(layers), actionsTexels(layers))}
`;

const entryRowsGLSL = (edits: PoseEditGLSL | null, bodies: BodiesGLSL | null): string => /* glsl */ `
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

// What the first step writes of an entry.
mat3x4 entryRows( int instance, int entry ) {

  mat3x4 rows = mat3x4( 0.0 );
  int head = trackLayout.x + entry * ${NODE_TEXELS};
  bool isNode = entry < passLayout.x;
  int fixedAt = isNode ? int( trackTexel( head ).y ) : - 1;
  if ( fixedAt >= 0 ) return matrixRows( fixedAt );
  vec4 rest = trackTexel( head + 2 );
  Transform mixed = Transform(
    mixedOver( trackTexel( head + 1 ), true ),
    mixedOver( rest, false ),
    mixedOver( trackTexel( head + 3 ), false )
  );
  mixActions( instance, entry, mixed );
  vec4 rotation = mixed.rotation.below;
  vec4 translation = mixed.translation.below;
  vec4 scale = mixed.scale.below;
  // Influences less those at rest, which three.js adds itself.
  if ( ! isNode ) rows[ 0 ] = translation - rest;
  else {

    ${bodies?.fit ?? ''}
    ${edits === null ? '' : 'editLocals( instance, entry, rotation, translation, scale );'}
    rows = composeRows( rotation, translation.xyz, scale.xyz );

  }
  return rows;

}
`;

/**
 * The first step of the pass: a fragment for each entry of each instance. It samples and mixes what plays, and writes the
 * node's local matrix, or the influences of a group of morph targets as the first row.
 *
 * @param layers How many there are, with the base.
 * @param over Null if there is no other.
 * @param edits Null as long as poses are not edited.
 * @param bodies Null where there is one.
 */
export const sampleStepGLSL = (
  layers: number,
  over: LayersGLSL | null,
  edits: PoseEditGLSL | null,
  bodies: BodiesGLSL | null,
): string => /* glsl */ `
${stepGLSL(edits)}
${playedGLSL(layers)}
${bodies?.common ?? ''}
${frameAtGLSL}
${slerpGLSL}
${mixTracksGLSL}
${playedActionsGLSL(layers, over)}
${edits?.locals ?? ''}
${entryRowsGLSL(edits, bodies)}

void main() {

  ivec2 at = ivec2( gl_FragCoord.xy );
  int place = at.x / passLayout.y;
  int entry = at.x - place * passLayout.y;
  int instance = instanceAt( at.y - localsBelow, place );
  if ( instance < 0 ) discard;
  writeRows( entryRows( instance, entry ) );

}
`;

const localRowsGLSL = (): string => /* glsl */ `
/* What the step before has written. */
uniform highp usampler2D locals[ 3 ];

mat3x4 localRows( ivec2 at ) {

  return mat3x4(
    uintBitsToFloat( texelFetch( locals[ 0 ], at, 0 ) ),
    uintBitsToFloat( texelFetch( locals[ 1 ], at, 0 ) ),
    uintBitsToFloat( texelFetch( locals[ 2 ], at, 0 ) )
  );

}

${multiplyRowsGLSL}
`;

/**
 * A step between the two where chains are long and no pose is edited: a fragment for each entry of each instance multiplies the local
 * matrices of the node's segment down to it.
 */
export const segmentStepGLSL = (): string => /* glsl */ `
${stepGLSL(null)}
${localRowsGLSL()}

void main() {

  ivec2 at = ivec2( gl_FragCoord.xy );
  int place = at.x / passLayout.y;
  int entry = at.x - place * passLayout.y;
  if ( instanceAt( at.y - localsBelow, place ) < 0 ) discard;
  mat3x4 rows = localRows( at );
  if ( entry < passLayout.x ) {

    vec4 head = trackTexel( trackLayout.x + entry * ${NODE_TEXELS} );
    for ( int left = int( head.z ); left > 0; left -- ) {

      int parent = int( head.x );
      rows = multiplyRows( localRows( ivec2( at.x + parent - entry, at.y ) ), rows );
      head = trackTexel( trackLayout.x + parent * ${NODE_TEXELS} );

    }

  }
  writeRows( rows );

}
`;

/** The local matrices of a chain, one after another. */
const chainGLSL = (edits: PoseEditGLSL | null): string => /* glsl */ `
  vec4 nodes = vec4( 0.0 );
  for ( int i = 0; i < length_; i ++ ) {

    nodes = i % ${CHAIN_NODES} == 0 ? trackTexel( at ++ ) : nodes.yzwx;
    rows = multiplyRows( rows, localRows( first + ivec2( int( nodes.x ), 0 ) ) );
    ${edits === null ? '' : 'rows = editModels( int( nodes.x ), rows );'}

  }
`;

/** The last node of each of its segments. */
const segmentsGLSL = /* glsl */ `
  for ( int i = ${SEGMENT_NODES - 1}; i < length_ + ${SEGMENT_NODES - 1}; i += ${SEGMENT_NODES} ) {

    int last = min( i, length_ - 1 );
    int node = int( trackTexel( at + last / ${CHAIN_NODES} )[ last % ${CHAIN_NODES} ] );
    rows = multiplyRows( rows, localRows( first + ivec2( node, 0 ) ) );

  }
`;

const jointRowsGLSL = (
  edits: PoseEditGLSL | null,
  bodies: BodiesGLSL | null,
  segments: boolean,
): string => /* glsl */ `
// The skinning matrix of a joint: the local matrices from the root down to it, then its inverse bind matrix.
mat3x4 jointRows( int instance, int joint, ivec2 first ) {

  int head = trackLayout.y + joint * ${JOINT_TEXELS};
  vec4 chain = trackTexel( head );
  int at = int( chain.x );
  int length_ = int( chain.y );
  mat3x4 rows = matrixRows( 0 );
${segments ? segmentsGLSL : chainGLSL(edits)}
  return multiplyRows( rows, ${bodies?.inverse ?? 'matrixRows( head + 1 )'} );

}
`;

/**
 * The second step: a fragment for each column of each instance, which are its joints, then groups of four morph targets, and one more.
 * It writes the instance's matrix times the joint's skinning matrix; or copies the influences; or writes the inverse of the
 * instance's matrix, by which shaders get at the pose without the place.
 *
 * @param segments Whether `segmentStepGLSL` came before.
 */
export const composeStepGLSL = (
  layers: number,
  edits: PoseEditGLSL | null,
  bodies: BodiesGLSL | null,
  segments: boolean,
): string => /* glsl */ `
${stepGLSL(edits)}
${bodies === null ? '' : playedGLSL(layers) + bodies.common}
${localRowsGLSL()}
${edits?.models ?? ''}
${jointRowsGLSL(edits, bodies, segments)}
/* Where instances stand. */
uniform highp sampler2D matrices;

mat4 instanceMatrix( int instance ) {

  ivec2 at = ivec2( ( instance & ${INSTANCES_PER_ROW - 1} ) * 4, instance >> ${INSTANCES_PER_ROW_BITS} );
  return mat4(
    texelFetch( matrices, at, 0 ),
    texelFetch( matrices, at + ivec2( 1, 0 ), 0 ),
    texelFetch( matrices, at + ivec2( 2, 0 ), 0 ),
    texelFetch( matrices, at + ivec2( 3, 0 ), 0 )
  );

}

// Zero for an instance that is scaled by zero, as whoever hides one so has it.
mat3x4 inverseRows( mat4 matrix ) {

  mat3 turn = mat3( matrix );
  turn = determinant( turn ) == 0.0 ? mat3( 0.0 ) : inverse( turn );
  vec3 shift = - ( turn * matrix[ 3 ].xyz );
  turn = transpose( turn );
  return mat3x4( vec4( turn[ 0 ], shift.x ), vec4( turn[ 1 ], shift.y ), vec4( turn[ 2 ], shift.z ) );

}

void main() {

  ivec2 at = ivec2( gl_FragCoord.xy );
  int columns = passLayout.z + passLayout.y - passLayout.x + 1;
  int place = at.x / columns;
  int column = at.x - place * columns;
  int instance = instanceAt( at.y, place );
  if ( instance < 0 ) discard;
  ivec2 first = ivec2( place * passLayout.y, at.y + localsBelow );
  ${edits === null ? '' : 'beginModelEdits( instance );'}

  if ( column == columns - 1 ) writeRows( inverseRows( instanceMatrix( instance ) ) );
  else if ( column < passLayout.z ) {

    // The instance's matrix last: so far from the origin, as three.js's own bones, nothing is lost that is small.
    mat3x4 placing = mat3x4( transpose( instanceMatrix( instance ) ) );
    writeRows( multiplyRows( placing, jointRows( instance, column, first ) ) );

  }
  else texel0 = texelFetch( locals[ 0 ], first + ivec2( passLayout.x + column - passLayout.z, 0 ), 0 );

}
`;
