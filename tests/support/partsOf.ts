import type { CrowdMesh } from '../../lib/index.js';
import { InstanceParts } from './library.js';

/** The parts of a mesh's instances; it gets some where it has none. */
export const partsOf = (mesh: CrowdMesh): InstanceParts =>
  (mesh.instanceParts as InstanceParts | null) ?? new InstanceParts(mesh);
