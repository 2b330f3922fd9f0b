import { float, int, ivec2, vec4 } from 'three/tsl';
import type { Node } from 'three/webgpu';
import { ACTION_LAYER, MASKS_PER_ROW } from '../lib/playback/instanceLayout.js';
import { type PlayedTexels, rampAt } from './playedActions.tsl.js';
import type { TexelNode } from './TexelNode.js';
import { componentsOf } from './tsl.js';

/**
 * Twin of `layers.glsl.ts`: what steps need for layers over the base.
 *
 * @param masks Where these show, see `AnimationLayers.masks`.
 */
export const layerNodes = (masks: TexelNode): NonNullable<PlayedTexels['over']> => ({
  shares(entry, clock, ramps) {
    const at = ivec2(entry.bitAnd(MASKS_PER_ROW - 1), entry.shiftRight(Math.log2(MASKS_PER_ROW)));
    const mask = componentsOf(masks.texel(at).toVar());
    const [a, b, c, d] = [0, 1, 2, 3].map((i) =>
      i < ramps.length ? rampAt(clock, ramps[i]).mul(mask.element(int(i))) : float(0),
    );
    return vec4(a, b, c, d).toVar();
  },

  take(clip: Node<'vec4'>) {
    const layer = int(clip.x).div(ACTION_LAYER).toVar();
    clip.x.subAssign(float(layer).mul(ACTION_LAYER));
    return layer;
  },
});
