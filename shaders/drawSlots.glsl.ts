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
  TEXTURE_COLORS,
  TEXTURE_LIST,
  TEXTURE_MATRICES,
  TEXTURE_PARTS,
  TEXTURE_SEEDS,
  TEXTURE_UNIFORMS,
} from '../lib/constants.js';
import type { TextureCounts } from './SourceGLSL.js';

const parameter = (index: number) => `bindMatrix[ ${index >> 2} ][ ${index & 3} ]`;

/**
 * Declares what a draw of WebGLRenderer tells shaders, and names it. three.js sets two uniforms for each object that says
 * it is skinned: a bone texture, in whose place there is a struct with all textures that the crowd's shaders read, and a
 * bind matrix, which holds the draw's parameters.
 *
 * @param counts How many textures shaders may read.
 * @param variantParameter Index of the parameter that says which shader variant the object is drawn with.
 * @param motionVectors How many vectors of numbers shaders are told of motions.
 */
export const drawSlotsGLSL = (
  { textures, integers }: TextureCounts,
  variantParameter: number,
  motionVectors = 0,
): string => /* glsl */ `
struct CrowdTextures {
  highp sampler2D textures[ ${textures} ];
  ${integers > 0 ? `highp usampler2D integers[ ${integers} ];` : ''}${motionVectors > 0 ? `\n  highp vec4 motion[ ${motionVectors} ];` : ''}
};
uniform CrowdTextures boneTexture;
uniform highp mat4 bindMatrix;

#define CROWD_BONE_TEXTURE boneTexture.textures[ 0 ]
#define CROWD_INSTANCES boneTexture.textures[ 0 ]
#define CROWD_PLAYED boneTexture.textures[ 1 ]
#define CROWD_PALETTE_ROW0 boneTexture.integers[ 0 ]
#define CROWD_PALETTE_ROW1 boneTexture.integers[ 1 ]
#define CROWD_PALETTE_ROW2 boneTexture.integers[ 2 ]
#define CROWD_PARTS boneTexture.textures[ ${TEXTURE_PARTS} ]
#define CROWD_MATRICES boneTexture.textures[ ${TEXTURE_MATRICES} ]
#define CROWD_LIST boneTexture.textures[ ${TEXTURE_LIST} ]
#define CROWD_COLORS boneTexture.textures[ ${TEXTURE_COLORS} ]
#define CROWD_UNIFORMS boneTexture.textures[ ${TEXTURE_UNIFORMS} ]${motionVectors > 0 ? `\n#define CROWD_SEEDS boneTexture.textures[ ${TEXTURE_SEEDS} ]` : ''}

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
