import { sourceOf } from '../../sources/sources.js';
import type { DrawnCrowd } from '../DrawnCrowd.js';
import type { NodeSource } from './NodeSource.js';
import { restNodes, texelNodes } from './texelNodes.js';
import { trackNodes } from './trackNodes.js';

const sources: NodeSource[] = [
  /*@__PURE__*/ texelNodes('matrix'),
  /*@__PURE__*/ texelNodes('quaternion'),
  trackNodes,
  /*@__PURE__*/ restNodes('matrix'),
  /*@__PURE__*/ restNodes('quaternion'),
];

/** Lets node materials pose crowds of one more pose source. */
export function registerNodeSource(source: NodeSource): void {
  sources.push(source);
}

/**
 * What poses a crowd in node materials.
 *
 * @throws If its pose source has no twin for them.
 */
export function nodeSourceOf(crowd: DrawnCrowd): NodeSource {
  const { name } = sourceOf(crowd);
  for (let i = 0; i < sources.length; i++) if (sources[i].name === name) return sources[i];
  throw new Error(
    `SkinnedInstancedMesh: WebGPURenderer cannot draw poses of the source "${name}"; ` +
      "for vertex textures import 'skinned-instanced-mesh/vertex-textures/webgpu'.",
  );
}
