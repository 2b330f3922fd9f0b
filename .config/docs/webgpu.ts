/**
 * The names of the main entry, for `WebGPURenderer` with node materials, and these for nodes of your own.
 *
 * @module skinned-instanced-mesh/webgpu
 */

export {
  instanceUniform,
  skinnedInstanceNormal,
  skinnedInstancePosition,
} from '../../lib/backends/webgpu/WebGPUBackend.js';
export type { UniformNodeType } from '../../shaders/tsl.js';
