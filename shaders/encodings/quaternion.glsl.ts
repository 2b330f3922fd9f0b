/** Twin of `lib/encodings/quaternion.ts`: columns of the `mat3x4` are the rows of the skinning matrix. */
export const quaternionGLSL = /* glsl */ `
mat3x4 jointMatrix_quaternion( PoseLayer pose, float weight, int joint, bool interpolate ) {

  ivec2 at = pose.texel0 + ivec2( joint * 2, 0 );
  vec4 q = texelFetch( CROWD_BONE_TEXTURE, at, 0 );
  vec4 d = texelFetch( CROWD_BONE_TEXTURE, at + ivec2( 1, 0 ), 0 );
  float scale = length( q );
  q /= scale;

  if ( interpolate ) {

    at = pose.texel1 + ivec2( joint * 2, 0 );
    vec4 r = texelFetch( CROWD_BONE_TEXTURE, at, 0 );
    float scale1 = length( r );
    q += ( r / scale1 - q ) * pose.alpha;
    d += ( texelFetch( CROWD_BONE_TEXTURE, at + ivec2( 1, 0 ), 0 ) - d ) * pose.alpha;
    scale += ( scale1 - scale ) * pose.alpha;

  }

  scale *= weight;
  float s = 2.0 / dot( q, q );
  vec3 t = ( s * weight ) * ( d.xyz * q.w - d.w * q.xyz + cross( q.xyz, d.xyz ) );
  vec3 v = q.xyz * ( s * scale );
  vec3 square = v * q.xyz;
  float xy = v.x * q.y;
  float xz = v.x * q.z;
  float yz = v.y * q.z;
  vec3 turn = v * q.w;

  return mat3x4(
    scale - square.y - square.z, xy - turn.z, xz + turn.y, t.x,
    xy + turn.z, scale - square.x - square.z, yz - turn.x, t.y,
    xz - turn.y, yz + turn.x, scale - square.x - square.y, t.z
  );

}
`;
