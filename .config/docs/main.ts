/**
 * What both main entries export: `skinned-instanced-mesh` for `WebGLRenderer`, `skinned-instanced-mesh/webgpu` for `WebGPURenderer`.
 *
 * @module skinned-instanced-mesh
 */

export { frames } from '../../lib/baking/frames.js';
export { mergeMaterials } from '../../lib/character/mergeMaterials.js';
export { SkinnedInstancedMesh } from '../../lib/crowd/SkinnedInstancedMesh.js';
// The entries hand the same classes and functions on, with the shaders of one renderer. Here they are as they were written.
export * from '../../lib/exports.js';
export { Billboard } from '../../lib/features/attachments/Billboard.js';
export { Impostor } from '../../lib/features/impostors/Impostor.js';
export { JointEdits } from '../../lib/features/jointEdits/JointEdits.js';
export { CrowdKinds } from '../../lib/features/kinds/CrowdKinds.js';
export { AnimationLayers } from '../../lib/features/layers/AnimationLayers.js';
export { CrowdLevels } from '../../lib/features/levels/CrowdLevels.js';
export { InstanceMotions } from '../../lib/features/motion/InstanceMotions.js';
export { SkinnedInstance } from '../../lib/objects/SkinnedInstance.js';
export { InstanceParts } from '../../lib/surface/InstanceParts.js';
export { InstanceUniforms } from '../../lib/surface/InstanceUniforms.js';
