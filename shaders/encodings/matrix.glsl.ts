/** Twin of `lib/encodings/matrix.ts`: columns of the `mat3x4` are the rows of the skinning matrix. */
export const matrixGLSL = /* glsl */ `
mat3x4 jointMatrix_matrix( ivec2 texel0, ivec2 texel1, float alpha, float weight, int joint, bool interpolate ) {

  ivec2 at = texel0 + ivec2( joint * 3, 0 );
  mat3x4 first = mat3x4(
    texelFetch( boneTexture[ 0 ], at, 0 ),
    texelFetch( boneTexture[ 0 ], at + ivec2( 1, 0 ), 0 ),
    texelFetch( boneTexture[ 0 ], at + ivec2( 2, 0 ), 0 )
  );
  if ( ! interpolate ) return weight * first;

  at = texel1 + ivec2( joint * 3, 0 );
  mat3x4 second = mat3x4(
    texelFetch( boneTexture[ 0 ], at, 0 ),
    texelFetch( boneTexture[ 0 ], at + ivec2( 1, 0 ), 0 ),
    texelFetch( boneTexture[ 0 ], at + ivec2( 2, 0 ), 0 )
  );
  return ( weight - weight * alpha ) * first + ( weight * alpha ) * second;

}
`;
