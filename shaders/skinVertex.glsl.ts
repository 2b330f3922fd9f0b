import { TEXTURE_PARTS, TEXTURE_SEEDS, TEXTURE_UNIFORMS, TEXTURE_VIEW } from '../lib/constants.js';
import { drawSlotsGLSL } from './drawSlots.glsl.js';

import { instanceIndexGLSL } from './instanceIndex.glsl.js';
import {
  declareUniformsGLSL,
  READ_UNIFORMS,
  readUniformsGLSL,
  uniformsOfProgram,
} from './instanceUniforms.glsl.js';
import { motionChunks } from './MotionProgram.js';
import { mergedVertexGLSL } from './mergedSurface.glsl.js';
import { morphsGLSL } from './morphTargets.glsl.js';
import { partsGLSL } from './parts.glsl.js';
import { callFirst, placedFirst } from './placeVertex.glsl.js';
import { type ShaderVariant, variantOf } from './ShaderVariant.js';
import type { SlotSource, SourceGLSL, TextureCounts } from './SourceGLSL.js';

/** Chunks that a material without colours, maps or light has no use for. */
const OPTIONAL = ['skinnormal_vertex', 'color_vertex', 'uv_vertex'];

const SKINNED = 'mat3x4 crowdSkin = skinningMatrix();';

/** How vertices are posed with the skinning matrix, unless a source of the program knows better. */
const POSED = /* glsl */ `
vec3 posedPosition( vec3 position, mat3x4 skin ) {

  return vec4( position, 1.0 ) * skin;

}

vec3 posedNormal( vec3 normal, mat3x4 skin ) {

  return vec4( normal, 0.0 ) * skin;

}
`;

/** What the shaders of a material are made for. */
export interface CrowdProgram {
  /** Codes of the variants that the material is drawn with. Several are told apart at run time. */
  codes: readonly number[];
  /** Index of the draw parameter that holds the code of the object drawn. */
  variantParameter: number;
  /** Where the shader finds what an instance plays. */
  slots: SlotSource;
  /** Whether the material was merged of several with different textures. */
  merged: boolean;
  sourceOf(variant: ShaderVariant): SourceGLSL;
}

/**
 * Replaces three.js's skinning chunks in a vertex shader whose includes are not yet resolved. The chunks' own text does
 * not matter: another library on the page may have replaced it.
 *
 * @returns Null if the shader lacks a chunk, so that it could not be posed.
 */
export function skinVertexGLSL(vertexShader: string, program: CrowdProgram): string | null {
  const variants = program.codes.map(variantOf);
  const { declarations, move, shift, turn } = motionChunks(program.codes);
  const skinned = SKINNED + move;
  const chunks: Record<string, string> = {
    skinning_pars_vertex: skinningFunctions(program) + declarations,

    skinbase_vertex: skinned,

    skinnormal_vertex: /* glsl */ `
objectNormal = posedNormal( objectNormal${turn[0]}, crowdSkin )${turn[1]};
#ifdef USE_TANGENT
  objectTangent = vec4( objectTangent, 0.0 ) * crowdSkin;
#endif
`,

    skinning_vertex: `transformed = posedPosition( transformed${shift[0]}, crowdSkin )${shift[1]};`,
  };
  if (variants.some(({ parts }) => parts)) Object.assign(chunks, partChunks);
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

/** Lets a shader know what is drawn, the instance and what it has of its own, before it does anything else. */
function preparedFirst(vertexShader: string, { codes, merged }: CrowdProgram): string {
  const uniforms = uniformsOfProgram(codes);
  let shader = merged ? mergedVertexGLSL(vertexShader) : vertexShader;
  if (uniforms.texels > 0) shader = declareUniformsGLSL(uniforms) + callFirst(shader, READ_UNIFORMS);
  return codes.some((code) => variantOf(code).view) ? placedFirst(shader) : shader;
}

const partChunks = {
  uv_vertex: /* glsl */ `
#include <uv_vertex>
#ifdef USE_MAP
  vMapUv += mat2( mapTransform ) * partMap();
#endif
`,
  color_vertex: /* glsl */ `
#include <color_vertex>
#ifdef USE_INSTANCING_COLOR
  vColor.rgb *= partColor();
#endif
`,
};

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
  const { codes, slots, merged, sourceOf, variantParameter } = program;
  const variants = codes.map(variantOf);
  const anyParts = variants.some(({ parts }) => parts);
  const morphs = variants.some((variant) => variant.morphs);
  const uniforms = uniformsOfProgram(codes);
  const declarations = new Set([
    drawSlotsGLSL(textureCounts(program), variantParameter, motionChunks(codes).vectors),
    instanceIndexGLSL(
      variants.some(({ view }) => view),
      variants.some(({ fades }) => fades),
    ),
    ...(anyParts || merged ? ['attribute vec2 partIndex;'] : []),
    ...(anyParts ? [partsGLSL] : []),
    ...(morphs ? [morphsGLSL] : []),
    ...(uniforms.texels > 0 ? [readUniformsGLSL(codes, uniforms)] : []),
    ...variants.flatMap((variant) => sourceOf(variant).declarations(slots, morphs)),
    ...(variants.some((variant) => sourceOf(variant).definesPosed) ? [] : [POSED]),
  ]);

  const functions = [...declarations];
  const single = codes.length === 1;
  codes.forEach((code, i) => {
    const name = single ? 'skinningMatrix' : `skinningMatrix_${code}`;
    functions.push(sourceOf(variants[i]).skinningMatrix(name, variants[i]));
  });
  if (!single) {
    const branches = codes.map((code) => `if ( code == ${code} ) return skinningMatrix_${code}();`);
    functions.push(/* glsl */ `
mat3x4 skinningMatrix() {

  int code = CROWD_VARIANT;
  ${branches.join('\n  ')}
  return mat3x4( 0.0 );

}
`);
  }
  if (anyParts) {
    const plain = isAnyOf(
      codes.filter((_, i) => !variants[i].parts),
      codes,
    );
    const unless = (value: string) => (plain === null ? '' : `if ( ${plain} ) return ${value};`);
    functions.push(/* glsl */ `
vec3 partColor() {

  ${unless('vec3( 1.0 )')}
  return instancePart().rgb;

}

vec2 partMap() {

  ${unless('vec2( 0.0 )')}
  return partMapOffset();

}
`);
  }
  return functions.join('\n');
}

/** GLSL that says whether the object drawn has one of some codes among all of a program; null where none can have. */
function isAnyOf(some: readonly number[], all: readonly number[]): string | null {
  if (some.length === 0) return null;
  return some.length === all.length ? 'true' : some.map((code) => `CROWD_VARIANT == ${code}`).join(' || ');
}

/** How many textures the shaders of these variants declare: what an object that they draw must have bound. */
export function textureCounts({
  codes,
  slots,
  sourceOf,
}: Omit<CrowdProgram, 'variantParameter' | 'merged'>): TextureCounts {
  const variants = codes.map(variantOf);
  const sources = variants.map(sourceOf);
  const textures = Math.max(...sources.map((source) => source.textures(slots)));
  const integers = Math.max(...sources.map((source) => source.integers ?? 0));
  if (motionChunks(codes).readsSeeds) return { textures: TEXTURE_SEEDS + 1, integers };
  if (variants.some(({ uniforms }) => uniforms > 0)) return { textures: TEXTURE_UNIFORMS + 1, integers };
  if (variants.some(({ view }) => view)) return { textures: TEXTURE_VIEW + 1, integers };
  if (variants.some(({ parts }) => parts)) return { textures: TEXTURE_PARTS + 1, integers };
  return { textures, integers };
}
