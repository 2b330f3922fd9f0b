import { int, ivec2 } from 'three/tsl';
import type { Node } from 'three/webgpu';
import { type PlayedTexels, playedTexel } from './playedActions.tsl.js';
import type { TexelNode } from './TexelNode.js';
import type { Rows } from './tsl.js';

/**
 * Twin of `bodies.glsl.ts`. All of these build on the current stack.
 *
 * @param nodes How many a pose has.
 */
export function bodyNodes(
  bodies: TexelNode,
  { actions, layers }: Pick<PlayedTexels, 'actions' | 'layers'>,
  nodes: Node<'int'>,
) {
  const kindOf = (instance: Node<'int'>): Node<'int'> => {
    const { first, row } = playedTexel(instance, layers);
    // In the header's HEADER_PHASE.
    return int(actions.rowTexels(first, row, 1)[0].z).toVar();
  };
  return {
    fit(instance: Node<'int'>, node: Node<'int'>, translation: Node<'vec4'>): void {
      const fit = bodies.texel(ivec2(node, kindOf(instance))).toVar();
      translation.xyz.assign(translation.xyz.mul(fit.w).add(fit.xyz));
    },
    inverse(instance: Node<'int'>, joint: Node<'int'>): Rows {
      const at = nodes.add(joint.mul(3)).toVar();
      const kind = kindOf(instance);
      const row = (i: number) => bodies.texel(ivec2(at.add(i), kind)).toVar();
      return [row(0), row(1), row(2)];
    },
  };
}
