import { int, ivec3 } from 'three/tsl';
import type { Node } from 'three/webgpu';
import { actionsRowBits, firstAction } from '../lib/playback/instanceLayout.js';
import { inLayers, type TexelNode } from './TexelNode.js';

/** What a crowd plays. */
export interface PlayedTexels {
  /** The actions of all instances, see `ActionTexels`. */
  actions: Pick<TexelNode, 'rowTexels' | 'width'>;
  /** Seconds since the epoch began, and its number. */
  clock: Node<'vec2'>;
  /** What there is for layers over the base, see `layersGLSL`; null if there are none. */
  over: object | null;
  /** How many layers there are, with the base. */
  layers: number;
}

/** What `playedTexelGLSL` needs. */
export const playedNeeds = (
  { actions, clock, layers }: Omit<PlayedTexels, 'over'>,
  rowBits: Node<'int'> = int(actionsRowBits(layers)),
) => ({
  CROWD_PLAYED: inLayers(actions),
  CROWD_CLOCK: clock.x,
  CROWD_EPOCH: clock.y,
  // Texels before the actions, texels, and the instances in a row as an exponent of two.
  playedLayout: ivec3(firstAction(layers), actions.width.shiftRight(rowBits), rowBits),
});
