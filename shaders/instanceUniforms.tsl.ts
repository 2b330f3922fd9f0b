import { int, select } from 'three/tsl';
import type { Node } from 'three/webgpu';
import type { UniformLayout, UniformPlace } from '../lib/instances/UniformLayout.js';
import type { TexelNode } from './TexelNode.js';
import { componentsNamed } from './tsl.js';

/** Twin of `instanceUniforms.glsl.ts`: a texel of what an instance has of its own. Builds on the current stack. */
export function readUniforms(
  texture: TexelNode,
  index: Node<'int'>,
  { texels }: UniformLayout,
  texel: number,
): Node<'vec4'> {
  return texture.instanceTexels(index, texels, int(texel), 1)[0];
}

/** The numbers of a uniform, of the texel that holds them. */
export const uniformIn = <T>(texel: Node<'vec4'>, { at, size }: UniformPlace): Node<T> =>
  componentsNamed<T>(texel, 'xyzw'.slice(at & 3, (at & 3) + size));

/** What an instance has in the place of a number of the material's, if it has something. */
export const instanceFactor = (own: Node<'float'>, factor: Node<'float'>): Node<'float'> =>
  select(own.lessThan(0), factor, own);
