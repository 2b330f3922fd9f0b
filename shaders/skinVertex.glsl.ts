import type { Material } from 'three';
import { PALETTE_COLUMNS, SHADING_COLUMN, UNEVEN_INSTANCES, UNEVEN_PARTS } from '../lib/constants.js';
import { drawSlotsGLSL } from './drawSlots.glsl.js';

import { instanceIndexGLSL } from './instanceIndex.glsl.js';
import { motionChunks } from './MotionProgram.js';
import { morphsGLSL } from './morphTargets.glsl.js';
import { placedFirst } from './placeVertex.glsl.js';
import { type ShaderVariant, variantOf } from './ShaderVariant.js';
import type { SourceGLSL } from './SourceGLSL.js';

/** Chunks that a material without light has no use for. */
const OPTIONAL = ['skinnormal_vertex'];

/** @param hidden GLSL of whether the vertex is not to be seen; then it is at one point with all the others that are not. */
const skinnedGLSL = (hidden: string): string =>
  hidden === ''
    ? 'mat3x4 crowdSkin = skinningMatrix();'
    : /* glsl */ `mat3x4 crowdSkin = mat3x4( 0.0 );\nif ( ! ( ${hidden} ) ) crowdSkin = skinningMatrix();`;

/** Which part a vertex belongs to, and which of the materials that were merged. */
export const PART_INDEX = 'attribute vec2 partIndex;';

/** How vectors are posed with the skinning matrix. */
const POSED = /* glsl */ `
vec4 posed( vec4 vector, mat3x4 skin ) {

  vector.xyz = vector * skin;
  #ifdef CROWD_BACK
    vector.xyz = vector * crowdBack;
  #endif
  return vector;

}
`;

/** How positions and normals are, unless a source of the program knows better. */
const posedGLSL = (uneven: boolean, shaded: boolean): string => /* glsl */ `
${shaded ? turnedNormalGLSL + SHADED : ''}

vec3 posedPosition( vec3 position, mat3x4 skin ) {

  return posed( vec4( position, 1.0 ), skin ).xyz;

}

vec3 posedNormal( vec3 normal, mat3x4 skin ) {

  normal = posed( vec4( normal, 0.0 ), skin ).xyz;
  ${shaded ? /* glsl */ `if ( ${SHADING_COLUMN} > 0.5 ) return shadedNormal( normal );` : ''}
  ${uneven ? UNEVEN : ''}
  return normal;

}
`;

/** Turns a normal by a matrix's inverse, and then by the inverse's transpose. */
export const turnedNormalGLSL = /* glsl */ `
vec3 turnedNormal( vec3 x, vec3 y, vec3 z, vec3 normal ) {

  vec3 yz = cross( y, z ), zx = cross( z, x ), xy = cross( x, y );
  float size = dot( x, yz );
  vec3 turned = normal.x * yz + normal.y * zx + normal.z * xy;
  return vec3( dot( yz, turned ), dot( zx, turned ), dot( xy, turned ) ) / max( size * size, 1e-30 );

}
`;

/** Where an instance may be scaled unevenly, its normals are turned as three.js does it, by the inverse's transpose. */
const UNEVEN = /* glsl */ `
  mat3x4 unplacing = unplacingRows();
  normal = mat3( unplacing ) * ( vec4( normal, 0.0 ) * unplacing );
`;

/**
 * three.js turns normals by the inverse's transpose of the matrix of their mesh, and those of skins before by its inverse. Where no
 * other matrix does the same, a joint of the mesh's own says what it is: both do at posed normals what they do there.
 */
const SHADED = /*@__PURE__*/ (() => /* glsl */ `
attribute float ${SHADING_COLUMN};
vec4 followedJoints;
vec4 followedWeights;

mat3x4 skinningMatrix();

vec3 shadedNormal( vec3 normal ) {

  followedJoints = vec4( ${SHADING_COLUMN} - 1.0, 0.0, 0.0, 0.0 );
  followedWeights = vec4( 1.0, 0.0, 0.0, 0.0 );
  mat3 rows = mat3( skinningMatrix() );
  #ifdef CROWD_BACK
    rows *= mat3( crowdBack );
  #endif
  return turnedNormal( rows[ 0 ], rows[ 1 ], rows[ 2 ], normal );

}
`)();

