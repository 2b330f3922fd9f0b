import { PARAM_CLOCK, PARAM_ROWS, PARAM_STRIDE } from '../lib/constants.js';
import { frameAtGLSL } from './frameAt.glsl.js';
import type { ShaderVariant } from './ShaderVariant.js';

/** A float of the draw's parameters, which ride in the `bindMatrix` that three.js sets for each object it draws. */
export function drawParameterGLSL(index: number): string {
  return `bindMatrix[ ${index >> 2} ][ ${index & 3} ]`;
}

/** What the skinning functions of every variant need. */
export const skinningCommonGLSL = /*@__PURE__*/ (() => /* glsl */ `
uniform highp sampler2D boneTexture;
uniform highp mat4 bindMatrix;

attribute vec4 instanceClip;
attribute vec2 instanceTiming;

${frameAtGLSL}

ivec2 frameTexel( float frame ) {

  float rows = ${drawParameterGLSL(PARAM_ROWS)};
  float column = floor( ( frame + 0.5 ) / rows );
  return ivec2( vec2( column * ${drawParameterGLSL(PARAM_STRIDE)}, frame - column * rows ) );

}
`)();

/**
 * The weighted sum of the vertex's joints, as rows. Weights are sorted, so the loop ends at the first that is zero; a
 * loop, since that is what lets the GPU skip the look-ups.
 */
export function skinningMatrixGLSL(
  name: string,
  { encoding, interpolate, influences }: ShaderVariant,
): string {
  return /* glsl */ `
mat3x4 ${name}() {

  FrameMix mixed = frameAt( ${drawParameterGLSL(PARAM_CLOCK)}, instanceClip.x, instanceClip.y, instanceClip.z, instanceClip.w, instanceTiming.x, instanceTiming.y, ${interpolate} );
  ivec2 texel0 = frameTexel( mixed.frame0 );
  ivec2 texel1 = ${interpolate ? 'frameTexel( mixed.frame1 )' : 'texel0'};

  vec4 joints = skinIndex;
  vec4 weights = skinWeight;
  mat3x4 skin = mat3x4( 0.0 );

  for ( int i = 0; i < ${influences}; i ++ ) {

    if ( weights.x <= 0.0 ) break;
    skin += jointMatrix_${encoding}( texel0, texel1, mixed.alpha, weights.x, int( joints.x ), ${interpolate} );
    joints = joints.yzwx;
    weights = weights.yzwx;

  }

  return skin;

}
`;
}
