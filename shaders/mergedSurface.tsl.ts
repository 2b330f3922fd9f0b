import { attribute, int, ivec2, mix, step, varying, vec4 } from 'three/tsl';
import type { Node } from 'three/webgpu';
import { TABLE_TEXELS } from '../lib/utils/surfaceMaps.js';
import type { TexelNode } from './TexelNode.js';

/** Twin of `mergedSurface.glsl.ts`: which of the merged materials a fragment is of. */
export const mergedIndex = (): Node<'int'> => varying(int(attribute<'ivec2'>('partIndex', 'ivec2').y));

/** A texel of what a table says of a material. */
export const mergedTexel = (table: TexelNode, index: Node<'int'>, texel: number): Node<'vec4'> =>
  table.texel(ivec2(index.mul(TABLE_TEXELS).add(texel), 0));

/** A sample of a texture, or what stands for it where the material has no such texture, and its layer is negative. */
export const mergedSample = (sample: Node<'vec4'>, layer: Node<'float'>, none: Node<'vec4'>): Node<'vec4'> =>
  mix(none, sample, step(0, layer));

/** What stands for a normal map. */
export const flatNormal = (): Node<'vec4'> => vec4(0.5, 0.5, 1, 1);
