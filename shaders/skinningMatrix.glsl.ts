import { ACTION_TEXELS, firstAction } from '../lib/playback/instanceLayout.js';
import { morphInfluenceGLSL } from './morphTargets.glsl.js';
import { eachJointGLSL } from './palette.glsl.js';
import { playedTexelGLSL } from './playedActions.glsl.js';
import type { ShaderVariant } from './ShaderVariant.js';

/** What one action of an instance shows: where the texels of its two frames begin, and how they mix. */
export const poseStructGLSL = /* glsl */ `
struct PoseLayer {
  ivec2 texel0;
  ivec2 texel1;
  float alpha;
};
`;

/** Finds that of frames. */
export const poseLayerGLSL = /* glsl */ `
ivec2 frameTexel( float frame ) {

  float rows = CROWD_ROWS;
  float column = floor( ( frame + 0.5 ) / rows );
  return ivec2( vec2( column * CROWD_STRIDE, frame - column * rows ) );

}

PoseLayer poseLayer( FrameMix mixed, bool interpolate ) {

  ivec2 texel0 = frameTexel( mixed.frame0 );
  ivec2 texel1 = texel0;
  if ( interpolate ) texel1 = frameTexel( mixed.frame1 );
  return PoseLayer( texel0, texel1, mixed.alpha );

}
`;

/** Adds a joint's skinning matrix in one clip's part of a pose, times a weight. */
export const addPosedGLSL = /* glsl */ `
void addRows( inout mat3x4 skin, ivec2 at, float weight ) {

  skin[ 0 ] += weight * texelFetch( CROWD_BAKED, at, 0 );
  skin[ 1 ] += weight * texelFetch( CROWD_BAKED, at + ivec2( 1, 0 ), 0 );
  skin[ 2 ] += weight * texelFetch( CROWD_BAKED, at + ivec2( 2, 0 ), 0 );

}

void addPosed( inout mat3x4 skin, PoseLayer pose, float weight, int joint, bool interpolate ) {

  ivec2 at = ivec2( joint * 3, 0 );
  float second = interpolate ? weight * pose.alpha : 0.0;
  addRows( skin, pose.texel0 + at, weight - second );
  if ( interpolate ) addRows( skin, pose.texel1 + at, second );

}
`;

/**
 * A loop over the clips that an instance shows, and the rest pose where their weights leave room for it. In its body there are
 * `pose` and `share`. It is a loop, not a row of `if`s, because some drivers run both sides of an `if`, and would look up what
 * does not count: an instance that does not fade goes through it once.
 */
export const eachClipGLSL = (interpolate: boolean | string, body: string): string => /* glsl */ `
  ivec2 at = playedTexel( instanceIndex() );
  at.x += ${firstAction(1)};
  float left = 1.0;

  for ( ; left > 0.0; at.x += ${ACTION_TEXELS} ) {

    float share = left;
    PoseLayer pose = PoseLayer( ivec2( 0 ), ivec2( 0 ), 0.0 );
    vec4 clip = at.x < playedEnd ? texelFetch( CROWD_PLAYED, at, 0 ) : vec4( 0.0 );
    if ( clip.x > 0.5 ) {

      // Shares of less are what rounding leaves of weights.
      share = rampAt( playedClock, texelFetch( CROWD_PLAYED, at + ivec2( 2, 0 ), 0 ) );
      if ( share > left - 0.000001 ) share = left;
      if ( share <= 0.0 ) continue;
      vec4 timing = texelFetch( CROWD_PLAYED, at + ivec2( 1, 0 ), 0 );
      FrameMix mixed = shownFrames( clip, timing, CROWD_CLOCK, playedAge, clip.x, ${interpolate} );
      pose = poseLayer( mixed, ${interpolate} );

    }
    left -= share;
    ${body}

  }
`;

/** The same and what it needs, for nodes. */
export const clipsGLSL = /*@__PURE__*/ (() => /* glsl */ `
${poseStructGLSL}
${playedTexelGLSL('playedLayout.z', 'playedLayout.y')}
${poseLayerGLSL}
${addPosedGLSL}
${morphInfluenceGLSL}
void eachClip() {
${eachClipGLSL('INTERPOLATES', 'showClip( pose, share );')}
}
`)();

/** The weighted sum of the vertex's joints, as rows, in the clip that plays and in those that fade out. */
export function skinningMatrixGLSL(name: string, variant: ShaderVariant): string {
  const { interpolate, morphs } = variant;
  const sum = `${posedJointsGLSL(variant, interpolate)}
    ${morphs ? `addMorphs( pose, share, ${interpolate} );` : ''}`;
  return /* glsl */ `
mat3x4 ${name}() {

  mat3x4 skin = mat3x4( 0.0 );
  ${eachClipGLSL(interpolate, sum)}
  return skin;

}
`;
}

/** The same where all instances show the rest pose, which is the first frame of every bone texture. */
export function restMatrixGLSL(name: string, variant: ShaderVariant): string {
  return /* glsl */ `
mat3x4 ${name}() {

  mat3x4 skin = mat3x4( 0.0 );
  PoseLayer pose = PoseLayer( ivec2( 0 ), ivec2( 0 ), 0.0 );
  float share = 1.0;
  ${posedJointsGLSL(variant, false)}
  return skin;

}
`;
}

/** Adds up the vertex's joints in `pose`, times `share`. */
const posedJointsGLSL = ({ influences }: ShaderVariant, interpolate: boolean): string =>
  eachJointGLSL(influences, `addPosed( skin, pose, weights.x * share, int( joints.x ), ${interpolate} );`);
