import { Fn, ivec2 } from 'three/tsl';
import type { Node } from 'three/webgpu';
import { NODE_TEXELS, TRACK_ROW } from '../lib/tracks/trackTexels.js';
import type { TexelNode } from './TexelNode.js';
import type { Rows } from './tsl.js';

/** Reads the texels that `lib/tracks/trackTexels.ts` writes. All of these build on the current stack. */
export interface TrackTexelNodes {
  /** Texels at which nodes, joints and clips begin. */
  starts: Node<'ivec3'>;
  texel(at: Node<'int'>): Node<'vec4'>;
  matrixRows(at: Node<'int'>): Rows;
  /** Where the texels of an entry begin: of a node, or behind the nodes of a group of morph targets. */
  entryTexel(entry: Node<'int'>): Node<'int'>;
}

/** Twin of `trackTexel.glsl.ts`. */
export function trackTexels(tracks: TexelNode, starts: Node<'ivec3'>): TrackTexelNodes {
  const texel = Fn(
    ([at]: [Node<'int'>]) =>
      tracks.texel(ivec2(at.bitAnd(TRACK_ROW - 1), at.shiftRight(Math.log2(TRACK_ROW)))),
    { name: 'trackTexel', type: 'vec4', inputs: [{ name: 'at', type: 'int' }] },
  );
  return {
    starts,
    texel,
    matrixRows: (at) => [texel(at).toVar(), texel(at.add(1)).toVar(), texel(at.add(2)).toVar()],
    entryTexel: (entry) => starts.x.add(entry.mul(NODE_TEXELS)),
  };
}
