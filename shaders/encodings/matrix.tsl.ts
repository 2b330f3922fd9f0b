import { ivec2 } from 'three/tsl';
import type { Node } from 'three/webgpu';
import type { TexelNode } from '../TexelNode.js';
import type { Rows } from '../tsl.js';

/** One clip's part in a pose: the texels at which its two frames begin, and how they mix. */
export interface LayerNodes {
  texel0: Node<'ivec2'>;
  texel1: Node<'ivec2'>;
  alpha: Node<'float'>;
}

/** Reads a joint's skinning matrix in one clip's part of a pose, times a weight. */
export type JointMatrixNodes = (
  boneTexture: TexelNode,
  pose: LayerNodes,
  weight: Node<'float'>,
  joint: Node<'int'>,
  interpolate: boolean,
) => Rows;

/** Twin of `matrix.glsl.ts`. */
export const jointMatrix_matrix: JointMatrixNodes = (
  boneTexture,
  { texel0, texel1, alpha },
  weight,
  joint,
  interpolate,
) => {
  const row = (texel: Node<'ivec2'>, i: number) =>
    boneTexture.texel(texel.add(ivec2(joint.mul(3).add(i), 0)));
  const weight1 = weight.mul(alpha).toVar();
  const weight0 = weight.sub(weight1).toVar();
  const mixed = (i: number) =>
    interpolate ? weight0.mul(row(texel0, i)).add(weight1.mul(row(texel1, i))) : weight.mul(row(texel0, i));
  return [mixed(0), mixed(1), mixed(2)];
};
