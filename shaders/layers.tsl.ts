import frameAtNodes from './fadesAndFrames.glsl.js?nodes=frameAtGLSL';
import layersNodes from './layers.glsl.js?nodes=layerShareGLSL';
import type { TexelNode } from './TexelNode.js';

/**
 * What steps need for layers over the base.
 *
 * @param masks Where these show, see `AnimationLayers.masks`.
 */
export const layerNodes = (masks: TexelNode): object => layersNodes({ ...frameAtNodes(), masks });
