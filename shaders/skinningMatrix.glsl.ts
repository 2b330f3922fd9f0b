import { INSTANCES_PER_ROW, LOOP_MODES, PARAM_CLOCK, PARAM_ROWS, PARAM_STRIDE } from '../lib/constants.js';
import { FADES_STRIDE, SLOT_STRIDE } from '../lib/playback/instanceLayout.js';
import { drawParameterGLSL } from './drawParameter.js';
import { frameAtGLSL } from './frameAt.glsl.js';
import { partsGLSL } from './parts.glsl.js';
import type { ShaderVariant } from './ShaderVariant.js';

const CLOCK = /*@__PURE__*/ drawParameterGLSL(PARAM_CLOCK);

/** Where shaders of WebGLRenderer read what an instance plays. */
export type SlotSource = 'attributes' | 'texture';

/** The newest slot of the instance as attributes, or where they are all taken, as texels of `InstancePlayback.state`. */
const newestSlotGLSL = (slots: SlotSource): string =>
  slots === 'attributes'
    ? /* glsl */ `
attribute vec4 instanceClip;
attribute vec4 instanceTiming;
`
    : /* glsl */ `
vec4 newestSlot( int texel ) {

  int index = gl_InstanceID;
  ivec2 at = ivec2( ( index & ${INSTANCES_PER_ROW - 1} ) * ${SLOT_STRIDE / 4}, index >> ${Math.log2(INSTANCES_PER_ROW)} );
  return texelFetch( boneTexture[ 3 ], at + ivec2( texel, 0 ), 0 );

}

#define instanceClip newestSlot( 0 )
#define instanceTiming newestSlot( 1 )
`;

/**
 * What the skinning functions of every variant need. The textures are one array under the name that three.js sets for
 * each object it draws: the bone texture, the slots that fade out, and where they are asked for, the parts and the newest
 * slots; or the three of a palette, and the parts.
 *
 * @param textures How many of them the shader may read.
 * @param partsTexel Reads the texel of the parts' texture at `at`; null where no variant has parts.
 */
export const skinningCommonGLSL = (
  textures: number,
  partsTexel: string | null,
  slots: SlotSource,
): string => /* glsl */ `
uniform highp sampler2D boneTexture[ ${textures} ];
uniform highp mat4 bindMatrix;
${newestSlotGLSL(slots)}
${frameAtGLSL}

struct PoseLayer {
  ivec2 texel0;
  ivec2 texel1;
  float alpha;
};

ivec2 frameTexel( float frame ) {

  float rows = ${drawParameterGLSL(PARAM_ROWS)};
  float column = floor( ( frame + 0.5 ) / rows );
  return ivec2( vec2( column * ${drawParameterGLSL(PARAM_STRIDE)}, frame - column * rows ) );

}

PoseLayer poseLayer( vec4 clip, vec4 timing, float ease, bool interpolate ) {

  float count = floor( clip.y * ${1 / LOOP_MODES} );
  float loop = clip.y - count * ${LOOP_MODES}.0;
  float time = clip.z + clip.w * ease * ease;
  FrameMix mixed = frameAt( ${CLOCK}, clip.x, count, time, loop, timing.x, timing.y, interpolate );
  ivec2 texel0 = frameTexel( mixed.frame0 );
  ivec2 texel1 = texel0;
  if ( interpolate ) texel1 = frameTexel( mixed.frame1 );
  return PoseLayer( texel0, texel1, mixed.alpha );

}

float olderWeight( vec4 timing ) {

  return clamp( timing.z - ${CLOCK} * timing.w, 0.0, 1.0 );

}

ivec2 olderTexel() {

  int index = gl_InstanceID;
  return ivec2( ( index & ${INSTANCES_PER_ROW - 1} ) * ${FADES_STRIDE / 4}, index >> ${Math.log2(INSTANCES_PER_ROW)} );

}
${partsTexel === null ? '' : partsGLSL(partsTexel)}
`;

/**
 * Lets the weights that count add up to 1 again, where a variant follows fewer joints than the geometry has: shadows
 * may. The strongest come first, and no vertex has none.
 */
const STRONGEST: Record<ShaderVariant['influences'], string> = {
  1: 'weights.x = 1.0;',
  2: 'weights.xy /= weights.x + weights.y;',
  4: '',
};

/**
 * The weighted sum of the vertex's joints, as rows, in the clip that plays and in those it fades out of. Weights are
 * sorted, so the loop ends at the first that is zero; a loop, since that is what lets every GPU skip the look-ups. For
 * the same reason clips are a loop too: one that does not fade goes through it once, and some drivers run both sides of
 * an `if`. A part that is hidden goes through it not at all: its triangles shrink to nothing.
 */
export function skinningMatrixGLSL(
  name: string,
  { encoding, interpolate, influences, parts, morphs }: ShaderVariant,
): string {
  return /* glsl */ `
mat3x4 ${name}() {

  mat3x4 skin = mat3x4( 0.0 );
  vec4 clip = instanceClip;
  vec4 timing = instanceTiming;
  ivec2 at = olderTexel();
  float ease = olderWeight( timing );
  float left = ${parts ? 'clamp( instancePart().w, 0.0, 1.0 )' : '1.0'};

  while ( left > 0.0 ) {

    float older = left * olderWeight( timing );
    float share = left - older;
    PoseLayer pose = poseLayer( clip, timing, ease, ${interpolate} );
    vec4 joints = skinIndex;
    vec4 weights = skinWeight;
    ${STRONGEST[influences]}

    for ( int i = 0; i < ${influences}; i ++ ) {

      if ( weights.x <= 0.0 ) break;
      skin += jointMatrix_${encoding}( pose.texel0, pose.texel1, pose.alpha, weights.x * share, int( joints.x ), ${interpolate} );
      joints = joints.yzwx;
      weights = weights.yzwx;

    }

    ${morphs ? `addMorphs( pose, share, ${interpolate} );` : ''}
    left = older;
    ease = 1.0 - older;
    if ( left <= 0.0 ) break;
    clip = texelFetch( boneTexture[ 1 ], at, 0 );
    timing = texelFetch( boneTexture[ 1 ], at + ivec2( 1, 0 ), 0 );
    at.x += 2;

  }

  return skin;

}
`;
}
