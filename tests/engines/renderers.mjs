/**
 * The renderers that scenes are drawn with. In most engines WebGPURenderer finds no WebGPU and falls back to WebGL 2 by
 * itself; all are compared with the WebGL 2 of Chromium.
 *
 * @typedef {'WebGLRenderer' | 'WebGPURenderer' | 'WebGPURenderer, WebGL 2'} RendererName
 */

/** @type {RendererName[]} */
export const RENDERERS = ['WebGLRenderer', 'WebGPURenderer'];

/** What Chromium on SwiftShader draws with: the last two are the same where it has no WebGPU. @type {RendererName[]} */
export const BASELINE_RENDERERS = ['WebGLRenderer', 'WebGPURenderer, WebGL 2', 'WebGPURenderer'];

/**
 * What a renderer of another engine is compared with.
 *
 * @param {RendererName} renderer
 * @returns {RendererName}
 */
export const baselineOf = (renderer) =>
  renderer === 'WebGPURenderer' ? 'WebGPURenderer, WebGL 2' : renderer;
