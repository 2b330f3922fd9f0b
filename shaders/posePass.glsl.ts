import { CHAIN_NODES, JOINT_TEXELS, NODE_TEXELS, SEGMENT_NODES } from '../lib/animation/trackTexels.js';
import {
  INSTANCES_PER_ROW,
  INSTANCES_PER_ROW_BITS,
  LIST_TEXELS,
  LIST_TEXELS_BITS,
} from '../lib/constants.js';
import { frameAtGLSL } from './frameAt.glsl.js';
import { mixTracksGLSL } from './mixTracks.glsl.js';
import { multiplyRowsGLSL } from './palette.glsl.js';
import { playedActionsGLSL, playedLayoutGLSL, playedTexelGLSL } from './playedActions.glsl.js';
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

const entryRowsGLSL = /* glsl */ `
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
  if ( fixedAt >= 0 ) rows = matrixRows( fixedAt );
  else {

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

      editLocals( instance, entry, rotation, translation, scale );
      rows = composeRows( rotation, translation.xyz, scale.xyz );

    }

  }
  return rows;

}
`;

/** All that the first step computes, for nodes too. */
export const sampleGLSL = /*@__PURE__*/ (() =>
  playedTexelGLSL + mixTracksGLSL + playedActionsGLSL + entryRowsGLSL)();

/** What stands for layers over the base, and for edits, where there are none. */
const NO_LAYERS = /* glsl */ `
#define layerOf( clip, layer ) layer
#define layerShare( entry, layer, clock, ramp ) 1.0
`;
const NO_LOCAL_EDITS = /* glsl */ `
#define editLocals( instance, node, rotation, position, scale )
`;
const NO_MODEL_EDITS = /* glsl */ `
#define beginModelEdits( instance )
#define editModels( node, rows ) rows
`;

/**
 * The first step of the pass: a fragment for each entry of each instance. It samples and mixes what plays, and writes the
 * node's local matrix, or the influences of a group of morph targets as the first row.
 *
 * @param layers How many there are, with the base.
 * @param over See `layersGLSL`; null if there is no other.
 * @param edits Null as long as poses are not edited.
 */
export const sampleStepGLSL = (
  layers: number,
  over: string | null,
  edits: PoseEditGLSL | null,
): string => /* glsl */ `
${stepGLSL(edits)}
uniform highp sampler2D played;
#define CROWD_PLAYED played
/* Seconds since the epoch began, and its number. */
#define CROWD_CLOCK settings[ 2 ].x
#define CROWD_EPOCH settings[ 2 ].y

${frameAtGLSL}
${playedLayoutGLSL(layers)}
${slerpGLSL}
${over ?? NO_LAYERS}
${edits?.locals ?? NO_LOCAL_EDITS}
${sampleGLSL}

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

/** What the step between the two computes. */
export const segmentGLSL = /*@__PURE__*/ (() => /* glsl */ `
// The local matrices of a node's segment down to it; where those of the instance begin.
mat3x4 segmentRows( int entry, ivec2 first ) {

  mat3x4 rows = localRows( first + ivec2( entry, 0 ) );
  if ( entry < passLayout.x ) {

    vec4 head = trackTexel( trackLayout.x + entry * ${NODE_TEXELS} );
    int above = int( head.z );
    for ( int i = 0; i < above; i ++ ) {

      int parent = int( head.x );
      rows = multiplyRows( localRows( first + ivec2( parent, 0 ) ), rows );
      head = trackTexel( trackLayout.x + parent * ${NODE_TEXELS} );

    }

  }
  return rows;

}
`)();

/**
 * A step between the two where chains are long and no pose is edited: a fragment for each entry of each instance multiplies the local
 * matrices of the node's segment down to it.
 */
export const segmentStepGLSL = (): string => /* glsl */ `
${stepGLSL(null)}
${localRowsGLSL()}
${segmentGLSL}

