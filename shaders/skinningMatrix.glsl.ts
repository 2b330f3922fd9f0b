import { ACTION_TEXELS, firstAction, MAX_ACTIONS } from '../lib/playback/instanceLayout.js';
import { STRONGEST } from './palette.glsl.js';
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

/** A joint's skinning matrix in one clip's part of a pose, times a weight: columns of the `mat3x4` are its rows. */
export const jointMatrixGLSL = /* glsl */ `
mat3x4 jointMatrix( PoseLayer pose, float weight, int joint, bool interpolate ) {

  ivec2 at = pose.texel0 + ivec2( joint * 3, 0 );
  mat3x4 first = mat3x4(
    texelFetch( CROWD_BONE_TEXTURE, at, 0 ),
    texelFetch( CROWD_BONE_TEXTURE, at + ivec2( 1, 0 ), 0 ),
    texelFetch( CROWD_BONE_TEXTURE, at + ivec2( 2, 0 ), 0 )
  );
  if ( ! interpolate ) return weight * first;

  at = pose.texel1 + ivec2( joint * 3, 0 );
  mat3x4 second = mat3x4(
    texelFetch( CROWD_BONE_TEXTURE, at, 0 ),
    texelFetch( CROWD_BONE_TEXTURE, at + ivec2( 1, 0 ), 0 ),
    texelFetch( CROWD_BONE_TEXTURE, at + ivec2( 2, 0 ), 0 )
  );
  return ( weight - weight * pose.alpha ) * first + ( weight * pose.alpha ) * second;

}
`;

/**
 * A loop over the clips that an instance shows, and the rest pose where their weights leave room for it. In its body there are
 * `pose` and `share`. It is a loop, not a row of `if`s, because some drivers run both sides of an `if`, and would look up what
 * does not count: an instance that does not fade goes through it once.
 */
export const eachClipGLSL = (variant: ShaderVariant, body: string): string => /* glsl */ `
  ivec2 at = playedTexel( instanceIndex() );
  at.x += ${firstAction(1)};
  float left = 1.0;

  for ( int place = 0; left > 0.0; place ++, at.x += ${ACTION_TEXELS} ) {

    float share = left;
    PoseLayer pose = PoseLayer( ivec2( 0 ), ivec2( 0 ), 0.0 );
    vec4 clip = place < ${MAX_ACTIONS} ? texelFetch( CROWD_PLAYED, at, 0 ) : vec4( 0.0 );
    if ( clip.x > 0.5 ) {

      // Shares of less are what rounding leaves of weights.
      share = rampAt( playedClock, texelFetch( CROWD_PLAYED, at + ivec2( 2, 0 ), 0 ) );
      if ( share > left - 1e-6 ) share = left;
      if ( share <= 0.0 ) continue;
      vec4 timing = texelFetch( CROWD_PLAYED, at + ivec2( 1, 0 ), 0 );
      FrameMix mixed = shownFrames( clip, timing, CROWD_CLOCK, playedAge, clip.x, ${variant.interpolate} );
      pose = poseLayer( mixed, ${variant.interpolate} );

    }
    left -= share;
    ${body}

  }
`;

/**
 * The weighted sum of the vertex's joints, as rows, in the clip that plays and in those that fade out. Weights are sorted,
 * so the loop over joints ends at the first that is zero, and is a loop for the same reason as that over clips.
 */
export function skinningMatrixGLSL(name: string, variant: ShaderVariant): string {
  const { interpolate, morphs } = variant;
  const sum = `${addJointsGLSL(variant, interpolate)}
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
export function restMatrixGLSL(name: string, variant: ShaderVariant): string {
  return /* glsl */ `
mat3x4 ${name}() {

  mat3x4 skin = mat3x4( 0.0 );
  PoseLayer pose = PoseLayer( ivec2( 0 ), ivec2( 0 ), 0.0 );
  float share = 1.0;
  ${addJointsGLSL(variant, false)}
  return skin;

}
`;
}

/** Adds up the vertex's joints in `pose`, times `share`. */
const addJointsGLSL = (
  { influences }: ShaderVariant,
  interpolate: boolean,
): string => /* glsl */ `vec4 joints = skinIndex;
    vec4 weights = skinWeight;
    ${STRONGEST[influences]}

    for ( int i = 0; i < ${influences}; i ++ ) {

      if ( weights.x <= 0.0 ) break;
      skin += jointMatrix( pose, weights.x * share, int( joints.x ), ${interpolate} );
      joints = joints.yzwx;
      weights = weights.yzwx;

    }
`;
