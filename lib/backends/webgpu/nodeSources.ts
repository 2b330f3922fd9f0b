import { sourceOf } from '../../sources/PoseSource.js';
import type { DrawnCrowd } from '../DrawnCrowd.js';
import type { NodeSource } from './NodeSource.js';
import { trackNodes } from './trackNodes.js';

const sources: NodeSource[] = [trackNodes];

/** Lets node materials pose crowds of one more pose source. */
export function registerNodeSource(source: NodeSource): void {
  if (!sources.includes(source)) sources.push(source);
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
    `WebGPURenderer cannot draw poses of the source "${name}"; import what makes them from 'skinned-instanced-mesh/webgpu', or ` +
      "VertexTexture from 'skinned-instanced-mesh/vertex-textures/webgpu'.",
  );
}
