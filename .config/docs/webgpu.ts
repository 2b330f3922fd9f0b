/**
 * The names of the main entry, for `WebGPURenderer` with node materials, and these for nodes of your own and crowds that live on the GPU.
 *
 * @module skinned-instanced-mesh/webgpu
 */

export {
  instanceUniform,
  skinnedInstanceNormal,
  skinnedInstancePosition,
} from '../../lib/backends/webgpu/WebGPUBackend.js';
export * from '../../lib/gpu/GPUInstances.js';
export * from '../../lib/gpu/NeighbourGrid.js';
export * from '../../lib/gpu/pickGPUInstances.js';
export * from '../../lib/gpu/steering.js';
export type { UniformNodeType } from '../../shaders/tsl.js';
