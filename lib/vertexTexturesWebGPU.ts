/**
 * The same for `WebGPURenderer`, with node materials.
 *
 * @module skinned-instanced-mesh/vertex-textures/webgpu
 */

import * as bake from './vertexTextures/bakeVertexTexture.js';
import { VertexTexture as Base } from './vertexTextures/VertexTexture.js';
import { registerVertexNodes } from './vertexTextures/webgpuVertexNodes.js';

function withNodes<T>(value: T): T {
  registerVertexNodes();
  return value;
}

/**
 * The class and functions of the other entry, the very same, whose textures `WebGPURenderer` can draw once they were taken from here.
 */
export const VertexTexture = /*@__PURE__*/ withNodes(Base);
export type VertexTexture = Base;

export const bakeVertexCharacter = /*@__PURE__*/ withNodes(bake.bakeVertexCharacter);
export const bakeVertexCharacterAsync = /*@__PURE__*/ withNodes(bake.bakeVertexCharacterAsync);
export const bakeVertexTexture = /*@__PURE__*/ withNodes(bake.bakeVertexTexture);
export const bakeVertexTextureAsync = /*@__PURE__*/ withNodes(bake.bakeVertexTextureAsync);

export type * from './vertexTextures.js';
