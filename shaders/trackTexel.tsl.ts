import { ivec2 } from 'three/tsl';
import type { Node } from 'three/webgpu';
import { NODE_TEXELS, TRACK_ROW } from '../lib/animation/trackTexels.js';
import type { TexelNode } from './TexelNode.js';
import shortKeyNodes from './trackTexel.glsl.js?nodes=shortKeyGLSL';
import { functionOf, type Rows } from './tsl.js';

/** Reads the texels that `lib/animation/trackTexels.ts` writes. All of these build on the current stack. */
export interface TrackTexelNodes {
  /** Texels at which nodes, joints and clips begin. */
  starts: Node<'ivec3'>;
  texel(at: Node<'int'>): Node<'vec4'>;
  matrixRows(at: Node<'int'>): Rows;
  /** A key; `range` is where the range of its track is, if keys have 16 bits. */
  key(at: Node<'int'>, range: Node<'int'>, turns: Node<'bool'>): Node<'vec4'>;
  /** Where the texels of an entry begin: of a node, or behind the nodes of a group of morph targets. */
  entryTexel(entry: Node<'int'>): Node<'int'>;
}

/**
 * Twin of `trackTexel.glsl.ts`.
 *
 * @param shortKeys The texture with keys of 16 bits, if there is one.
 */
export function trackTexels(
  tracks: TexelNode,
  starts: Node<'ivec3'>,
  shortKeys: TexelNode | null,
): TrackTexelNodes {
  const texel = functionOf('vec4 trackTexel int', (at: Node<'int'>) =>
    tracks.texel(ivec2(at.bitAnd(TRACK_ROW - 1), at.shiftRight(Math.log2(TRACK_ROW)))),
  );
  const shortKey =
    shortKeys &&
    shortKeyNodes<{ readKey: TrackTexelNodes['key'] }>({
      trackTexel: texel,
      shortKeys: { texel: (at: Node<'ivec2'>) => shortKeys.integers(at) },
    }).readKey;
  return {
    starts,
    texel,
    key: shortKey ?? ((at) => texel(at)),
    matrixRows: (at) => [texel(at).toVar(), texel(at.add(1)).toVar(), texel(at.add(2)).toVar()],
    entryTexel: (entry) => starts.x.add(entry.mul(NODE_TEXELS)),
  };
}
