/**
 * Vertex animation textures: crowds of whatever deforms.
 *
 * @module skinned-instanced-mesh/vertex-textures
 */

import { vertexMatrixGLSL, vertexTextureGLSL } from '../shaders/vertexTexture.glsl.js';
import type { Precision } from './animation/BoneTextureData.js';
import { bindActions, readActionsGLSL } from './backends/webgl/frameGLSL.js';
import { type GLSLSource, registerGLSLSource } from './backends/webgl/glslSources.js';
import { withPieces } from './core/Backend.js';
import * as bake from './vertexTextures/bakeVertexTexture.js';
import { vertexSourceName, verticesOf } from './vertexTextures/VertexReader.js';
import { VertexTexture as Base } from './vertexTextures/VertexTexture.js';

/** Vertices that were baked frame by frame, under WebGLRenderer: each reads and mixes its own. */
const vertexGLSL = (precision: Precision): GLSLSource => ({
  name: vertexSourceName(precision),
  glsl: {
    definesPosed: true,
    declarations: () => [...readActionsGLSL, ...vertexTextureGLSL(precision)],
    skinningMatrix: (name, variant) => vertexMatrixGLSL(name, precision, variant),
  },
  bindTextures(crowd, textures) {
    bindActions(crowd, textures);
    textures.vertices = verticesOf(crowd).vertexTexels;
  },
});

const half = /*@__PURE__*/ vertexGLSL('half');
const float = /*@__PURE__*/ vertexGLSL('float');
const withGLSL = <T>(value: T): T => withPieces(value, registerGLSLSource, half, float);

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
export type {
  MotionSource,
  VertexBakeAsyncOptions,
  VertexBakeOptions,
  VertexMotion,
} from './vertexTextures/planMotions.js';
export type { VertexErrors, VertexPart, VertexTextureData } from './vertexTextures/VertexTextureData.js';
