import {
  PARAM_CLOCK,
  PARAM_MORPH_TEXEL,
  PARAM_PARTS,
  PARAM_PARTS_PER_ROW,
  PARAM_ROWS,
  PARAM_STRIDE,
  TEXTURE_MATRICES,
  TEXTURE_PARTS,
  TEXTURE_VIEW,
} from '../lib/constants.js';

const parameter = (index: number) => `bindMatrix[ ${index >> 2} ][ ${index & 3} ]`;

/**
 * Declares what a draw of WebGLRenderer tells shaders, and names it. three.js sets two uniforms for each object that says
 * it is skinned: a bone texture, in whose place there is an array of textures, and a bind matrix, which holds the draw's
 * parameters.
 *
 * @param textures How many of the textures shaders may read.
 * @param variantParameter Index of the parameter that says which shader variant the object is drawn with.
 */
export const drawSlotsGLSL = (textures: number, variantParameter: number): string => /* glsl */ `
uniform highp sampler2D boneTexture[ ${textures} ];
uniform highp mat4 bindMatrix;

#define CROWD_BONE_TEXTURE boneTexture[ 0 ]
#define CROWD_FADING_SLOTS boneTexture[ 1 ]
#define CROWD_NEWEST_SLOTS boneTexture[ 2 ]
#define CROWD_PALETTE_ROW0 boneTexture[ 0 ]
#define CROWD_PALETTE_ROW1 boneTexture[ 1 ]
#define CROWD_PALETTE_ROW2 boneTexture[ 2 ]
#define CROWD_PARTS boneTexture[ ${TEXTURE_PARTS} ]
#define CROWD_MATRICES boneTexture[ ${TEXTURE_MATRICES} ]
#define CROWD_VIEW boneTexture[ ${TEXTURE_VIEW} ]

#define CROWD_CLOCK ${parameter(PARAM_CLOCK)}
#define CROWD_ROWS ${parameter(PARAM_ROWS)}
#define CROWD_STRIDE ${parameter(PARAM_STRIDE)}
#define CROWD_MORPH_TEXEL int( ${parameter(PARAM_MORPH_TEXEL)} )
#define CROWD_PART_COUNT int( ${parameter(PARAM_PARTS)} )
#define CROWD_PARTS_PER_ROW int( ${parameter(PARAM_PARTS_PER_ROW)} )
#define CROWD_VARIANT int( ${parameter(variantParameter)} + 0.5 )
`;
