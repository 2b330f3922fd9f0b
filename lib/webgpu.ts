/**
 * The same for `WebGPURenderer`, with node materials.
 *
 * @module skinned-instanced-mesh/webgpu
 */

import { registerNodeBackend } from './backends/backendOf.js';
import { webGPUBackend } from './backends/webgpu/WebGPUBackend.js';
import { SkinnedInstancedMesh as Base } from './objects/SkinnedInstancedMesh.js';

function withNodeMaterials(): typeof Base {
  registerNodeBackend(webGPUBackend);
  return Base;
}

/**
 * The class of the main entry, the very same, which `WebGPURenderer` can draw once it was taken from here. It still
 * works with `WebGLRenderer`.
 *
 * A value of this module rather than a re-export: whoever uses it makes the node materials known, and bundlers may drop
 * all of it for whoever does not.
 */
export const SkinnedInstancedMesh = /*@__PURE__*/ withNodeMaterials();
export type SkinnedInstancedMesh = Base;

export type { UniformNodeType } from '../shaders/tsl.js';
export {
  instanceUniform,
  skinnedInstanceNormal,
  skinnedInstancePosition,
} from './backends/webgpu/WebGPUBackend.js';
export type * from './index.js';
export { BoneTexture } from './texture/BoneTexture.js';
