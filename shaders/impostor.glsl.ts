import { LOOP_MODES } from '../lib/constants.js';
import { ACTION_LAYER, ACTION_TEXELS } from '../lib/playback/instanceLayout.js';
import { AZIMUTHS, FIRST_ENTRY, RINGS, SHADOW_BEHIND } from './atlasLayout.js';
import { frameAtGLSL } from './fadesAndFrames.glsl.js';
import { playedTexelGLSL } from './playedActions.glsl.js';
import type { SourceGLSL } from './SourceGLSL.js';
import { PART_INDEX } from './skinVertex.glsl.js';

/** What the vertices of an impostor tell its fragments. */
const VARYINGS = /* glsl */ `
/* Where the fragment is on its tile, -1 to 1. */
varying vec2 impostorPlace;
/* The corner and the size of the tile in the atlas. */
flat varying vec4 impostorTile;
/* What half of the depth that a tile holds is towards the eye: on the tile, in z and w of clip space, and in the world. */
flat varying vec4 impostorSlope;
flat varying vec3 impostorRay;
/* The axes of the tile in view space. */
flat varying mat3 impostorAxes;
flat varying int impostorInstance;
`;

const DEGREES = Math.PI / 180;
/** Half way between two rings, as heights on the unit sphere. */
const borders = () => RINGS.slice(1).map((ring, i) => Math.sin(((ring + RINGS[i]) / 2) * DEGREES).toFixed(6));

/**
 * Finds the tile that shows an instance, and its corners, all in the instance's own space. Needs `frameAtGLSL`. Reads the table
 * `CROWD_IMPOSTOR`, see `atlasLayout.ts`, and `CROWD_PLAYED` up to `playedEnd`, at `playedClock` and `playedAge`. `atlasRow` is where a ring of tiles lies
 * among those of a block.
 */
export const impostorQuadGLSL = /*@__PURE__*/ (() => /* glsl */ `
vec4 impostorTexel( int at, int row ) {

  return texelFetch( CROWD_IMPOSTOR, ivec2( at, row ), 0 );

}

// The clip that weighs most, of those from a place on, and how much of it is over. Of clips that have no tiles, the first stands for them.
void impostorClip( ivec2 at, int entries, out int entry, out float share ) {

  float most = 0.0;
  vec4 shown = vec4( 0.0 );
  vec4 timing = vec4( 0.0 );
  entry = ${FIRST_ENTRY};
  share = 0.0;

  for ( ; at.x < playedEnd; at.x += ${ACTION_TEXELS} ) {

    vec4 clip = texelFetch( CROWD_PLAYED, at, 0 );
    if ( clip.x < 0.5 || clip.x >= ${ACTION_LAYER}.0 ) break;
    float weight = rampAt( playedClock, texelFetch( CROWD_PLAYED, at + ivec2( 2, 0 ), 0 ) );
    if ( weight > most ) {

      most = weight;
      shown = clip;
      timing = texelFetch( CROWD_PLAYED, at + ivec2( 1, 0 ), 0 );

    }

  }

  // Nothing that plays is the rest pose, as is what lets go at its end.
  FrameMix frames = shownFrames( shown, timing, CROWD_CLOCK, playedAge, most > 0.0 ? 1.0 : 0.0, true );
  if ( frames.frame0 >= 0.5 ) {

    share = ( frames.frame0 - 1.0 + frames.alpha ) / max( floor( shown.y * ${1 / LOOP_MODES} ) - 1.0, 1.0 );
    entry = ${FIRST_ENTRY} + min( 1, entries - 1 );
    for ( int j = ${FIRST_ENTRY}; j < ${FIRST_ENTRY} + entries; j ++ ) {

      if ( impostorTexel( j, 0 ).x == shown.x ) entry = j;

    }

  }

}

// x, y and z are the axes of the instance in the world; the eye lies that way from its middle; the corner is from -1 to 1.
void impostorQuad( ivec2 at, vec3 x, vec3 y, vec3 z, vec3 eye, vec2 corner ) {

  vec4 head = impostorTexel( 0, 0 );
  int entry;
  float share;
  impostorClip( at, int( head.x ), entry, share );
  vec4 clip = impostorTexel( entry, 0 );
  float phase = min( floor( share * clip.z ), clip.z - 1.0 ) + clip.y;
  int block = int( phase ) + 1;

  // The nearest direction that there are tiles of.
  vec3 sight = normalize( vec3( dot( eye, x ) / dot( x, x ), dot( eye, y ) / dot( y, y ), dot( eye, z ) / dot( z, z ) ) );
  float azimuth = floor( atan( sight.x, sight.z ) * ${(AZIMUTHS / (2 * Math.PI)).toFixed(6)} + 0.5 );
  int ring = ${borders()
    .map((border) => `int( sight.y > ${border} )`)
    .join(' + ')};
  int column = int( azimuth + ${AZIMUTHS}.5 ) % ${AZIMUTHS};
  float elevation = ${RINGS.slice(1).reduce(
    (text, angle, i) => `ring == ${i + 1} ? ${(angle * DEGREES).toFixed(6)} : ${text}`,
    (RINGS[0] * DEGREES).toFixed(6),
  )};
  azimuth *= ${((2 * Math.PI) / AZIMUTHS).toFixed(6)};
  impostorSide = vec3( cos( azimuth ), 0.0, - sin( azimuth ) );
  impostorNormal = vec3( cos( elevation ) * sin( azimuth ), sin( elevation ), cos( elevation ) * cos( azimuth ) );
  impostorUp = cross( impostorNormal, impostorSide );

  vec4 box = impostorTexel( 1 + ring * ${AZIMUTHS} + column, block );
  vec2 size = box.w * vec2( impostorTexel( 1, 0 ).x, 1.0 );
  vec2 place = box.xy + corner * size;
  float row = floor( ( phase + 0.5 ) / head.y );
  vec2 tile = vec2( ( phase - row * head.y ) * ${AZIMUTHS}.0 + float( column ), row * ${RINGS.length}.0 + float( atlasRow( ring ) ) );
  impostorTile = vec4( tile * head.zw, head.zw );
  impostorPosition = impostorSide * place.x + impostorUp * place.y + impostorNormal * box.z;
  impostorRay = sight * ( impostorTexel( 0, block ).x * box.w / max( dot( sight, impostorNormal ), 0.3 ) );
  impostorSlope.xy = vec2( dot( impostorRay, impostorSide ), dot( impostorRay, impostorUp ) ) / size;

}
`)();

