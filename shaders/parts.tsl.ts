import { attribute, floor, int, max, vec2 } from 'three/tsl';
import type { Node } from 'three/webgpu';
import { MAP_STEPS, NEARLY_BLACK, PARAM_PARTS, PARAM_PARTS_PER_ROW } from '../lib/constants.js';
import { drawParameter } from './drawSlots.tsl.js';
import type { TexelNode } from './TexelNode.js';
import { materialProperty } from './tsl.js';

/** Twin of `parts.glsl.ts`: what the vertex's part looks like on its instance. Builds on the current stack. */
export function instancePart(texture: TexelNode, index: Node<'int'>): Node<'vec4'> {
  const perRow = int(drawParameter(PARAM_PARTS_PER_ROW)).toVar();
  const row = index.div(perRow).toVar();
  const first = index.sub(row.mul(perRow)).mul(int(drawParameter(PARAM_PARTS)));
  return texture.rowTexels(first.add(attribute<'ivec2'>('partIndex', 'ivec2').x), row, 1)[0];
}

/** The colour of the material, such that parts can replace it. */
export const dividedColor = (): Node<'vec3'> => max(materialProperty<'vec3'>('color', 'color'), NEARLY_BLACK);

/** By how much a part's map is moved, in uv units. */
export function partMapOffset(part: Node<'vec4'>): Node<'vec2'> {
  const steps = part.w.abs().sub(1);
  const v = floor(steps.div(MAP_STEPS));
  return vec2(steps.sub(v.mul(MAP_STEPS)), v).div(MAP_STEPS);
}
