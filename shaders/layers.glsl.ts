import { LAYER_SHIFT, MASK_BITS, MASKS_PER_ROW } from '../lib/playback/instanceLayout.js';

/** What passes need for layers over the base. */
export const layersGLSL = {
  /** How much of a layer shows on an entry; how its weight goes. */
  share: /* glsl */ `
/* How much layers over the base show on each entry, see AnimationLayers.masks. */
uniform highp sampler2D masks;

float layerShare( int entry, int layer, float clock, vec4 ramp ) {

  vec4 mask = texelFetch( masks, ivec2( entry & ${MASKS_PER_ROW - 1}, entry >> ${MASK_BITS} ), 0 );
  return mask[ layer - 1 ] * rampAt( clock, ramp );

}
`,

  /** Lays what was mixed over what lies below it once an action is of another layer, and passes by those that do not show. */
  next: /* glsl */ `
    int its = int( clip.x ) >> ${LAYER_SHIFT};
    clip.x -= float( its << ${LAYER_SHIFT} );
    if ( its != layer ) {

      endAll( mixed, share );
      layer = its;
      share = layerShare( entry, layer, playedClock, texelFetch( CROWD_PLAYED, first + ivec2( layer, 0 ), 0 ) );

    }
    if ( share <= 0.0 ) weight = 0.0;
`,
};

/** For nodes. */
export const layerShareGLSL = /*@__PURE__*/ (() => layersGLSL.share)();
