/** Twin of `lib/encodings/matrix.ts`: columns of the `mat3x4` are the rows of the skinning matrix. */
export const matrixGLSL = /* glsl */ `
mat3x4 jointMatrix_matrix( PoseLayer pose, float weight, int joint, bool interpolate ) {

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