const vertexGLSL = (): string => /* glsl */ `
#define CROWD_IMPOSTOR CROWD_BAKED
#define atlasRow( ring ) ring
${VARYINGS}
vec3 impostorPosition = vec3( 0.0 );
vec3 impostorNormal = vec3( 0.0 );
vec3 impostorSide, impostorUp;

vec3 posedPosition( vec3 position, mat3x4 skin ) {

  return impostorPosition;

}

vec3 posedNormal( vec3 normal, mat3x4 skin ) {

  return impostorNormal;

}

${impostorQuadGLSL}
void placeImpostor() {

  ivec2 at = playedTexel( instanceIndex() );
  at.x += CROWD_MORPH_TEXEL;
  mat3 turn = mat3( modelMatrix ) * mat3( instanceMatrix );
  vec3 origin = ( modelMatrix * ( instanceMatrix * vec4( impostorTexel( 1, 0 ).yzw, 1.0 ) ) ).xyz;
  mat3 view = transpose( mat3( viewMatrix ) );
  vec3 eye = projectionMatrix[ 2 ][ 3 ] == 0.0 ? view[ 2 ] : - ( view * viewMatrix[ 3 ].xyz ) - origin;
  impostorQuad( at, turn[ 0 ], turn[ 1 ], turn[ 2 ], eye, position.xy );
  impostorPlace = position.xy;
  impostorRay = turn * impostorRay;
  impostorSlope.zw = ( projectionMatrix * ( viewMatrix * vec4( impostorRay, 0.0 ) ) ).zw;
  impostorInstance = instanceIndex();
  impostorAxes = mat3( viewMatrix ) * turn * mat3( impostorSide, impostorUp, impostorNormal );

}
`;

/** Places the two triangles of an impostor, and finds its tile. */
export const impostorGLSL: SourceGLSL = {
  definesPosed: true,
  declarations: () => [frameAtGLSL, playedTexelGLSL('int( CROWD_ROWS )'), vertexGLSL()],
  skinningMatrix: (name) => /* glsl */ `
mat3x4 ${name}() {

  placeImpostor();
  return mat3x4( 1.0 );

}
`,
};

/**
 * What fragments find on the tile. `ON_TILE` is half the side of a tile in the atlas, upwards; by `IMPOSTOR_BEHIND` the surface is
 * put back.
 */
