/**
 * A smooth wave with a period of 1, from 1 at whole numbers to -1 half-way between them, and how steep it is. As good as a sine
 * here, and the same numbers on every GPU, which sines are not: see "GPU Gems 3", chapter 16.
 */
export const waveGLSL = /* glsl */ `
float motionWave( float x ) {

  float t = abs( 2.0 * fract( x ) - 1.0 );
  return t * t * ( 6.0 - 4.0 * t ) - 1.0;

}

float motionWaveSlope( float x ) {

  float t = 2.0 * fract( x ) - 1.0;
  return 24.0 * t * ( 1.0 - abs( t ) );

}
`;
