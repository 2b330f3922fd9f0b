import { INSTANCES_PER_ROW, INSTANCES_PER_ROW_BITS, LOOP_MODES } from '../lib/constants.js';
import type { MatrixEncodingName } from '../lib/encodings/Encoding.js';
import { FADES_STRIDE, SLOT_STRIDE } from '../lib/playback/instanceLayout.js';
import type { ShaderVariant } from './ShaderVariant.js';
import type { SlotSource } from './SourceGLSL.js';

const newestSlotAttributes = /* glsl */ `
attribute vec4 instanceClip;
attribute vec4 instanceTiming;
`;

const newestSlotTexel = /* glsl */ `
vec4 newestSlot( int texel ) {

  int index = instanceIndex();
  ivec2 at = ivec2( ( index & ${INSTANCES_PER_ROW - 1} ) * ${SLOT_STRIDE / 4} + texel, index >> ${INSTANCES_PER_ROW_BITS} );
  return texelFetch( CROWD_NEWEST_SLOTS, at, 0 );

}
`;

const newestSlotTexels = /* glsl */ `
#define instanceClip newestSlot( 0 )
#define instanceTiming newestSlot( 1 )
`;

const newestSlotListed = /* glsl */ `
vec4 newestClip() {

  if ( CROWD_LISTED ) return newestSlot( 0 );
  return instanceClip;

}

vec4 newestTiming() {

  if ( CROWD_LISTED ) return newestSlot( 1 );
  return instanceTiming;

}

#define instanceClip newestClip()
#define instanceTiming newestTiming()
`;

/** The newest slot of the instance as attributes, or as texels: where all attributes are taken, and where a list is drawn. */
export function newestSlotGLSL(slots: SlotSource): string {
  if (slots === 'attributes') return newestSlotAttributes;
  if (slots === 'texture') return newestSlotTexel + newestSlotTexels;
  return newestSlotAttributes + newestSlotTexel + newestSlotListed;
}

/** What one slot of an instance shows: where the texels of its two frames begin, and how they mix. */
export const poseStructGLSL = /* glsl */ `
struct PoseLayer {
  ivec2 texel0;
  ivec2 texel1;
  float alpha;
};
`;

/** Finds that of a slot. */
export const poseLayerGLSL = /* glsl */ `
ivec2 frameTexel( float frame ) {

  float rows = CROWD_ROWS;
  float column = floor( ( frame + 0.5 ) / rows );
  return ivec2( vec2( column * CROWD_STRIDE, frame - column * rows ) );

}

PoseLayer poseLayer( vec4 clip, vec4 timing, float ease, bool interpolate ) {

  float count = floor( clip.y * ${1 / LOOP_MODES} );
  float loop = clip.y - count * ${LOOP_MODES}.0;
  float time = clip.z + clip.w * ease * ease;
  FrameMix mixed = frameAt( CROWD_CLOCK, clip.x, count, time, loop, timing.x, timing.y, interpolate );
  ivec2 texel0 = frameTexel( mixed.frame0 );
  ivec2 texel1 = texel0;
  if ( interpolate ) texel1 = frameTexel( mixed.frame1 );
  return PoseLayer( texel0, texel1, mixed.alpha );

}

float fadingWeight( vec4 timing ) {

  return clamp( timing.z - CROWD_CLOCK * timing.w, 0.0, 1.0 );

}

ivec2 fadingTexel() {

  int index = instanceIndex();
  return ivec2( ( index & ${INSTANCES_PER_ROW - 1} ) * ${FADES_STRIDE / 4}, index >> ${INSTANCES_PER_ROW_BITS} );

}
`;

/**
 * A variant may follow fewer joints than the geometry has, for instance in shadow maps. Then the weights of those it follows,
 * which are the strongest, are scaled to add up to 1 again.
 */
export const STRONGEST: Record<ShaderVariant['influences'], string> = {
  1: 'weights.x = 1.0;',
  2: 'weights.xy /= weights.x + weights.y;',
  4: '',
};

/** How much of a vertex is shown: nothing of hidden parts, whose vertices are all at one point. */
const shownGLSL = ({ parts }: ShaderVariant): string =>
  parts ? 'clamp( instancePart().w, 0.0, 1.0 )' : '1.0';

/**
 * A loop over the clips that an instance shows: the one that plays and those that fade out. It declares `left`, the share that
 * is still to come, and in its body `pose` and `share`. It is a loop, not a row of `if`s, because some drivers run both sides
 * of an `if`, and would look up what does not count: an instance that does not fade goes through it once. For a hidden part it
 * does not run at all, so that all its vertices are at one point.
 */
export const eachClipGLSL = (variant: ShaderVariant, body: string): string => /* glsl */ `
  vec4 clip = instanceClip;
  vec4 timing = instanceTiming;
  ivec2 at = fadingTexel();
  float ease = fadingWeight( timing );
  float left = ${shownGLSL(variant)};

  while ( left > 0.0 ) {

    float fading = left * fadingWeight( timing );
    float share = left - fading;
    PoseLayer pose = poseLayer( clip, timing, ease, ${variant.interpolate} );
    ${body}
    left = fading;
    ease = 1.0 - fading;
    if ( left <= 0.0 ) break;
    clip = texelFetch( CROWD_FADING_SLOTS, at, 0 );
    timing = texelFetch( CROWD_FADING_SLOTS, at + ivec2( 1, 0 ), 0 );
    at.x += 2;

  }
`;

/**
 * The weighted sum of the vertex's joints, as rows, in the clip that plays and in those that fade out. Weights are sorted,
 * so the loop over joints ends at the first that is zero, and is a loop for the same reason as that over clips.
 */
export function skinningMatrixGLSL(
  name: string,
  encoding: MatrixEncodingName,
  variant: ShaderVariant,
): string {
  const { interpolate, morphs } = variant;
  const sum = `${addJointsGLSL(encoding, variant, interpolate)}
    ${morphs ? `addMorphs( pose, share, ${interpolate} );` : ''}`;
  return /* glsl */ `
mat3x4 ${name}() {

  mat3x4 skin = mat3x4( 0.0 );
  ${eachClipGLSL(variant, sum)}
  return skin;

}
`;
}

/** The same where all instances show the rest pose, which is the first frame of every bone texture. */
export function restMatrixGLSL(name: string, encoding: MatrixEncodingName, variant: ShaderVariant): string {
  return /* glsl */ `
mat3x4 ${name}() {

  mat3x4 skin = mat3x4( 0.0 );
  PoseLayer pose = PoseLayer( ivec2( 0 ), ivec2( 0 ), 0.0 );
  float share = ${shownGLSL(variant)};
  ${addJointsGLSL(encoding, variant, false)}
  return skin;

}
`;
}

/** Adds up the vertex's joints in `pose`, times `share`. */
const addJointsGLSL = (
  encoding: MatrixEncodingName,
  { influences }: ShaderVariant,
  interpolate: boolean,
): string => /* glsl */ `vec4 joints = skinIndex;
    vec4 weights = skinWeight;
    ${STRONGEST[influences]}

    for ( int i = 0; i < ${influences}; i ++ ) {

      if ( weights.x <= 0.0 ) break;
      skin += jointMatrix_${encoding}( pose, weights.x * share, int( joints.x ), ${interpolate} );
      joints = joints.yzwx;
      weights = weights.yzwx;

    }
`;
