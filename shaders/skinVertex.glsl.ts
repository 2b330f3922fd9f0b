import { drawParameterGLSL } from './drawParameter.js';
import { encodingGLSL } from './encodings/index.js';
import { morphsGLSL } from './morphTargets.glsl.js';
import { paletteGLSL, paletteMatrixGLSL, paletteMorphsGLSL } from './palette.glsl.js';
import { type ShaderVariant, variantOf } from './ShaderVariant.js';
import { type SlotSource, skinningCommonGLSL, skinningMatrixGLSL } from './skinningMatrix.glsl.js';

/** Chunks that a material without colours, maps or light has no use for. */
const OPTIONAL = ['skinnormal_vertex', 'color_vertex', 'uv_vertex'];

/**
 * Replaces three.js's skinning chunks in a vertex shader whose includes are not yet resolved. The chunks' own text does
 * not matter: another library on the page may have replaced it.
 *
 * @param codes Variants that this material is drawn with. Several are told apart at run time.
 * @param variantParameter Index of the draw parameter that holds the code of the object drawn.
 * @param slots Where the shader finds what an instance plays.
 * @returns Null if the shader lacks a chunk, so that it could not be posed.
 */
export function skinVertexGLSL(
  vertexShader: string,
  codes: readonly number[],
  variantParameter: number,
  slots: SlotSource,
): string | null {
  const skinned = 'mat3x4 crowdSkin = skinningMatrix();';
  const chunks: Record<string, string> = {
    skinning_pars_vertex: skinningFunctions(codes, variantParameter, slots),

    skinbase_vertex: skinned,

    skinnormal_vertex: /* glsl */ `
objectNormal = vec4( objectNormal, 0.0 ) * crowdSkin;
#ifdef USE_TANGENT
  objectTangent = vec4( objectTangent, 0.0 ) * crowdSkin;
#endif
`,

    skinning_vertex: 'transformed = vec4( transformed, 1.0 ) * crowdSkin;',
  };
  if (codes.some((code) => variantOf(code).parts)) {
    chunks.uv_vertex = /* glsl */ `
#include <uv_vertex>
#ifdef USE_MAP
  vMapUv += mat2( mapTransform ) * partMap();
#endif
`;
    chunks.color_vertex = /* glsl */ `
#include <color_vertex>
#ifdef USE_INSTANCING_COLOR
  vColor.rgb *= partColor();
#endif
`;
  }

  if (
    codes.some((code) => variantOf(code).morphs) &&
    vertexShader.includes('#include <morphinstance_vertex>')
  ) {
    // Morphing comes before skinning, and needs to know what the clips add to it.
    chunks.skinbase_vertex = '';
    chunks.morphinstance_vertex = /* glsl */ `
#include <morphinstance_vertex>
clearMorphs();
${skinned}
#ifdef USE_MORPHTARGETS

  float crowdInfluences[ MORPHTARGETS_COUNT ];
  for ( int i = 0; i < MORPHTARGETS_COUNT; i ++ ) crowdInfluences[ i ] = morphTargetInfluences[ i ] + crowdMorphs[ i ];
  #define morphTargetInfluences crowdInfluences

#endif
`;
  }

  let shader = vertexShader;
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

function skinningFunctions(codes: readonly number[], variantParameter: number, slots: SlotSource): string {
  const variants = codes.map(variantOf);
  const encodings = new Set(variants.map((variant: ShaderVariant) => variant.encoding));
  const anyParts = variants.some(({ parts }) => parts);

  const morphs = variants.some((variant) => variant.morphs) ? [morphsGLSL] : [];
  const functions = [
    skinningCommonGLSL(
      textureCount(codes, slots),
      anyParts ? partsTextureGLSL(codes, variants, variantParameter) : null,
      slots,
    ),
    ...morphs,
    ...[...encodings].map((encoding) => (encoding === 'tracks' ? paletteGLSL : encodingGLSL[encoding])),
    ...(morphs.length > 0 && encodings.has('tracks') ? [paletteMorphsGLSL] : []),
  ];
  const single = codes.length === 1;
  codes.forEach((code, i) => {
    const skinningMatrix = variants[i].encoding === 'tracks' ? paletteMatrixGLSL : skinningMatrixGLSL;
    functions.push(skinningMatrix(single ? 'skinningMatrix' : `skinningMatrix_${code}`, variants[i]));
  });
  const codeGLSL = codeOf(variantParameter);
  if (!single) {
    const branches = codes.map((code) => `if ( code == ${code} ) return skinningMatrix_${code}();`);
    functions.push(/* glsl */ `
mat3x4 skinningMatrix() {

  int code = ${codeGLSL};
  ${branches.join('\n  ')}
  return mat3x4( 0.0 );

}
`);
  }
  if (anyParts) {
    const plain = codes.filter((_, i) => !variants[i].parts).map((code) => `code == ${code}`);
    const unless = (value: string) =>
      plain.length > 0 ? `int code = ${codeGLSL};\n  if ( ${plain.join(' || ')} ) return ${value};` : '';
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

/** How many textures the shaders of these variants read: what an object that they draw must have bound. */
export function textureCount(codes: readonly number[], slots: SlotSource): number {
  const variants = codes.map(variantOf);
  const palettes = variants.some(({ encoding }) => encoding === 'tracks');
  const parts = variants.some((variant) => variant.parts);
  if (slots === 'texture' || (palettes && parts)) return 4;
  return palettes || parts ? 3 : 2;
}

function codeOf(variantParameter: number): string {
  return `int( ${drawParameterGLSL(variantParameter)} + 0.5 )`;
}

/** Reads a texel of the parts' texture: behind the three of a palette, or behind the bone texture and the older slots. */
function partsTextureGLSL(
  codes: readonly number[],
  variants: readonly ShaderVariant[],
  variantParameter: number,
): string {
  const palettes = codes.filter((_, i) => variants[i].encoding === 'tracks');
  const read = (texture: number) => `texelFetch( boneTexture[ ${texture} ], at, 0 )`;
  if (palettes.length === 0) return read(2);
  if (palettes.length === codes.length) return read(3);
  const isPalette = palettes.map((code) => `${codeOf(variantParameter)} == ${code}`).join(' || ');
  return `( ${isPalette} ) ? ${read(3)} : ${read(2)}`;
}
