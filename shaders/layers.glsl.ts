import { LAYER_SHIFT, MASK_BITS, MASKS_PER_ROW } from '../lib/playback/instanceLayout.js';

/** What passes need for layers over the base. */
export const layersGLSL = /* glsl */ `
/* How much layers over the base show on each entry, see AnimationLayers.masks. */
uniform highp sampler2D masks;

// Takes the layer of an action off its clip.
int layerOf( inout vec4 clip, int layer ) {

  int its = int( clip.x ) >> ${LAYER_SHIFT};
  clip.x -= float( its << ${LAYER_SHIFT} );
  return its;

}

float layerShare( int entry, int layer, float clock, vec4 ramp ) {

  vec4 mask = texelFetch( masks, ivec2( entry & ${MASKS_PER_ROW - 1}, entry >> ${MASK_BITS} ), 0 );
  return mask[ layer - 1 ] * rampAt( clock, ramp );

}
`;
