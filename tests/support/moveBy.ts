import type { CrowdMesh } from '../../lib/index.js';
import { InstanceMotions, type Motion } from './library.js';

/** Has these motions and no others move the vertices of a mesh. */
export const moveBy = (mesh: CrowdMesh, ...motions: Motion[]): InstanceMotions =>
  ((mesh.instanceMotions as InstanceMotions | null) ?? new InstanceMotions(mesh)).set(...motions);
