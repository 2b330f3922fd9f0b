/**
 * Vertex animation textures: crowds of whatever deforms. `skinned-instanced-mesh/vertex-textures` for `WebGLRenderer`,
 * `skinned-instanced-mesh/vertex-textures/webgpu` for `WebGPURenderer`.
 *
 * @module skinned-instanced-mesh/vertex-textures
 */

export {
  bakeVertexCharacter,
  bakeVertexCharacterAsync,
  bakeVertexTexture,
  bakeVertexTextureAsync,
} from '../../lib/vertexTextures/bakeVertexTexture.js';
export { VertexTexture } from '../../lib/vertexTextures/VertexTexture.js';
export type * from '../../lib/vertexTextures.js';
