import type { CrowdMesh } from 'skinned-instanced-mesh';
import { InstanceUniforms } from 'skinned-instanced-mesh';

/** The uniforms of a mesh's instances, which it gets when a test first asks for them. */
export const uniformsOf = (mesh: CrowdMesh): InstanceUniforms =>
  (mesh.uniforms as InstanceUniforms | null) ?? new InstanceUniforms(mesh);
