/**
 * The same for `WebGPURenderer`, with node materials.
 *
 * @module skinned-instanced-mesh/vertex-textures/webgpu
 */

import { VertexTexture as Base } from './vertexTextures/VertexTexture.js';
import { registerVertexNodes } from './vertexTextures/webgpuVertexNodes.js';

function withNodes(): typeof Base {
  registerVertexNodes();
  return Base;
}

/**
 * The class of the other entry, the very same, which `WebGPURenderer` can draw once it was taken from here. It still works with
 * `WebGLRenderer`.
 */
export const VertexTexture = /*@__PURE__*/ withNodes();
export type VertexTexture = Base;

export type * from './vertexTextures.js';
