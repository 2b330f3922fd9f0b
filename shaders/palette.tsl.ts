import { attribute, Break, float, If, ivec4, Loop, max, uint, uvec4, vec2, vec4 } from 'three/tsl';
import type { Node } from 'three/webgpu';
import type { Influences } from './ShaderVariant.js';
import {
  bitsOf,
  floatsOf,
  packHalves,
  packSnorms,
  type Rows,
  unpackHalves,
  unpackSnorms,
  zeroRows,
} from './tsl.js';

/**
 * Twin of `paletteMatrixGLSL`: the weighted sum of the vertex's joints, as rows, from what the pose pass has written.
 * Builds on the current stack.
 *
 * @param jointMatrix Reads the skinning matrix of a joint of the instance that is drawn: in GLSL, `addJoint_exact` and `addJoint_compact` also add it up.
 * @param shown Above zero where the vertex's part is shown; where it is hidden, all its vertices are at one point. Null if no
 * part is ever hidden.
 */
export function paletteMatrix(
  jointMatrix: (joint: Node<'int'>) => Rows,
  influences: Influences,
  shown: Node<'float'> | null,
): Rows {
  const sum = zeroRows();
  const joints = ivec4(attribute<'ivec4'>('skinIndex', 'ivec4')).toVar();
  const weights = vec4(attribute<'vec4'>('skinWeight', 'vec4')).toVar();
  // A variant may follow fewer joints than the geometry has: then weights of those it follows add up to 1 again.
  if (influences === 1) weights.x.assign(1);
  if (influences === 2) weights.divAssign(weights.x.add(weights.y));
  if (shown !== null) {
    If(shown.lessThanEqual(0), () => {
      weights.assign(vec4(0));
    });
  }
  Loop(influences, () => {
    If(weights.x.lessThanEqual(0), () => {
      Break();
    });
    const weight = weights.x.toVar();
    jointMatrix(joints.x.toVar()).forEach((row, i) => {
      sum[i].addAssign(row.mul(weight));
    });
    joints.assign(joints.yzwx);
    weights.assign(weights.yzwx);
  });
  return sum;
}

/** What an affine matrix is in a compact palette. */
export interface CompactMatrix {
  /** Eight of nine numbers as signed 16-bit shares of a scale. */
  shares: Node<'uvec4'>;
  /** The ninth one and the scale, a 16-bit float; then the translation as bits of floats. */
  rest: Node<'uvec4'>;
}

/** At least so much is the largest of the nine numbers taken for, so that the scale is no denormal number. */
const LEAST_SCALE = 1e-4;

/**
 * Writes the same shares as `writeCompact` in GLSL, by WGSL's own packing, in another order: no renderer reads what the other wrote.
 * Builds on the current stack.
 */
export function packCompact([x, y, z]: Rows): CompactMatrix {
  const largest = max(max(x.xyz.abs(), y.xyz.abs()), z.xyz.abs()).toVar();
  const most = max(max(largest.x, largest.y), max(largest.z, LEAST_SCALE));
  // A 16-bit float may be lower than what it stands for by 2^-10 of it.
  const scale = packHalves(vec2(0, most.mul(1 + 1 / 512)))
    .bitAnd(uint(0xffff0000))
    .toVar();
  const share = float(1).div(unpackHalves(scale).y).toVar();
  const last = packSnorms(vec2(z.z.mul(share), 0)).bitAnd(uint(0xffff));
  const translation = bitsOf(vec4(0, x.w, y.w, z.w)).toVar();
  return {
    shares: uvec4(
      packSnorms(x.xy.mul(share)),
      packSnorms(y.xy.mul(share)),
      packSnorms(z.xy.mul(share)),
      packSnorms(vec2(x.z, y.z).mul(share)),
    ),
    rest: uvec4(scale.bitOr(last), translation.y, translation.z, translation.w),
  };
}

/** Reads what `packCompact` writes. Builds on the current stack. */
export function unpackCompact({ shares, rest }: CompactMatrix): Rows {
  const scale = unpackHalves(rest.x).y.toVar();
  const pair = (bits: Node<'uint'>) => unpackSnorms(bits).mul(scale).toVar();
  const z = pair(shares.w);
  const last = pair(rest.x).x;
  const translation = floatsOf(rest).toVar();
  return [
    vec4(pair(shares.x), z.x, translation.y).toVar(),
    vec4(pair(shares.y), z.y, translation.z).toVar(),
    vec4(pair(shares.z), last, translation.w).toVar(),
  ];
}
