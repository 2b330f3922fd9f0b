import { PARAM_MORPH_TEXEL } from '../lib/constants.js';
import { drawParameterGLSL } from './drawParameter.js';

/** Sums up what the clips add to the influences of morph targets; three.js itself then morphs, in GLSL. */
export const morphsGLSL = /*@__PURE__*/ (() => /* glsl */ `
#ifdef USE_MORPHTARGETS

  float crowdMorphs[ MORPHTARGETS_COUNT ];

  void clearMorphs() {

    for ( int i = 0; i < MORPHTARGETS_COUNT; i ++ ) crowdMorphs[ i ] = 0.0;

  }

  void addMorphs( PoseLayer pose, float share, bool interpolate ) {

    ivec2 first = ivec2( int( ${drawParameterGLSL(PARAM_MORPH_TEXEL)} ), 0 );
    for ( int i = 0; i < MORPHTARGETS_COUNT; i ++ ) {

      ivec2 at = first + ivec2( i >> 2, 0 );
      float influence = texelFetch( boneTexture[ 0 ], pose.texel0 + at, 0 )[ i & 3 ];
      if ( interpolate ) influence += ( texelFetch( boneTexture[ 0 ], pose.texel1 + at, 0 )[ i & 3 ] - influence ) * pose.alpha;
      crowdMorphs[ i ] += share * influence;

    }

  }

#else

  void clearMorphs() {}
  void addMorphs( PoseLayer pose, float share, bool interpolate ) {}

#endif
`)();
