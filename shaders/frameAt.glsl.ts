import { LOOP_CLAMP, LOOP_PING_PONG, REST_FRAME } from '../lib/constants.js';

/** Twin of `lib/playback/frameAt.ts`. */
export const frameAtGLSL = /* glsl */ `
struct FrameMix {
  float frame0;
  float frame1;
  float alpha;
};

FrameMix frameAt( float clock, float start, float count, float time, float loop, float rate, float repetitions, bool interpolate ) {

  float intervals = count - 1.0;
  float frame = 0.0;
  bool rest = false;

  if ( intervals > 0.0 ) {

    float total = time + clock * rate;
    bool reverse = rate < 0.0;

    float cycle = floor( total / intervals );
    if ( reverse ) cycle = min( cycle, 0.0 );
    if ( rate == 0.0 ) cycle = 0.0;
    frame = clamp( total - cycle * intervals, 0.0, intervals );

    float passes = reverse ? - cycle - 1.0 : cycle;
    if ( cycle != 0.0 && passes >= repetitions ) {

      rest = ( int( loop ) & ${LOOP_CLAMP} ) == 0;
      passes = repetitions - 1.0;
      frame = reverse ? 0.0 : intervals;

    }

    if ( ( int( loop ) & ${LOOP_PING_PONG} ) != 0 && ( int( passes ) & 1 ) != 0 && rate != 0.0 ) frame = intervals - frame;

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
