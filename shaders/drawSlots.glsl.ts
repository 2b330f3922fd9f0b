import {
  FIRST_LISTED,
  FLOAT_TEXTURES,
  INTEGER_TEXTURES,
  PARAM_CLOCK,
  PARAM_EPOCH,
  PARAM_LISTED,
  PARAM_LOOKS_UP,
  PARAM_MORPH_TEXEL,
  PARAM_PARTS,
  PARAM_PARTS_PER_ROW,
  PARAM_ROWS,
  PARAM_STRIDE,
} from '../lib/constants.js';

const parameter = (index: number) => `bindMatrix[ ${index >> 2} ][ ${index & 3} ]`;

const nameOf = (field: string) => `CROWD_${field.toUpperCase()}`;

const declared = (fields: readonly string[], type: string, functions: string) =>
  fields.map((field) => (functions.includes(nameOf(field)) ? `  highp ${type} ${field};` : '')).join('\n');

/**
 * Declares what a draw of WebGLRenderer tells shaders, and names it. three.js sets two uniforms for each object that says
 * it is skinned: a bone texture, in whose place there is a struct with the textures that the shader reads, and a
 * bind matrix, which holds the draw's parameters.
 *
 * @param functions What reads textures. No others are declared: three.js binds each that is, in each draw.
 * @param variantParameter Index of the parameter that says which shader variant the object is drawn with.
 * @param motionVectors How many vectors of numbers shaders are told of motions.
 */
export const drawSlotsGLSL = (
  functions: string,
  variantParameter: number,
  motionVectors = 0,
): string => /* glsl */ `
struct CrowdTextures {
${declared(FLOAT_TEXTURES, 'sampler2D', functions)}
${declared(INTEGER_TEXTURES, 'usampler2D', functions)}
  ${motionVectors > 0 ? `highp vec4 motion[ ${motionVectors} ];` : ''}
};
uniform CrowdTextures boneTexture;
uniform highp mat4 bindMatrix;

${[...FLOAT_TEXTURES, ...INTEGER_TEXTURES].map((field) => `#define ${nameOf(field)} boneTexture.${field}`).join('\n')}

#define CROWD_CLOCK ${parameter(PARAM_CLOCK)}
#define CROWD_EPOCH ${parameter(PARAM_EPOCH)}
#define CROWD_ROWS ${parameter(PARAM_ROWS)}
#define CROWD_STRIDE ${parameter(PARAM_STRIDE)}
#define CROWD_MORPH_TEXEL int( ${parameter(PARAM_MORPH_TEXEL)} )
#define CROWD_PART_COUNT int( ${parameter(PARAM_PARTS)} )
#define CROWD_PARTS_PER_ROW int( ${parameter(PARAM_PARTS_PER_ROW)} )
#define CROWD_FIRST ( floatBitsToInt( ${parameter(PARAM_LISTED)} ) & ${FIRST_LISTED - 1} )
#define CROWD_LOOKS_UP ( ${parameter(PARAM_LOOKS_UP)} > 0.5 )
#define CROWD_VARIANT int( ${parameter(variantParameter)} + 0.5 )
`;
