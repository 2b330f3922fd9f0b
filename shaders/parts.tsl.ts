import { attribute, floor, instanceIndex, int, vec2 } from 'three/tsl';
import type { Node } from 'three/webgpu';
import { MAP_STEPS, PARAM_PARTS, PARAM_PARTS_PER_ROW } from '../lib/constants.js';
import type { TexelNode } from './TexelNode.js';

/** Twin of `parts.glsl.ts`: what the vertex's part looks like on its instance. Call it where a stack is being built. */
export function instancePart(texture: TexelNode, parameter: (i: number) => Node<'float'>): Node<'vec4'> {
  const index = int(instanceIndex);
  const perRow = int(parameter(PARAM_PARTS_PER_ROW)).toVar();
  const row = index.div(perRow).toVar();
  const first = index.sub(row.mul(perRow)).mul(int(parameter(PARAM_PARTS)));
  return texture.rowTexels(first.add(int(attribute<'float'>('partIndex', 'float'))), row, 1)[0];
}

/** By how much a part's map is moved, in uv units. */
export function partMapOffset(part: Node<'vec4'>): Node<'vec2'> {
  const steps = part.w.abs().sub(1);
  const v = floor(steps.div(MAP_STEPS));
  return vec2(steps.sub(v.mul(MAP_STEPS)), v).div(MAP_STEPS);
}
