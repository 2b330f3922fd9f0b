import { ivec2 } from 'three/tsl';
import type { Node } from 'three/webgpu';
import { TRACK_ROW } from '../lib/animation/trackTexels.js';
import type { TexelNode } from './TexelNode.js';
import shortKeyNodes from './trackTexel.glsl.js?nodes=shortKeyGLSL';
import { functionOf, type Rows } from './tsl.js';

/** Reads the texels that `lib/animation/trackTexels.ts` writes. All of these build on the current stack. */
export interface TrackTexelNodes {
  /** Texels at which nodes, joints and clips begin. */
  trackLayout: Node<'ivec3'>;
  trackTexel(at: Node<'int'>): Node<'vec4'>;
  matrixRows(at: Node<'int'>): Rows;
  /** A key; `range` is where the range of its track is, if keys have 16 bits. */
  readKey(at: Node<'int'>, range: Node<'int'>, turns: Node<'bool'>): Node<'vec4'>;
}

/**
 * Twin of `trackTexel.glsl.ts`.
 *
 * @param shortKeys The texture with keys of 16 bits, if there is one.
 */
export function trackTexels(
  tracks: TexelNode,
  trackLayout: Node<'ivec3'>,
  shortKeys: TexelNode | null,
): TrackTexelNodes {
  const trackTexel = functionOf('vec4 trackTexel int', (at: Node<'int'>) =>
    tracks.texel(ivec2(at.bitAnd(TRACK_ROW - 1), at.shiftRight(Math.log2(TRACK_ROW)))),
  );
  return {
    trackLayout,
    trackTexel,
    readKey: (at) => trackTexel(at),
    matrixRows: (at) => [
      trackTexel(at).toVar(),
      trackTexel(at.add(1)).toVar(),
      trackTexel(at.add(2)).toVar(),
    ],
    ...(shortKeys && shortKeyNodes({ trackTexel, shortKeys })),
  };
}
