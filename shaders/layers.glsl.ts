import { LAYER_SHIFT, MASK_BITS, MASKS_PER_ROW } from '../lib/playback/instanceLayout.js';
import type { LayersGLSL } from './mixTracks.glsl.js';

/** What passes need for layers over the base. */
export const layersGLSL: LayersGLSL = {
  share: /* glsl */ `
/* How much layers over the base show on each entry, see AnimationLayers.masks. */
uniform highp sampler2D masks;

float layerShare( ivec2 first, int entry, int layer ) {

  vec4 mask = texelFetch( masks, ivec2( entry & ${MASKS_PER_ROW - 1}, entry >> ${MASK_BITS} ), 0 );
  return mask[ layer - 1 ] * rampAt( playedClock, texelFetch( CROWD_PLAYED, first + ivec2( layer, 0 ), 0 ) );

}
`,

  next: /* glsl */ `
    int its = int( clip.x ) >> ${LAYER_SHIFT};
    clip.x -= float( its << ${LAYER_SHIFT} );
    if ( its != layer ) {

      endAll( mixed, share );
      layer = its;
      share = layerShare( first, entry, layer );

    }
    if ( share <= 0.0 ) continue;
`,
};