/** What the shaders of a material are made for. */
export interface CrowdProgram {
  /** Codes of the variants that the material is drawn with. Several are told apart at run time. */
  codes: readonly number[];
  /** Index of the draw parameter that holds the code of the object drawn. */
  variantParameter: number;
  /** What its textures ask for, see `SurfaceGLSL.mapsOf`. */
  maps: number;
  /** `UNEVEN_INSTANCES` and `UNEVEN_PARTS`, as far as either may be. */
  uneven: number;
  /** Whether the user has changed the vertex shader: what it does to posed vertices, it does where the instance is the origin. */
  isOwn: boolean;
  /** Whether it moves vertices where the instance is the origin: a displacement map does. */
  displaced: boolean;
  /** Whether it reads colours of instances. */
  colored: boolean;
  sourceOf(variant: ShaderVariant): SourceGLSL;
  /** What vertices and fragments read of instances and merged materials, where the page has any. */
  surfaces: readonly SurfaceGLSL[];
}

/** Brings what instances have of their own, and what merged materials are made of, into the shaders of a material. */
export interface SurfaceGLSL {
  /** Declares it in a vertex shader, and calls there what reads it. */
  vertex(shader: string, codes: readonly number[], maps: number): string;
  /** Functions that read it, and attributes; to be declared where `instanceIndex()` is. */
  functions(codes: readonly number[], maps: number): readonly string[];
  /** What a material's textures ask of its shaders: another number, another program. Called before each draw. */
  mapsOf?(material: Material): number;
  /** Adds what its program reads. */
  uniforms?(material: Material, target: Record<string, object>): void;
  /** GLSL of whether a vertex is not to be seen; empty if all are. */
  hidden?(codes: readonly number[]): string;
  /** @param dropped Called for what the shader has no place for, since it lacks a chunk. */
  fragment?(shader: string, material: SurfaceProgram, dropped: (name: string, chunk: string) => void): string;
}

/** What is known of a material when its program is made. */
export interface SurfaceProgram {
  codes: readonly number[];
  /** Whether it fills shadow maps. */
  shadow: boolean;
  maps: number;
}

/**
 * Replaces three.js's skinning chunks in a vertex shader, of a picture or of a shadow map, whose includes are not yet resolved. The
 * chunks' own text does not matter: another library on the page may have replaced it.
 *
 * @returns Null if the shader lacks a chunk, so that it could not be posed.
 */
export function skinVertexGLSL(vertexShader: string, program: CrowdProgram): string | null {
  const variants = program.codes.map(variantOf);
  const { move, shift, turn } = motionChunks(program.codes);
  const hidden = program.surfaces.map((surface) => surface.hidden?.(program.codes) ?? '').join('');
  const skinned = (isShaded(program) ? FOLLOW() : '') + skinnedGLSL(hidden) + move;
  const chunks: Record<string, string> = {
    skinning_pars_vertex: skinningFunctions(program),

    skinbase_vertex: skinned,

    skinnormal_vertex: /* glsl */ `
objectNormal = posedNormal( objectNormal${turn[0]}, crowdSkin )${turn[1]};
#ifdef USE_TANGENT
  objectTangent = posed( vec4( objectTangent, 0.0 ), crowdSkin ).xyz;
#endif
`,

    skinning_vertex: /* glsl */ `transformed = posedPosition( transformed${shift[0]}, crowdSkin )${shift[1]};`,
  };
  const hasMorphs = vertexShader.includes('#include <morphinstance_vertex>');
  if (hasMorphs) chunks.morphinstance_vertex = INSTANCE_MORPHS;
  if (hasMorphs && variants.some(({ morphs }) => morphs)) {
    // Morphing comes before skinning, and needs to know what the clips add to it.
    chunks.skinbase_vertex = '';
    chunks.morphinstance_vertex += clipMorphs(skinned);
  }

  let shader = preparedFirst(vertexShader, program);
  for (const [name, code] of Object.entries(chunks)) {
    const include = `#include <${name}>`;
    if (!shader.includes(include)) {
      if (OPTIONAL.includes(name)) continue;
      return null;
    }
    shader = shader.replace(include, () => code);
  }
  return shader;
}

/** A point that a shader projects itself, as MToonMaterial and `OutlineEffect` do for outlines: three.js's chunk would have placed it. */
const OWN_PROJECTION = /(\bprojectionMatrix\s*\*\s*modelViewMatrix\s*\*)/g;

