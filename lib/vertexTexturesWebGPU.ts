/**
 * The same for `WebGPURenderer`, with node materials.
 *
 * @module skinned-instanced-mesh/vertex-textures/webgpu
 */

import { drawClock } from '../shaders/drawSlots.tsl.js';
import { vertexMatrix } from '../shaders/vertexTexture.tsl.js';
import type { Precision } from './animation/BoneTextureData.js';
import { drawnTexels } from './backends/webgpu/crowdNodes.js';
import { previousClock, shownClips } from './backends/webgpu/frameNodes.js';
import type { NodeSource } from './backends/webgpu/NodeSource.js';
import { registerNodeSource } from './backends/webgpu/nodeSources.js';
import { withPieces } from './core/Backend.js';
import * as bake from './vertexTextures/bakeVertexTexture.js';
import { vertexSourceName, verticesOf } from './vertexTextures/VertexReader.js';
import { VertexTexture as Base } from './vertexTextures/VertexTexture.js';

/** Twin of `VertexReader.ts`. */
const vertexNodes = (precision: Precision): NodeSource => ({
  name: vertexSourceName(precision),

  skinningMatrix({ crowd, variant, instance, shown }) {
    const vertices = drawnTexels(crowd, (drawn) => verticesOf(drawn).vertexTexels);
    const clips = shownClips(crowd, instance, variant);
    const matrixAt = (clock: ReturnType<typeof drawClock>) =>
      vertexMatrix(clips(clock), vertices, precision, shown);
    return { ...matrixAt(drawClock()), previous: () => matrixAt(previousClock()) };
  },
});

const half = /*@__PURE__*/ vertexNodes('half');
const float = /*@__PURE__*/ vertexNodes('float');
const withNodes = <T>(value: T): T => withPieces(value, registerNodeSource, half, float);

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
