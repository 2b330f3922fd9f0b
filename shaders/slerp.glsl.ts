/** Turns quaternions as `lib/animation/mixPose.ts` does, whatever their lengths, without the sines of a GPU, which may be off by 2^-11. */
export const slerpGLSL = /* glsl */ `
// sin( t * angle ) / sin( angle ) as a series in 1 - cos( angle ), up to 45 degrees: off by less than 1e-7.
// Eberly, "A Fast and Accurate Algorithm for Computing SLERP", 2011.
float slerpShare( float t, float x ) {

  float tt = t * t;
  float sum = 1.0;
  sum = 1.0 + sum * x * ( tt * ( 1.0 / 136.0 ) - 8.0 / 17.0 );
  sum = 1.0 + sum * x * ( tt * ( 1.0 / 105.0 ) - 7.0 / 15.0 );
  sum = 1.0 + sum * x * ( tt * ( 1.0 / 78.0 ) - 6.0 / 13.0 );
  sum = 1.0 + sum * x * ( tt * ( 1.0 / 55.0 ) - 5.0 / 11.0 );
  sum = 1.0 + sum * x * ( tt * ( 1.0 / 36.0 ) - 4.0 / 9.0 );
  sum = 1.0 + sum * x * ( tt * ( 1.0 / 21.0 ) - 3.0 / 7.0 );
  sum = 1.0 + sum * x * ( tt * ( 1.0 / 10.0 ) - 2.0 / 5.0 );
  sum = 1.0 + sum * x * ( tt * ( 1.0 / 3.0 ) - 1.0 / 3.0 );
  return t * sum;

}

vec4 slerp( vec4 a, vec4 b, float t ) {

  if ( a == b ) return a;
  float cosine = dot( a, b );
  if ( cosine < 0.0 ) {
    b = - b;
    cosine = - cosine;
  }
  if ( cosine >= 0.9995 ) return normalize( a + ( b - a ) * t );
  // From the middle no end is further than 45 degrees.
  float half_ = sqrt( 0.5 * ( 1.0 + cosine ) );
  vec4 middle = ( a + b ) * ( 0.5 / half_ );
  float t2 = 2.0 * t;
  if ( t2 < 1.0 ) b = middle;
  else {
    a = middle;
    t2 -= 1.0;
  }
  float x = half_ - 1.0;
  return a * slerpShare( 1.0 - t2, x ) + b * slerpShare( t2, x );

}

vec4 multiplyQuaternions( vec4 a, vec4 b ) {

  return vec4( a.w * b.xyz + b.w * a.xyz + cross( a.xyz, b.xyz ), a.w * b.w - dot( a.xyz, b.xyz ) );

}
`;
