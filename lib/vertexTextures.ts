/**
 * Vertex animation textures: crowds of whatever deforms.
 *
 * @module skinned-instanced-mesh/vertex-textures
 */

export type { EncodedVertices, VertexClipJSON, VertexTextureJSON } from './vertexTextures/encodeVertices.js';
export type { MotionSource } from './vertexTextures/planMotions.js';
export type {
  VertexBakeAsyncOptions,
  VertexBakeOptions,
  VertexMotion,
} from './vertexTextures/VertexBakeOptions.js';
export { VertexTexture } from './vertexTextures/VertexTexture.js';
export type { VertexErrors, VertexPart, VertexTextureData } from './vertexTextures/VertexTextureData.js';
