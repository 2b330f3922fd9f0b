/** Twin of `lib/texture/encodings/quaternion.ts`: columns of the `mat3x4` are the rows of the skinning matrix. */
export const quaternionGLSL = /* glsl */ `
struct DualQuaternion {
  vec4 q;
  vec4 d;
  float scale;
};

DualQuaternion jointPose( ivec2 texel0, ivec2 texel1, float alpha, int joint, bool interpolate ) {

  ivec2 at = texel0 + ivec2( joint * 2, 0 );
  vec4 q = texelFetch( boneTexture[ 0 ], at, 0 );
  vec4 d = texelFetch( boneTexture[ 0 ], at + ivec2( 1, 0 ), 0 );
  float scale = length( q );
  q /= scale;

  if ( interpolate ) {

    at = texel1 + ivec2( joint * 2, 0 );
    vec4 r = texelFetch( boneTexture[ 0 ], at, 0 );
    float scale1 = length( r );
    q += ( r / scale1 - q ) * alpha;
    d += ( texelFetch( boneTexture[ 0 ], at + ivec2( 1, 0 ), 0 ) - d ) * alpha;
    scale += ( scale1 - scale ) * alpha;

  }

  return DualQuaternion( q, d, scale );

}

mat3x4 poseMatrix( DualQuaternion pose, float weight ) {

  vec4 q = pose.q;
  vec4 d = pose.d;
  float scale = pose.scale * weight;
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

mat3x4 jointMatrix_quaternion( ivec2 texel0, ivec2 texel1, float alpha, float weight, int joint, bool interpolate ) {

  return poseMatrix( jointPose( texel0, texel1, alpha, joint, interpolate ), weight );

}

void addPose( inout DualQuaternion sum, PoseLayer layer, int joint, bool interpolate ) {

  DualQuaternion pose = jointPose( layer.texel0, layer.texel1, layer.alpha, joint, interpolate );
  float weight = dot( sum.q, pose.q ) < 0.0 ? - layer.weight : layer.weight;
  sum.q += weight * pose.q;
  sum.d += weight * pose.d;
  sum.scale += layer.weight * pose.scale;

}

mat3x4 jointBlend_quaternion( PoseLayer first, PoseLayer second, PoseLayer third, float weight, int joint, bool interpolate ) {

  DualQuaternion sum = DualQuaternion( vec4( 0.0 ), vec4( 0.0 ), 0.0 );
  addPose( sum, first, joint, interpolate );
  addPose( sum, second, joint, interpolate );
  if ( third.weight > 0.0 ) addPose( sum, third, joint, interpolate );
  return poseMatrix( sum, weight );

}
`;
