import 'skinned-instanced-mesh/objects';
import { SkinnedInstancedMesh } from './library.js';
import { createStick } from './stick.js';

/** A crowd of sticks without instances, in which objects are put. */
export function createCrowd(
  options: Parameters<typeof SkinnedInstancedMesh.from>[3] = {},
): SkinnedInstancedMesh {
  const { root, clips } = createStick();
  return SkinnedInstancedMesh.from(root, clips, 0, options);
}

export { SkinnedInstance } from 'skinned-instanced-mesh/objects';
