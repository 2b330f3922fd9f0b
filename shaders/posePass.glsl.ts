import { CHAIN_NODES, JOINT_TEXELS, NODE_TEXELS, SEGMENT_NODES } from '../lib/animation/trackTexels.js';
import {
  INSTANCES_PER_ROW,
  INSTANCES_PER_ROW_BITS,
  LIST_TEXELS,
  LIST_TEXELS_BITS,
} from '../lib/constants.js';
import { actionsRowBits, firstAction } from '../lib/playback/instanceLayout.js';
import { bodiesGLSL, bodyGlobalsGLSL } from './bodies.glsl.js';
import { frameAtGLSL } from './fadesAndFrames.glsl.js';
import { jointEditsGLSL, type PoseEditGLSL } from './jointEdits.glsl.js';
import { layersGLSL } from './layers.glsl.js';
import { mixTracksGLSL } from './mixTracks.glsl.js';
import { multiplyRowsGLSL } from './palette.glsl.js';
import { playedActionsGLSL, playedTexelGLSL } from './playedActions.glsl.js';
import { slerpGLSL } from './slerp.glsl.js';
import { trackTexelGLSL } from './trackTexel.glsl.js';

/** What both steps of the pass begin with. Each writes textures of integers, since every device can draw into those. */
const stepGLSL = (edits: PoseEditGLSL | null): string => /* glsl */ `
precision highp float;
precision highp int;

uniform highp vec4 settings[ 3 ];
/* Nodes; then entries of an instance: its nodes and groups of four morph targets; then columns that are joints; then instances in a row. */
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

/**
 * @param columns How many fragments an instance has in a row.
 * @param below By how many rows these lie below those of the palette.
 * @param rows What a fragment writes.
 */
const mainGLSL = (columns: string, below: string, rows: string): string => /* glsl */ `
void main() {

  ivec2 at = ivec2( gl_FragCoord.xy );
  int place = at.x / ${columns};
  int column = at.x - place * ${columns};
  int instance = instanceAt( at.y - ${below}, place );
  if ( instance < 0 ) discard;
  writeRows( ${rows} );

}
`;

/** What instances play. */
const playedGLSL = (layers: number): string => /* glsl */ `
uniform highp sampler2D played;
#define CROWD_PLAYED played
/* Seconds since the epoch began, and its number. */
#define CROWD_CLOCK settings[ 2 ].x
#define CROWD_EPOCH settings[ 2 ].y
${playedTexelGLSL(actionsRowBits(layers))}
`;

/**
 * @param begin Is done before, see `bodiesGLSL`.
 * @param edit Edits the transform, see `bodiesGLSL` and `PoseEditGLSL`.
 */
const entryRowsGLSL = (begin: string, edit: string): string => /* glsl */ `
// Rows of translation * rotation * scale, as Matrix4.compose has them.
mat3x4 composeRows( vec4 q, vec3 t, vec3 s ) {

  vec3 d = q.xyz + q.xyz;
  vec3 xd = q.x * d;
  vec3 yd = q.y * d;
  float zz = q.z * d.z;
  vec3 wd = q.w * d;
  return mat3x4(
    vec4( vec3( 1.0 - yd.y - zz, xd.y - wd.z, xd.z + wd.y ) * s, t.x ),
    vec4( vec3( xd.y + wd.z, 1.0 - xd.x - zz, yd.z - wd.x ) * s, t.y ),
    vec4( vec3( xd.z - wd.y, yd.z + wd.x, 1.0 - xd.x - yd.y ) * s, t.z )
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
    ${begin}
    mixActions( instance, entry, mixed );
    if ( isNode ) {

      ${edit}
      rows = composeRows( mixed.rotation.below, mixed.translation.below.xyz, mixed.scale.below.xyz );

    }
    // Influences less those at rest, which three.js adds itself.
    else rows[ 0 ] = mixed.translation.below - rest;

  }
  return rows;

}
`;

/** What the first step computes, for nodes. */
export const sampleGLSL = /*@__PURE__*/ (() =>
  playedTexelGLSL('playedLayout.z', 'playedLayout.y') +
  bodyGlobalsGLSL +
  mixTracksGLSL(`if ( HAS_BODIES ) {${bodiesGLSL.entry}}`, `if ( HAS_BODIES ) {${bodiesGLSL.key}}`) +
  playedActionsGLSL('playedLayout.x', `if ( HAS_LAYERS ) {${layersGLSL.next}}`) +
  entryRowsGLSL(
    `if ( HAS_BODIES ) {${bodiesGLSL.begin}}`,
    `if ( HAS_BODIES ) {${bodiesGLSL.fit}}\nif ( HAS_EDITS ) {${jointEditsGLSL.edit}}`,
  ))();

/**
 * The first step of the pass: a fragment for each entry of each instance. It samples and mixes what plays, and writes the
 * node's local matrix, or the influences of a group of morph targets as the first row.
 *
 * @param layers How many there are, with the base.
 * @param over See `layersGLSL`; null if there is no other.
 * @param edits Null as long as poses are not edited.
 * @param bodies See `bodiesGLSL`; null where all have the same.
 */
export const sampleStepGLSL = (
  layers: number,
  over: typeof layersGLSL | null,
  edits: PoseEditGLSL | null,
  bodies: typeof bodiesGLSL | null,
): string => /* glsl */ `
${stepGLSL(edits)}
${playedGLSL(layers)}
${bodies?.functions ?? ''}
${frameAtGLSL}
${slerpGLSL}
${mixTracksGLSL(bodies?.entry, bodies?.key)}
${over?.share ?? ''}
${playedActionsGLSL(firstAction(layers), over?.next ?? '')}
${edits?.locals ?? ''}
${entryRowsGLSL(bodies?.begin ?? '', (bodies?.fit ?? '') + (edits?.edit ?? ''))}

