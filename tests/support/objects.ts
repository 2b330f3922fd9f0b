import { type CrowdOptions, crowdArguments } from './crowdArguments.js';
import { SkinnedInstancedMesh } from './library.js';
import { createStick } from './stick.js';

/** A crowd of sticks without instances, in which objects are put. */
export function createCrowd(options: CrowdOptions = {}): SkinnedInstancedMesh {
  const { root, clips } = createStick();
  return new SkinnedInstancedMesh(...crowdArguments(root, clips, 0, options));
}

export { SkinnedInstance } from 'skinned-instanced-mesh';
