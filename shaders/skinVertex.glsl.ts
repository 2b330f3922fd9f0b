import { encodingGLSL } from './encodings/index.js';
import { type ShaderVariant, variantOf } from './ShaderVariant.js';
import { drawParameterGLSL, skinningCommonGLSL, skinningMatrixGLSL } from './skinningMatrix.glsl.js';

/**
 * Replaces three.js's skinning chunks in a vertex shader whose includes are not yet resolved. The chunks' own text does
 * not matter: another library on the page may have replaced it.
 *
 * @param codes Variants that this material is drawn with. Several are told apart at run time.
 * @param variantParameter Index of the draw parameter that holds the code of the object drawn.
 * @returns Null if the shader lacks a chunk, so that it could not be posed.
 */
export function skinVertexGLSL(
  vertexShader: string,
  codes: readonly number[],
  variantParameter: number,
): string | null {
  const chunks: Record<string, string> = {
    skinning_pars_vertex: skinningFunctions(codes, variantParameter),

    skinbase_vertex: 'mat3x4 crowdSkin = skinningMatrix();',

    skinnormal_vertex: /* glsl */ `
objectNormal = vec4( objectNormal, 0.0 ) * crowdSkin;
#ifdef USE_TANGENT
  objectTangent = vec4( objectTangent, 0.0 ) * crowdSkin;
#endif
`,

    skinning_vertex: 'transformed = vec4( transformed, 1.0 ) * crowdSkin;',
  };

  let shader = vertexShader;
  for (const [name, code] of Object.entries(chunks)) {
    const include = `#include <${name}>`;
    if (!shader.includes(include)) {
      if (name === 'skinnormal_vertex') continue;
      return null;
    }
    shader = shader.replace(include, () => code);
  }
  return shader;
}

function skinningFunctions(codes: readonly number[], variantParameter: number): string {
  const variants = codes.map(variantOf);
  const encodings = new Set(variants.map((variant: ShaderVariant) => variant.encoding));

  const parts = [skinningCommonGLSL, ...[...encodings].map((encoding) => encodingGLSL[encoding])];
  if (codes.length === 1) {
    parts.push(skinningMatrixGLSL('skinningMatrix', variants[0]));
  } else {
    codes.forEach((code, i) => parts.push(skinningMatrixGLSL(`skinningMatrix_${code}`, variants[i])));
    const branches = codes.map((code) => `if ( code == ${code} ) return skinningMatrix_${code}();`);
    parts.push(`
mat3x4 skinningMatrix() {

  int code = int( ${drawParameterGLSL(variantParameter)} + 0.5 );
  ${branches.join('\n  ')}
  return mat3x4( 0.0 );

}
`);
  }
  return parts.join('\n');
}