/** Lets a shader know what is drawn, the instance and what it has of its own, before it does anything else. */
function preparedFirst(vertexShader: string, program: CrowdProgram): string {
  const { codes, maps, surfaces } = program;
  const placed = /\binstanceMatrix\b/.test(vertexShader)
    ? vertexShader
    : vertexShader.replace(OWN_PROJECTION, '$1 instanceMatrix *');
  const shader = surfaces.reduce((text, surface) => surface.vertex(text, codes, maps), placed);
  return placedFirst(shader, askedOf(program));
}

const clipMorphs = (skinned: string) => /* glsl */ `
clearMorphs();
${skinned}
#ifdef USE_MORPHTARGETS

  float crowdInfluences[ MORPHTARGETS_COUNT ];
  for ( int i = 0; i < MORPHTARGETS_COUNT; i ++ ) crowdInfluences[ i ] = morphTargetInfluences[ i ] + crowdMorphs[ i ];
  #define morphTargetInfluences crowdInfluences

#endif
`;

/**
 * What three.js's chunk does, for the instance that is drawn. Not made from the chunk: InstancedMesh2, where it is on the page too,
 * changes that one, and the build of three.js that pages for WebGPU call "three" has no chunks at all.
 */
const INSTANCE_MORPHS = /* glsl */ `
#ifdef USE_INSTANCING_MORPH

  float morphTargetInfluences[ MORPHTARGETS_COUNT ];
  float morphTargetBaseInfluence = texelFetch( morphTexture, ivec2( 0, instanceIndex() ), 0 ).r;
  for ( int i = 0; i < MORPHTARGETS_COUNT; i ++ ) {

    morphTargetInfluences[ i ] = texelFetch( morphTexture, ivec2( i + 1, instanceIndex() ), 0 ).r;

  }

#endif
`;

function skinningFunctions(program: CrowdProgram): string {
  const { codes, maps, sourceOf, surfaces, variantParameter } = program;
  const variants = codes.map(variantOf);
  const morphs = variants.some((variant) => variant.morphs);
  const motions = motionChunks(codes);
  const declarations = new Set([
    instanceIndexGLSL(askedOf(program)),
    ...(morphs ? [morphsGLSL] : []),
    ...surfaces.flatMap((surface) => surface.functions(codes, maps)),
    ...variants.flatMap((variant) => sourceOf(variant).declarations(morphs)),
    POSED,
    ...(variants.some((variant) => sourceOf(variant).definesPosed)
      ? []
      : [posedGLSL((program.uneven & UNEVEN_INSTANCES) > 0 && isPlaced(program), isShaded(program))]),
  ]);

  const functions = [`attribute vec4 ${PALETTE_COLUMNS};`, ...declarations];
  const single = codes.length === 1;
  codes.forEach((code, i) => {
    const name = single ? 'skinningMatrix' : `skinningMatrix_${code}`;
    const matrix = sourceOf(variants[i]).skinningMatrix(name, variants[i]);
    functions.push(isShaded(program) ? followed(matrix) : matrix);
  });
  if (!single) {
    const branches = codes.map(
      (code) => /* glsl */ `if ( code == ${code} ) return skinningMatrix_${code}();`,
    );
    functions.push(/* glsl */ `
mat3x4 skinningMatrix() {

  int code = CROWD_VARIANT;
  ${branches.join('\n  ')}
  return mat3x4( 0.0 );

}
`);
  }
  const text = functions.join('\n') + motions.declarations;
  return drawSlotsGLSL(text, variantParameter, motions.vectors) + text;
}

const FOLLOW = () => /* glsl */ `followedJoints = ${PALETTE_COLUMNS};\nfollowedWeights = skinWeight;\n`;

const followed = (matrix: string) =>
  matrix.replace(PALETTE_COLUMNS, 'followedJoints').replace('skinWeight', 'followedWeights');

/** Whether vertices may say by which joint their normals are turned. */
const isShaded = ({ uneven, codes, sourceOf }: CrowdProgram): boolean =>
  (uneven & UNEVEN_PARTS) > 0 && codes.every((code) => !sourceOf(variantOf(code)).definesPosed);

const askedOf = (program: CrowdProgram) => ({ placed: isPlaced(program), colored: program.colored });

/** Whether skinning matrices place all that a program draws, and nothing is done to vertices before they are placed. */
const isPlaced = ({ codes, sourceOf, isOwn, displaced }: CrowdProgram): boolean =>
  !isOwn &&
  !displaced &&
  motionChunks(codes).vectors === 0 &&
  codes.every((code) => sourceOf(variantOf(code)).places);
