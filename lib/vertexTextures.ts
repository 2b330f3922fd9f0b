/**
 * Vertex animation textures: crowds of whatever deforms.
 *
 * @module skinned-instanced-mesh/vertex-textures
 */

import * as bake from './vertexTextures/bakeVertexTexture.js';
import { VertexTexture as Base } from './vertexTextures/VertexTexture.js';
import { registerVertexGLSL } from './vertexTextures/vertexGLSL.js';

function withGLSL<T>(value: T): T {
  registerVertexGLSL();
  return value;
}

/** A vertex texture that `WebGLRenderer` can draw. Values of this module, so that bundlers drop all of it for whoever does not use it. */
export const VertexTexture = /*@__PURE__*/ withGLSL(Base);
export type VertexTexture = Base;

export const bakeVertexCharacter = /*@__PURE__*/ withGLSL(bake.bakeVertexCharacter);
export const bakeVertexCharacterAsync = /*@__PURE__*/ withGLSL(bake.bakeVertexCharacterAsync);
export const bakeVertexTexture = /*@__PURE__*/ withGLSL(bake.bakeVertexTexture);
export const bakeVertexTextureAsync = /*@__PURE__*/ withGLSL(bake.bakeVertexTextureAsync);

export type {
  BakeVertexCharacterAsyncOptions,
  BakeVertexCharacterOptions,
} from './vertexTextures/bakeVertexTexture.js';
export type { EncodedVertices, VertexClipJSON, VertexTextureJSON } from './vertexTextures/encodeVertices.js';
export type { MotionSource } from './vertexTextures/planMotions.js';
export type {
  VertexBakeAsyncOptions,
  VertexBakeOptions,
  VertexMotion,
} from './vertexTextures/VertexBakeOptions.js';
export type { VertexErrors, VertexPart, VertexTextureData } from './vertexTextures/VertexTextureData.js';
