import { FAR_APART, LEAST_WEIGHT } from '../../lib/texture/encodings/quaternion.js';

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

void addPose( inout DualQuaternion sum, DualQuaternion pose, float cosine, float weight ) {

  float turned = cosine < 0.0 ? - weight : weight;
  sum.q += turned * pose.q;
  sum.d += turned * pose.d;
  sum.scale += weight * pose.scale;

}

float apart( float cosine, float weight0, float weight1 ) {

  return ( 1.0 - smoothstep( 0.0, ${FAR_APART}, abs( cosine ) ) ) * min( 1.0, ${LEAST_WEIGHT}.0 * min( weight0, weight1 ) );

}

mat3x4 jointBlend_quaternion( PoseLayer first, PoseLayer second, PoseLayer third, float weight, int joint, bool interpolate ) {

  DualQuaternion a = jointPose( first.texel0, first.texel1, first.alpha, joint, interpolate );
  DualQuaternion b = jointPose( second.texel0, second.texel1, second.alpha, joint, interpolate );
  DualQuaternion c = b;
  float cosine = dot( a.q, b.q ) / length( a.q );
  float linear = apart( cosine, first.weight, second.weight );
  DualQuaternion sum = DualQuaternion( first.weight * a.q, first.weight * a.d, first.weight * a.scale );
  addPose( sum, b, cosine, second.weight );

  if ( third.weight > 0.0 ) {

    c = jointPose( third.texel0, third.texel1, third.alpha, joint, interpolate );
    cosine = dot( sum.q, c.q ) / length( sum.q );
    linear += ( 1.0 - linear ) * apart( cosine, 1.0 - third.weight, third.weight );
    addPose( sum, c, cosine, third.weight );

  }

  mat3x4 skin = poseMatrix( sum, weight );
  if ( linear > 0.0 ) {

    mat3x4 mixed = poseMatrix( a, weight * first.weight ) + poseMatrix( b, weight * second.weight );
    if ( third.weight > 0.0 ) mixed += poseMatrix( c, weight * third.weight );
    skin += linear * ( mixed - skin );

  }
  return skin;

}
`;
