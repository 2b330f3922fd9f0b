import type { CrowdMesh } from './library.js';
import { InstanceMorphs } from './library.js';

/** The morph influences of a mesh's instances; it gets some where it has none. */
export const morphsOf = (mesh: CrowdMesh): InstanceMorphs =>
  (mesh.morphs.ofInstances as InstanceMorphs | null) ?? new InstanceMorphs(mesh);