void main() {

  ivec2 at = ivec2( gl_FragCoord.xy );
  int place = at.x / passLayout.y;
  int entry = at.x - place * passLayout.y;
  if ( instanceAt( at.y - localsBelow, place ) < 0 ) discard;
  writeRows( segmentRows( entry, ivec2( at.x - entry, at.y ) ) );

}
`;

/** The local matrices of a chain, one after another. */
export const chainGLSL = /*@__PURE__*/ (() => /* glsl */ `
mat3x4 chainRows( int at, int length_, ivec2 first ) {

  mat3x4 rows = matrixRows( 0 );
  vec4 nodes = vec4( 0.0 );
  for ( int i = 0; i < length_; i ++ ) {

    if ( ( i & ${CHAIN_NODES - 1} ) == 0 ) nodes = trackTexel( at + i / ${CHAIN_NODES} );
    else nodes = nodes.yzwx;
    int node = int( nodes.x );
    rows = multiplyRows( rows, localRows( first + ivec2( node, 0 ) ) );
    rows = editModels( node, rows );

  }
  return rows;

}
`)();

/** The last node of each of its segments. */
export const segmentedChainGLSL = /*@__PURE__*/ (() => /* glsl */ `
mat3x4 chainRows( int at, int length_, ivec2 first ) {

  mat3x4 rows = matrixRows( 0 );
  for ( int i = 0; i < ( length_ + ${SEGMENT_NODES - 1} ) / ${SEGMENT_NODES}; i ++ ) {

    int end = i * ${SEGMENT_NODES} + ${SEGMENT_NODES - 1};
    int last = end < length_ ? end : length_ - 1;
    int node = int( trackTexel( at + last / ${CHAIN_NODES} )[ last & ${CHAIN_NODES - 1} ] );
    rows = multiplyRows( rows, localRows( first + ivec2( node, 0 ) ) );

  }
  return rows;

}
`)();

/** All that the second step computes. */
export const composeGLSL = /*@__PURE__*/ (() => /* glsl */ `
// The skinning matrix of a joint: the local matrices from the root down to it, then its inverse bind matrix.
mat3x4 jointRows( int joint, ivec2 first ) {

  int head = trackLayout.y + joint * ${JOINT_TEXELS};
  vec4 chain = trackTexel( head );
  mat3x4 rows = chainRows( int( chain.x ), int( chain.y ), first );
  return multiplyRows( rows, matrixRows( head + 1 ) );

}

// Zero for an instance that is scaled by zero, as whoever hides one so has it.
mat3x4 inverseRows( mat3x4 rows ) {

  vec3 x = cross( rows[ 1 ].xyz, rows[ 2 ].xyz );
  vec3 y = cross( rows[ 2 ].xyz, rows[ 0 ].xyz );
  vec3 z = cross( rows[ 0 ].xyz, rows[ 1 ].xyz );
  float size = dot( rows[ 0 ].xyz, x );
  float scale = size == 0.0 ? 0.0 : 1.0 / size;
  x *= scale;
  y *= scale;
  z *= scale;
  vec3 shift = rows[ 0 ].w * x + rows[ 1 ].w * y + rows[ 2 ].w * z;
  return mat3x4( x.x, y.x, z.x, - shift.x, x.y, y.y, z.y, - shift.y, x.z, y.z, z.z, - shift.z );

}

// What it writes of a column; where the local matrices of the instance begin.
mat3x4 columnRows( int instance, int column, ivec2 first ) {

  mat3x4 rows = mat3x4( 0.0 );
  int morph = column - passLayout.z;
  if ( morph < 0 ) {

    beginModelEdits( instance );
    // The instance's matrix last: so far from the origin, as three.js's own bones, nothing is lost that is small.
    mat3x4 skin = jointRows( column, first );
    rows = multiplyRows( placingRows( instance ), skin );

  } else if ( morph < passLayout.y - passLayout.x ) rows = localRows( first + ivec2( passLayout.x + morph, 0 ) );
  else rows = inverseRows( placingRows( instance ) );
  return rows;

}
`)();

/**
 * The second step: a fragment for each column of each instance, which are its joints, then groups of four morph targets, and one more.
 * It writes the instance's matrix times the joint's skinning matrix; or copies the influences; or writes the inverse of the
 * instance's matrix, by which shaders get at the pose without the place.
 *
 * @param segments Whether `segmentStepGLSL` came before.
 */
export const composeStepGLSL = (edits: PoseEditGLSL | null, segments: boolean): string => /* glsl */ `
${stepGLSL(edits)}
${localRowsGLSL()}
${edits?.models ?? NO_MODEL_EDITS}
/* Where instances stand. */
uniform highp sampler2D matrices;

mat3x4 placingRows( int instance ) {

  ivec2 at = ivec2( ( instance & ${INSTANCES_PER_ROW - 1} ) * 4, instance >> ${INSTANCES_PER_ROW_BITS} );
  return mat3x4( transpose( mat4(
    texelFetch( matrices, at, 0 ),
    texelFetch( matrices, at + ivec2( 1, 0 ), 0 ),
    texelFetch( matrices, at + ivec2( 2, 0 ), 0 ),
    texelFetch( matrices, at + ivec2( 3, 0 ), 0 )
  ) ) );

}
${segments ? segmentedChainGLSL : chainGLSL}
${composeGLSL}

void main() {

  ivec2 at = ivec2( gl_FragCoord.xy );
  int columns = passLayout.z + passLayout.y - passLayout.x + 1;
  int place = at.x / columns;
  int instance = instanceAt( at.y, place );
  if ( instance < 0 ) discard;
  writeRows( columnRows( instance, at.x - place * columns, ivec2( place * passLayout.y, at.y + localsBelow ) ) );

}
`;
