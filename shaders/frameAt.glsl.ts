import {
  LOOP_BACK,
  LOOP_CLAMP,
  LOOP_ENDS_BACK,
  LOOP_FIRST,
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
  bool rest = false;

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

      rest = ( bits & ${LOOP_CLAMP} ) == 0;
      frame = reverse ? 0.0 : intervals;
      back = ( bits & ${LOOP_ENDS_BACK} ) != 0;

    }

    if ( back && ( bits & ${LOOP_PING_PONG} ) != 0 ) frame = intervals - frame;

  }

  if ( rest ) return FrameMix( ${REST_FRAME}.0, ${REST_FRAME}.0, 0.0 );

  if ( interpolate ) {

    float whole = min( floor( frame ), max( intervals - 1.0, 0.0 ) );
    return FrameMix( start + whole, start + min( whole + 1.0, intervals ), frame - whole );

  }

  float nearest = start + floor( frame + 0.5 );
  return FrameMix( nearest, nearest, 0.0 );

}
`;