const surfaceGLSL = /* glsl */ `
/* How small the tile is on the screen. */
float impostorLevel = 0.0;
/* How far the surface is in front of the quad, along the ray. */
float impostorHeight = 0.0;
vec2 impostorAt = vec2( 0.0 );
vec4 impostorShape = vec4( 0.0 );

vec2 impostorPixel( vec2 place ) {

  return impostorTile.xy + impostorTile.zw * ( clamp( place, - 0.97, 0.97 ) * ON_TILE + 0.5 );

}

// Finds the surface, and whether it is there.
bool readImpostor() {

  vec2 texels = vec2( textureSize( impostorShapes, 0 ) ) * impostorTile.zw * 0.5;
  vec2 dx = dFdx( impostorPlace ) * texels;
  vec2 dy = dFdy( impostorPlace ) * texels;
  impostorLevel = 0.5 * log2( max( dot( dx, dx ), dot( dy, dy ) ) );
  vec2 place = impostorPlace;
  for ( int i = 0; i < 2; i ++ ) {

    impostorHeight = 1.0 - 2.0 * textureLod( impostorShapes, impostorPixel( place ), impostorLevel ).z;
    place = impostorPlace + impostorHeight * impostorSlope.xy;

  }

  impostorAt = impostorPixel( place );
  impostorShape = textureLod( impostorShapes, impostorAt, impostorLevel );
  impostorHeight = 1.0 - 2.0 * impostorShape.z - IMPOSTOR_BEHIND;
  return impostorShape.w >= 0.5 && max( abs( place.x ), abs( place.y ) ) <= 1.0;

}

// By what the surface is before the quad.
vec3 impostorShift() {

  return impostorRay * impostorHeight;

}

vec3 impostorColor() {

  vec3 root = textureLod( impostorColors, impostorAt, impostorLevel ).rgb;
  return root * root;

}

vec3 impostorFacing() {

  vec2 xy = impostorShape.xy * 2.0 - 1.0;
  return normalize( impostorAxes * vec3( xy, sqrt( max( 1.0 - dot( xy, xy ), 0.01 ) ) ) );

}
`;

/** The colour of the part on its instance. */
const partColorGLSL = /* glsl */ `
vec3 impostorPartColor() {

  int part = int( textureLod( impostorParts, impostorAt, 0.0 ).r * 255.0 + 0.5 );
  int row = impostorInstance / impostorPartLayout.y;
  int place = impostorInstance - row * impostorPartLayout.y;
  return texelFetch( impostorPartColors, ivec2( place * impostorPartLayout.x + part, row ), 0 ).rgb;

}
`;

const readGLSL = (behind: number): string => /* glsl */ `
${VARYINGS}
uniform sampler2D impostorColors;
uniform sampler2D impostorShapes;
#define ON_TILE 0.5
#define IMPOSTOR_BEHIND ${behind.toFixed(1)}
${surfaceGLSL}
void drawImpostor() {

  if ( ! readImpostor() ) discard;
  #ifndef USE_LOGARITHMIC_DEPTH_BUFFER

    float w = 1.0 / gl_FragCoord.w;
    float after = w + impostorHeight * impostorSlope.w;
    #ifdef USE_REVERSED_DEPTH_BUFFER
      gl_FragDepth = ( gl_FragCoord.z * w + impostorHeight * impostorSlope.z ) / after;
    #else
      gl_FragDepth = 0.5 * ( ( 2.0 * gl_FragCoord.z - 1.0 ) * w + impostorHeight * impostorSlope.z ) / after + 0.5;
    #endif

  #endif

}
`;

/** Where shadows are looked up, and where lights reach the surface: at its own depth. */
const LIT = /* glsl */ `
vec3 impostorView = vViewPosition - mat3( viewMatrix ) * impostorShift();
#define vViewPosition impostorView
#if defined( USE_SHADOWMAP ) && NUM_DIR_LIGHT_SHADOWS > 0
  vec4 impostorDirectional[ NUM_DIR_LIGHT_SHADOWS ];
  for ( int i = 0; i < NUM_DIR_LIGHT_SHADOWS; i ++ )
    impostorDirectional[ i ] = vDirectionalShadowCoord[ i ] + directionalShadowMatrix[ i ] * vec4( impostorShift(), 0.0 );
  #define vDirectionalShadowCoord impostorDirectional
#endif
#if NUM_SPOT_LIGHT_COORDS > 0
  vec4 impostorSpot[ NUM_SPOT_LIGHT_COORDS ];
  for ( int i = 0; i < NUM_SPOT_LIGHT_COORDS; i ++ )
    impostorSpot[ i ] = vSpotLightCoord[ i ] + spotLightMatrix[ i ] * vec4( impostorShift(), 0.0 );
  #define vSpotLightCoord impostorSpot
#endif
`;

/** Shadow matrices, which three.js declares for vertices only. */
const MATRICES = /* glsl */ `
#if defined( USE_SHADOWMAP ) && NUM_DIR_LIGHT_SHADOWS > 0
  uniform mat4 directionalShadowMatrix[ NUM_DIR_LIGHT_SHADOWS ];
#endif
#if NUM_SPOT_LIGHT_COORDS > 0
  uniform mat4 spotLightMatrix[ NUM_SPOT_LIGHT_COORDS ];
#endif
`;

const PART_COLORS = /* glsl */ `
uniform sampler2D impostorParts;
uniform sampler2D impostorPartColors;
uniform ivec2 impostorPartLayout;
${partColorGLSL}`;

const replaceChunk = (shader: string, chunk: string, code: string) =>
  shader.replace(`#include <${chunk}>`, () => code);

