import {
  CLOCK_EPOCH,
  LOOP_BACK,
  LOOP_CLAMP,
  LOOP_ENDS_BACK,
  LOOP_FIRST,
  LOOP_MODES,
  LOOP_PING_PONG,
  REST_FRAME,
} from '../lib/constants.js';

/** Which frames of a clip show, from what the GPU knows of an action; on the CPU `locate` and `frameOf` say it. */
export const frameAtGLSL = /* glsl */ `
struct FrameMix {
  float frame0;
  float frame1;
  float alpha;
};

FrameMix frameAt( float total, float turns, float start, float count, float loop, float rate, float passes, bool interpolate ) {

  float intervals = count - 1.0;
  float frame = 0.0;

  if ( intervals > 0.0 ) {

    int bits = int( loop );
    bool reverse = rate < 0.0;
    float lengths = rate == 0.0 ? 0.0 : floor( total / intervals );
    float passed = ( reverse ? - 1.0 : 1.0 ) * ( lengths + 2.0 * turns );

    frame = clamp( total - lengths * intervals, 0.0, intervals );
    bool back = ( ( int( lengths ) & 1 ) != 0 ) != ( ( bits & ${LOOP_BACK} ) != 0 );
    if ( ( bits & ${LOOP_FIRST} ) != 0 && passed < 0.0 ) {

      frame = reverse ? intervals : 0.0;
      back = ( bits & ${LOOP_BACK} ) != 0;

    }
    if ( passed >= passes ) {

      frame = reverse ? 0.0 : intervals;
      back = ( bits & ${LOOP_ENDS_BACK} ) != 0;
      if ( ( bits & ${LOOP_CLAMP} ) == 0 ) {

        start = ${REST_FRAME}.0;
        intervals = 0.0;
        frame = 0.0;

      }

    }

    if ( back && ( bits & ${LOOP_PING_PONG} ) != 0 ) frame = intervals - frame;

  }

  if ( ! interpolate ) frame = floor( frame + 0.5 );
  float whole = interpolate ? min( floor( frame ), max( intervals - 1.0, 0.0 ) ) : frame;
  return FrameMix( start + whole, start + min( whole + 1.0, intervals ), frame - whole );

}

// By a share of the way each second, from a time on; at a rate of 0, the way is done.
float fadeDone( float clock, float start, float rate ) {

  return rate == 0.0 ? 1.0 : clamp( ( clock - start ) * rate, 0.0, 1.0 );

}

float rampAt( float clock, vec4 ramp ) {

  return mix( ramp.x, ramp.y, fadeDone( clock, ramp.z, ramp.w ) );

}

// The frames that an action shows, of which these are the first texels, at a clock and epochs since the one from whose beginning the
// times of its instance count: those of its clip count from start, 0 is the rest pose.
FrameMix shownFrames( vec4 clip, vec4 timing, float clock, float age, float start, bool interpolate ) {

  float count = floor( clip.y * ${1 / LOOP_MODES} );
  float loop = clip.y - count * ${LOOP_MODES}.0;
  float total = clip.z + timing.x * clock;
  float turns = 0.0;

  if ( clip.w != 0.0 ) {

    float since = clock + age * ${CLOCK_EPOCH}.0;
    float warped = fadeDone( since, timing.z, abs( timing.w ) );
    float ease = timing.w > 0.0 ? warped : 1.0 - warped;
    total = clip.z + timing.x * since + clip.w * ease * ease;

  } else if ( age != 0.0 ) {

    // Whole turns are left out of the drift, exactly; how many these are need not be exact to be rounded.
    float turn = max( 2.0 * count - 2.0, 1.0 );
    float drift = age * timing.z;
    drift -= floor( drift / turn ) * turn;
    drift += age * timing.w;
    total += drift;
    turns = floor( ( age * ${CLOCK_EPOCH}.0 * timing.x - drift ) / turn + 0.5 );

  }

  return frameAt( total, turns, start, count, loop, timing.x, timing.y, interpolate );

}
`;
