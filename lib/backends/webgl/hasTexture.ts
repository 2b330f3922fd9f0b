import type { Texture, WebGLRenderer } from 'three';

/** Whether WebGLRenderer has uploaded a texture. One function for all renderers, so that draws make none. */
export const hasTexture = (texture: Texture, renderer: object): boolean =>
  ((renderer as WebGLRenderer).properties.get(texture) as { __webglTexture?: unknown }).__webglTexture !==
  undefined;
