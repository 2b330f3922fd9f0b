import {
  FIRST_LISTED,
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

/** Textures of `DrawTextures` by how shaders call them: their types, their fields, and where they are declared if not wherever they are read. */
const TEXTURES: readonly [name: string, type: string, field: string, where?: string][] = [
  ['CROWD_LIST', 'sampler2D', 'list'],
  ['CROWD_INSTANCES', 'sampler2D', 'instances'],
  ['CROWD_COLORS', 'sampler2D', 'colors', 'USE_INSTANCING_COLOR'],
  ['CROWD_MATRICES', 'sampler2D', 'matrices', 'CROWD_UNPLACED'],
  ['CROWD_PALETTE_ROW0', 'usampler2D', 'row0'],
  ['CROWD_PALETTE_ROW1', 'usampler2D', 'row1'],
  ['CROWD_PALETTE_ROW2', 'usampler2D', 'row2'],
  ['CROWD_BONE_TEXTURE', 'sampler2D', 'baked'],
  ['CROWD_PLAYED', 'sampler2D', 'played'],
  ['CROWD_VERTICES', 'usampler2D', 'vertices'],
  ['CROWD_PARTS', 'sampler2D', 'parts'],
  ['CROWD_UNIFORMS', 'sampler2D', 'uniforms'],
  ['CROWD_SEEDS', 'sampler2D', 'seeds'],
];

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
${TEXTURES.filter(([name]) => functions.includes(name))
  .map(([, type, field, where]) => {
    const declared = `  highp ${type} ${field};`;
    return where === undefined ? declared : `  #ifdef ${where}\n${declared}\n  #endif`;
  })
  .join('\n')}
  ${motionVectors > 0 ? `highp vec4 motion[ ${motionVectors} ];` : ''}
};
uniform CrowdTextures boneTexture;
uniform highp mat4 bindMatrix;

${TEXTURES.map(([name, , field]) => `#define ${name} boneTexture.${field}`).join('\n')}

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
