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

/** Adds what one clip of an instance shows. */
export const addMorphsGLSL = /* glsl */ `
#ifdef USE_MORPHTARGETS

  void addMorphs( PoseLayer pose, float share, bool interpolate ) {

    ivec2 first = ivec2( CROWD_MORPH_TEXEL, 0 );
    for ( int i = 0; i < MORPHTARGETS_COUNT; i ++ ) {

      ivec2 at = first + ivec2( i >> 2, 0 );
      float influence = texelFetch( CROWD_BONE_TEXTURE, pose.texel0 + at, 0 )[ i & 3 ];
      if ( interpolate ) influence += ( texelFetch( CROWD_BONE_TEXTURE, pose.texel1 + at, 0 )[ i & 3 ] - influence ) * pose.alpha;
      crowdMorphs[ i ] += share * influence;

    }

  }

#else

  void addMorphs( PoseLayer pose, float share, bool interpolate ) {}

#endif
`;
