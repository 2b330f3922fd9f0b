/**
 * Leaves out instances that are hidden, for `WebGPURenderer` on WebGPU.
 *
 * @module skinned-instanced-mesh/occlusion
 */

export { Occlusion } from './gpu/occlusion/Occlusion.js';