/**
 * Lets the fragment shader of one of three.js's materials show an impostor.
 *
 * @param parts Whether instances colour parts.
 */
export function impostorFragmentGLSL(fragmentShader: string, isShadow: boolean, parts: boolean): string {
  if (isShadow)
    return readGLSL(SHADOW_BEHIND) + replaceChunk(fragmentShader, 'map_fragment', 'drawImpostor();');
  const functions = readGLSL(0) + (parts ? PART_COLORS : '');
  const color = parts ? 'impostorColor() * impostorPartColor()' : 'impostorColor()';
  let shader = fragmentShader;
  shader = replaceChunk(shader, 'map_fragment', `drawImpostor();\ndiffuseColor.rgb *= ${color};`);
  shader = replaceChunk(
    shader,
    'normal_fragment_begin',
    'float faceDirection = 1.0;\nvec3 normal = impostorFacing();\nvec3 nonPerturbedNormal = normal;',
  );
  const lights = '#include <lights_fragment_begin>';
  if (!shader.includes(lights)) return functions + shader;
  shader = shader.replace(lights, () => `${LIT}\n${lights}`);
  return shader.replace('void main() {', () => `${functions}\n${MATRICES}\nvoid main() {`);
}

const SKINNING = '#include <skinning_vertex>';

/**
 * Lets the vertex shader of the character's own material tell its fragments the part.
 *
 * @param isDeclared Whether something else declares the attribute.
 */
export const tileVertexGLSL = (shader: string, isDeclared: boolean): string => /* glsl */ `
${isDeclared ? '' : PART_INDEX}
flat varying float tilePartIndex;
${shader.replace(SKINNING, `${SKINNING}\ntilePartIndex = partIndex.x;`)}`;

/** Lets the fragment shader of the character's own material write what a tile holds of it. */
export function tileFragmentGLSL(fragmentShader: string): string {
  const normal = fragmentShader.includes('<normal_fragment_begin>') ? 'normal.xy' : 'vec2( 0.0 )';
  const end = fragmentShader.lastIndexOf('}');
  return /* glsl */ `
layout( location = 1 ) out highp vec4 tileShape;
layout( location = 2 ) out highp vec4 tilePart;
flat varying float tilePartIndex;
${fragmentShader.slice(0, end)}
  gl_FragColor = vec4( sqrt( clamp( diffuseColor.rgb, 0.0, 1.0 ) ), 1.0 );
  tileShape = vec4( ${normal} * 0.5 + 0.5, gl_FragCoord.z, 1.0 );
  tilePart = vec4( tilePartIndex / 255.0 );

}
`;
}

export const resolveVertexGLSL = /* glsl */ `
varying vec2 place;

void main() {

  place = uv;
  gl_Position = vec4( position.xy, 0.0, 1.0 );

}
`;

/** From tiles of twice the size to those of the atlas. Around what is covered, colours, normals and depths go on. */
const tilesGLSL = /* glsl */ `
void addTexels( ivec2 at, int width ) {

  tileColor = vec4( 0.0 );
  tileShape = vec4( 0.0 );
  tilePart = vec4( 0.0 );
  for ( int i = 0; i < width * width; i ++ ) {

    ivec2 on = at + ivec2( i % width, i / width );
    vec4 texel = texelFetch( colors, on, 0 );
    tileColor += texel;
    tileShape += texel.w * vec4( texelFetch( shapes, on, 0 ).xyz, 1.0 );
    tilePart = mix( tilePart, texelFetch( parts, on, 0 ), texel.w );

  }

}

void resolveTile( ivec2 at ) {

  addTexels( at, 2 );
  float covered = tileShape.w;
  if ( covered == 0.0 ) addTexels( at - ivec2( 2 ), 6 );
  float count = max( tileShape.w, 0.001 );
  tileColor /= count;
  tileShape = tileShape.w == 0.0 ? vec4( 0.5, 0.5, 0.5, 0.0 ) : vec4( tileShape.xyz / count, covered * 0.25 );

}
`;

export const resolveTilesGLSL = /* glsl */ `
precision highp float;
uniform sampler2D colors;
uniform sampler2D shapes;
uniform sampler2D parts;
varying vec2 place;
layout( location = 0 ) out vec4 tileColor;
layout( location = 1 ) out vec4 tileShape;
layout( location = 2 ) out vec4 tilePart;
${tilesGLSL}
void main() {

  resolveTile( ivec2( place * vec2( textureSize( colors, 0 ) ) * 0.5 ) * 2 );

}
`;

/** All that nodes are made of. */
export const impostorNodesGLSL = /*@__PURE__*/ (() =>
  playedTexelGLSL('playedLayout.z', 'playedLayout.y') +
  impostorQuadGLSL +
  surfaceGLSL +
  partColorGLSL +
  tilesGLSL)();