${mainGLSL('passLayout.y', 'localsBelow', /* glsl */ `entryRows( instance, column )`)}`;

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

${mainGLSL('passLayout.y', 'localsBelow', /* glsl */ `segmentRows( column, ivec2( at.x - column, at.y ) )`)}`;

/**
 * The local matrices of a chain, one after another.
 *
 * @param edit Edits the rows of a node, see `PoseEditGLSL`.
 */
const chainGLSL = (edit: string): string => /* glsl */ `
    vec4 nodes = vec4( 0.0 );
    for ( int i = 0; i < length_; i ++ ) {

      if ( ( i & ${CHAIN_NODES - 1} ) == 0 ) nodes = trackTexel( at + i / ${CHAIN_NODES} );
      else nodes = nodes.yzwx;
      int node = int( nodes.x );
      skin = multiplyRows( skin, localRows( first + ivec2( node, 0 ) ) );
      ${edit}

    }
`;

/** The last node of each of its segments. */
const segmentsGLSL = /*@__PURE__*/ (() => /* glsl */ `
    for ( int i = 0; i < ( length_ + ${SEGMENT_NODES - 1} ) / ${SEGMENT_NODES}; i ++ ) {

      int end = i * ${SEGMENT_NODES} + ${SEGMENT_NODES - 1};
      int last = end < length_ ? end : length_ - 1;
      int node = int( trackTexel( at + last / ${CHAIN_NODES} )[ last & ${CHAIN_NODES - 1} ] );
      skin = multiplyRows( skin, localRows( first + ivec2( node, 0 ) ) );

    }
`)();

/**
 * @param begin Is done before models are edited, see `PoseEditGLSL`.
 * @param down Goes down the chain to a joint.
 * @param inverse Its inverse bind matrix.
 */
const columnRowsGLSL = (
  begin: string,
  down: string,
  inverse = /* glsl */ `matrixRows( head + 1 )`,
): string => /* glsl */ `
// What it writes of a column; where the local matrices of the instance begin.
mat3x4 columnRows( int instance, int column, ivec2 first ) {

  mat3x4 rows = placingRows( instance );
  int morph = column - passLayout.z;
  if ( morph < 0 ) {

    // The local matrices from the root down to the joint, then its inverse bind matrix.
    ${begin}
    int head = trackLayout.y + column * ${JOINT_TEXELS};
    vec4 chain = trackTexel( head );
    int at = int( chain.x );
    int length_ = int( chain.y );
    mat3x4 skin = matrixRows( 0 );
${down}
    skin = multiplyRows( skin, ${inverse} );
    // The instance's matrix last: so far from the origin, as three.js's own bones, nothing is lost that is small.
    rows = multiplyRows( rows, skin );

  } else if ( morph < passLayout.y - passLayout.x ) rows = localRows( first + ivec2( passLayout.x + morph, 0 ) );
  else {

    // Its inverse: zero for an instance that is scaled by zero, as whoever hides one so has it.
    vec3 x = cross( rows[ 1 ].xyz, rows[ 2 ].xyz );
    vec3 y = cross( rows[ 2 ].xyz, rows[ 0 ].xyz );
    vec3 z = cross( rows[ 0 ].xyz, rows[ 1 ].xyz );
    float size = dot( rows[ 0 ].xyz, x );
    float scale = size == 0.0 ? 0.0 : 1.0 / size;
    vec3 shift = rows[ 0 ].w * x + rows[ 1 ].w * y + rows[ 2 ].w * z;
    rows = mat3x4(
      scale * vec4( x.x, y.x, z.x, - shift.x ),
      scale * vec4( x.y, y.y, z.y, - shift.y ),
      scale * vec4( x.z, y.z, z.z, - shift.z )
    );

  }
  return rows;

}
`;

/** The same for nodes. */
export const composeGLSL = /*@__PURE__*/ (() =>
  columnRowsGLSL(
    `if ( HAS_EDITS ) {${jointEditsGLSL.begin}}`,
    `if ( HAS_SEGMENTS ) {${segmentsGLSL}} else {${chainGLSL(`if ( HAS_EDITS ) {${jointEditsGLSL.editNode}}`)}}
    mat3x4 inverse = matrixRows( head + 1 );
    if ( HAS_BODIES ) {inverse = ${bodiesGLSL.inverse};}`,
    'inverse',
  ))();

/**
 * The second step: a fragment for each column of each instance, which are joints, see `fitColumns`, then groups of four morph targets, and one more.
 * It writes the instance's matrix times the joint's skinning matrix; or copies the influences; or writes the inverse of the
 * instance's matrix, by which shaders get at the pose without the place.
 *
 * @param layers How many there are, with the base.
 * @param segments Whether `segmentStepGLSL` came before.
 */
export const composeStepGLSL = (
  layers: number,
  edits: PoseEditGLSL | null,
  bodies: typeof bodiesGLSL | null,
  segments: boolean,
): string => /* glsl */ `
${stepGLSL(edits)}
${bodies === null ? '' : playedGLSL(layers) + bodies.functions}
${localRowsGLSL()}
${edits?.models ?? ''}
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
${columnRowsGLSL(
  edits?.begin ?? '',
  segments ? segmentsGLSL : chainGLSL(edits?.editNode ?? ''),
  bodies?.inverse,
)}

#define columns ( passLayout.z + passLayout.y - passLayout.x + 1 )
${mainGLSL('columns', '0', /* glsl */ `columnRows( instance, column, ivec2( place * passLayout.y, at.y + localsBelow ) )`)}`;
