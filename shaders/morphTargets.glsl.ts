/** What clips add to the influences of morph targets; three.js itself then morphs, in GLSL. */
export const morphsGLSL = /* glsl */ `
#ifdef USE_MORPHTARGETS

  float crowdMorphs[ MORPHTARGETS_COUNT ];

  void clearMorphs() {

    for ( int i = 0; i < MORPHTARGETS_COUNT; i ++ ) crowdMorphs[ i ] = 0.0;

  }

#else

  void clearMorphs() {}

#endif
`;

/** By how much one clip of an instance changes an influence. */
export const morphInfluenceGLSL = /* glsl */ `
float morphInfluence( PoseLayer pose, float share, int i, bool interpolate ) {

  ivec2 at = ivec2( CROWD_MORPH_TEXEL + ( i >> 2 ), 0 );
  float by = texelFetch( CROWD_BAKED, pose.texel0 + at, 0 )[ i & 3 ];
  if ( interpolate ) by += ( texelFetch( CROWD_BAKED, pose.texel1 + at, 0 )[ i & 3 ] - by ) * pose.alpha;
  return share * by;

}
`;

/** Adds what it shows. */
export const addMorphsGLSL = /* glsl */ `
void addMorphs( PoseLayer pose, float share, bool interpolate ) {

  #ifdef USE_MORPHTARGETS
    for ( int i = 0; i < MORPHTARGETS_COUNT; i ++ ) crowdMorphs[ i ] += morphInfluence( pose, share, i, interpolate );
  #endif

}
`;
