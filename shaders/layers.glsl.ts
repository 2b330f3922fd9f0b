import { ACTION_LAYER, MASKS_PER_ROW } from '../lib/playback/instanceLayout.js';
import type { LayersGLSL } from './mixTracks.glsl.js';

/** What passes need for layers over the base. */
export const layersGLSL: LayersGLSL = {
  shares: (layers) => /* glsl */ `
/* How much of each layer shows on what is being posed. */
float layerShares[ ${layers} ] = float[ ${layers} ]( ${Array(layers).fill('1.0').join(', ')} );
`,

  next: /* glsl */ `
    if ( action.layer != layer ) {

      value = layOver( value, mixed, layerShares[ layer ], turns );
      mixed = none;
      layer = action.layer;

    }
`,

  read: (layers) => /* glsl */ `
/* How much layers over the base show on each entry, see AnimationLayers.masks. */
uniform highp sampler2D masks;

void readLayerShares( ivec2 at, int entry ) {

  vec4 mask = texelFetch( masks, ivec2( entry & ${MASKS_PER_ROW - 1}, entry >> ${Math.log2(MASKS_PER_ROW)} ), 0 );
  for ( int layer = 1; layer < ${layers}; layer ++ ) {

    layerShares[ layer ] = mask.x * rampAt( texelFetch( CROWD_PLAYED, at + ivec2( layer, 0 ), 0 ) );
    mask = mask.yzwx;

  }

}
`,

  take: () => /* glsl */ `
    layer = int( clip.x ) / ${ACTION_LAYER};
    clip.x -= float( layer * ${ACTION_LAYER} );
    if ( layerShares[ layer ] <= 0.0 ) continue;
`,
};
