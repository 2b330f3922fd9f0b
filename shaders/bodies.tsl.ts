import type { Node } from 'three/webgpu';
import bodyPieces from './bodies.glsl.js?nodes=bodyGLSL';
import { type PlayedTexels, playedNeeds } from './playedActions.tsl.js';
import type { TexelNode } from './TexelNode.js';

/** What a step needs for bodies of other proportions, see `bodiesGLSL`. */
export const bodyNodes = (
  bodies: TexelNode,
  played: Omit<PlayedTexels, 'over'>,
  passLayout: Node<'ivec4'>,
): object => bodyPieces({ ...playedNeeds(played), bodies, passLayout });
