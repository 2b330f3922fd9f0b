/**
 * Components and hooks for react-three-fiber. `skinned-instanced-mesh/react` for `WebGLRenderer`,
 * `skinned-instanced-mesh/react/webgpu` for `WebGPURenderer`.
 *
 * @module skinned-instanced-mesh/react
 */

export * from '../../lib/react.js';
