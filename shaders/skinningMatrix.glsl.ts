import { PARAM_CLOCK, PARAM_ROWS, PARAM_STRIDE } from '../lib/constants.js';
import { INSTANCES_PER_ROW, OLDER_STRIDE } from '../lib/playback/instanceLayout.js';
import { frameAtGLSL } from './frameAt.glsl.js';
import type { ShaderVariant } from './ShaderVariant.js';

/** A float of the draw's parameters, which ride in the `bindMatrix` that three.js sets for each object it draws. */
export function drawParameterGLSL(index: number): string {
  return `bindMatrix[ ${index >> 2} ][ ${index & 3} ]`;
}

const CLOCK = /*@__PURE__*/ drawParameterGLSL(PARAM_CLOCK);

/**
 * What the skinning functions of every variant need. The textures are one array under the name that three.js sets for
 * each object it draws: the bone texture, and the slots that fade out.
 */
export const skinningCommonGLSL = /*@__PURE__*/ (() => /* glsl */ `
uniform highp sampler2D boneTexture[ 2 ];
uniform highp mat4 bindMatrix;

attribute vec4 instanceClip;
attribute vec4 instanceTiming;

${frameAtGLSL}

struct PoseLayer {
  ivec2 texel0;
  ivec2 texel1;
  float alpha;
  float weight;
};

ivec2 frameTexel( float frame ) {

  float rows = ${drawParameterGLSL(PARAM_ROWS)};
  float column = floor( ( frame + 0.5 ) / rows );
  return ivec2( vec2( column * ${drawParameterGLSL(PARAM_STRIDE)}, frame - column * rows ) );

}

PoseLayer poseLayer( vec4 clip, vec2 timing, float warp, float weight, bool interpolate ) {

  FrameMix mixed = frameAt( ${CLOCK}, clip.x, clip.y, clip.z + warp, clip.w, timing.x, timing.y, interpolate );
  ivec2 texel0 = frameTexel( mixed.frame0 );
  ivec2 texel1 = texel0;
  if ( interpolate ) texel1 = frameTexel( mixed.frame1 );
  return PoseLayer( texel0, texel1, mixed.alpha, weight );

}

float olderWeight( vec2 fade ) {

  return clamp( fade.x - ${CLOCK} * fade.y, 0.0, 1.0 );

}

void fadingLayers( float faded, bool interpolate, out PoseLayer first, out PoseLayer second, out PoseLayer third ) {

  int index = gl_InstanceID;
  ivec2 at = ivec2( ( index & ${INSTANCES_PER_ROW - 1} ) * ${OLDER_STRIDE / 4}, index >> ${Math.log2(INSTANCES_PER_ROW)} );
  vec4 clip = texelFetch( boneTexture[ 1 ], at, 0 );
  vec4 timing = texelFetch( boneTexture[ 1 ], at + ivec2( 1, 0 ), 0 );
  vec4 oldestClip = texelFetch( boneTexture[ 1 ], at + ivec2( 2, 0 ), 0 );
  vec4 oldestTiming = texelFetch( boneTexture[ 1 ], at + ivec2( 3, 0 ), 0 );
  float left = 1.0 - faded;
  float oldest = olderWeight( timing.zw );

  first = poseLayer( instanceClip, instanceTiming.xy, oldestTiming.z * faded * faded, left, interpolate );
  second = poseLayer( clip, timing.xy, oldestTiming.w * left * left, faded * ( 1.0 - oldest ), interpolate );
  third = PoseLayer( second.texel0, second.texel1, 0.0, 0.0 );
  if ( oldest > 0.0 ) third = poseLayer( oldestClip, oldestTiming.xy, 0.0, faded * oldest, interpolate );

}
`)();

/**
 * The weighted sum of the vertex's joints, as rows. Weights are sorted, so the loop ends at the first that is zero; a
 * loop, since that is what lets the GPU skip the look-ups. An instance that does not fade leaves before anything of the
 * fade is read.
 */
export function skinningMatrixGLSL(
  name: string,
  { encoding, interpolate, influences }: ShaderVariant,
): string {
  const sumOfJoints = (joint: string) => /* glsl */ `
  vec4 joints = skinIndex;
  vec4 weights = skinWeight;
  mat3x4 skin = mat3x4( 0.0 );

  for ( int i = 0; i < ${influences}; i ++ ) {

    if ( weights.x <= 0.0 ) break;
    skin += ${joint};
    joints = joints.yzwx;
    weights = weights.yzwx;

  }

  return skin;
`;
  return /* glsl */ `
mat3x4 ${name}_fading( float faded ) {

  PoseLayer first;
  PoseLayer second;
  PoseLayer third;
  fadingLayers( faded, ${interpolate}, first, second, third );
${sumOfJoints(`jointBlend_${encoding}( first, second, third, weights.x, int( joints.x ), ${interpolate} )`)}
}

mat3x4 ${name}() {

  float faded = olderWeight( instanceTiming.zw );
  if ( faded > 0.0 ) return ${name}_fading( faded );

  PoseLayer pose = poseLayer( instanceClip, instanceTiming.xy, 0.0, 1.0, ${interpolate} );
${sumOfJoints(`jointMatrix_${encoding}( pose.texel0, pose.texel1, pose.alpha, weights.x, int( joints.x ), ${interpolate} )`)}
}
`;
}
