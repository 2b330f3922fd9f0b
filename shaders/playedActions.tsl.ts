import { ivec4 } from 'three/tsl';
import type { Node } from 'three/webgpu';
import { playedLayout } from '../lib/playback/instanceLayout.js';
import { inLayers, type TexelNode } from './TexelNode.js';

/** What a crowd plays. */
export interface PlayedTexels {
  /** The actions of all instances, see `ActionTexels`. */
  actions: Pick<TexelNode, 'rowTexels'>;
  /** Seconds since the epoch began, and its number. */
  clock: Node<'vec2'>;
  /** What there is for layers over the base, see `layersGLSL`; null if there are none. */
  over: object | null;
  /** How many layers there are, with the base. */
  layers: number;
}

/** What `playedTexelGLSL` needs. */
export const playedNeeds = ({ actions, clock, layers }: Omit<PlayedTexels, 'over'>) => ({
  CROWD_PLAYED: inLayers(actions),
  CROWD_CLOCK: clock.x,
  CROWD_EPOCH: clock.y,
  playedLayout: ivec4(...playedLayout(layers)),
});
