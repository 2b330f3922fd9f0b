import { LOOP_MODES } from '../lib/constants.js';
import {
  ACTION_LAYER,
  ACTION_TEXELS,
  actionsRowBits,
  actionsTexels,
  firstAction,
} from '../lib/playback/instanceLayout.js';
import { MASKS_PER_ROW } from '../lib/playback/LayerTable.js';

/** Where the texels of an instance begin among those of what instances play, see `lib/playback/ActionTexels.ts`. */
export const playedTexelGLSL = (layers: number): string => /* glsl */ `
uniform highp sampler2D played;

ivec2 playedTexel( int instance ) {

  int row = instance >> ${actionsRowBits(layers)};
  return ivec2( ( instance - ( row << ${actionsRowBits(layers)} ) ) * ${actionsTexels(layers)}, row );

}
`;

/** Reads what an instance plays, as far as it shows on an entry: its nodes, then groups of four morph targets. */
export const playedActionsGLSL = (layers: number): string => /* glsl */ `
// From one weight to another, from a time on, by a share of the way each second; at a rate of 0, the way is done.
float fadeDone( float start, float rate ) {

  return rate == 0.0 ? 1.0 : clamp( ( clock - start ) * rate, 0.0, 1.0 );

}

// The action whose first texel is at a place; one that has finished and let go shows the rest pose, and is none.
bool readAction( ivec2 at, vec4 clip, int layer, out Action action ) {

  vec4 timing = texelFetch( played, at + ivec2( 1, 0 ), 0 );
  vec4 weights = texelFetch( played, at + ivec2( 2, 0 ), 0 );
  float weight = mix( weights.x, weights.y, fadeDone( timing.z, timing.w ) );
  if ( weight <= 0.0 ) return false;
  float warped = fadeDone( weights.z, abs( weights.w ) );
  float ease = weights.w > 0.0 ? warped : 1.0 - warped;
  float count = floor( clip.y * ${1 / LOOP_MODES} );
  float loop = clip.y - count * ${LOOP_MODES}.0;
  FrameMix mixed = frameAt( clock, 1.0, count, clip.z + clip.w * ease * ease, loop, timing.x, timing.y, true );
  if ( mixed.frame0 < 0.5 ) return false;
  vec4 record = trackTexel( trackLayout.z + int( clip.x ) - 1 );
  action = Action( int( record.x ), int( record.y ), mixed.frame0 - 1.0 + mixed.alpha, weight, record.z > 0.5, layer );
  return true;

}
${layers > 1 ? layerSharesGLSL(layers) : ''}
// The clip that was started first comes first, as in a mixer; layers come one after another.
void collectActions( int instance, int entry ) {

  ivec2 at = playedTexel( instance );
  ${layers > 1 ? 'readLayerShares( at, entry );' : ''}
  at.x += ${firstAction(layers)};
  for ( int i = 0; i < MAX_PLAYED; i ++, at.x += ${ACTION_TEXELS} ) {

    vec4 clip = texelFetch( played, at, 0 );
    if ( clip.x < 0.5 ) break;
    int layer = 0;
    ${layers > 1 ? takeLayer : ''}
    Action action;
    if ( readAction( at, clip, layer, action ) ) actions[ actionCount ++ ] = action;

  }

}
`;

/** Reads the layer of an action off its clip, and leaves out actions that do not show on the entry. */
const takeLayer = /*@__PURE__*/ (() => /* glsl */ `
    layer = int( clip.x ) / ${ACTION_LAYER};
    clip.x -= float( layer * ${ACTION_LAYER} );
    if ( layerShares[ layer ] <= 0.0 ) continue;
`)();

const layerSharesGLSL = (layers: number): string => /* glsl */ `
/* How much layers over the base show on each entry, see LayerTable.masks. */
uniform highp sampler2D masks;

void readLayerShares( ivec2 at, int entry ) {

  vec4 mask = texelFetch( masks, ivec2( entry & ${MASKS_PER_ROW - 1}, entry >> ${Math.log2(MASKS_PER_ROW)} ), 0 );
  for ( int layer = 1; layer < ${layers}; layer ++ ) {

    vec4 ramp = texelFetch( played, at + ivec2( layer, 0 ), 0 );
    layerShares[ layer ] = mask.x * mix( ramp.x, ramp.y, fadeDone( ramp.z, ramp.w ) );
    mask = mask.yzwx;

  }

}
`;
