import { Fn, float, If, ivec2, select, vec4 } from 'three/tsl';
import type { Node } from 'three/webgpu';
import { SHORT_ONE } from '../lib/animation/PoseTracks.js';
import { NODE_TEXELS, SHORT_ROW, TRACK_ROW } from '../lib/animation/trackTexels.js';
import type { TexelNode } from './TexelNode.js';
import { layoutOf, type Rows } from './tsl.js';

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
  const place = (at: Node<'int'>, row: number) => ivec2(at.bitAnd(row - 1), at.shiftRight(Math.log2(row)));
  const texel = Fn(
    ([at]: [Node<'int'>]) => tracks.texel(place(at, TRACK_ROW)),
    /*@__PURE__*/ layoutOf('trackTexel', 'vec4', { at: 'int' }),
  );
  const shortKey = (at: Node<'int'>, range: Node<'int'>, turns: Node<'bool'>, texture: TexelNode) => {
    const four = texture.integers(place(at.shiftRight(1).toVar(), SHORT_ROW)).toVar();
    const isFirst = at.bitAnd(1).equal(0).toVar();
    const low = select(isFirst, four.x, four.z).toVar();
    const high = select(isFirst, four.y, four.w).toVar();
    const half = (bits: Node<'uint'>, shift: number) => float(bits.shiftRight(shift).bitAnd(0xffff));
    const key = vec4(half(low, 0), half(low, 16), half(high, 0), half(high, 16)).toVar();
    const value = key.div(SHORT_ONE).sub(1).normalize().toVar();
    If(turns.not(), () => {
      value.assign(texel(range).add(texel(range.add(1)).mul(key)));
    });
    return value;
  };
  return {
    starts,
    texel,
    key: (at, range, turns) => (shortKeys === null ? texel(at) : shortKey(at, range, turns, shortKeys)),
    matrixRows: (at) => [texel(at).toVar(), texel(at.add(1)).toVar(), texel(at.add(2)).toVar()],
    entryTexel: (entry) => starts.x.add(entry.mul(NODE_TEXELS)),
  };
}
