import type { DataTexture, Texture, WebGLRenderer } from 'three';

/** What a renderer keeps of something. */
export const keptOf = ({ properties }: WebGLRenderer, thing: object) =>
  properties.get(thing) as {
    __version?: number;
    __webglTexture?: WebGLTexture;
    __webglFramebuffer?: WebGLFramebuffer;
  };

/**
 * Sends texels of floats to a texture of a renderer, from `start` up to and without `end`: three.js would say once more how the texture
 * is filtered, which takes longer than the few texels of a frame.
 */
export function sendTexels(renderer: WebGLRenderer, texture: DataTexture, start: number, end: number): void {
  const kept = keptOf(renderer, texture);
  // Has it made. What is not ready is not sent by that.
  if (kept.__webglTexture === undefined) {
    texture.needsUpdate = true;
    renderer.initTexture(texture);
  }
  const gl = renderer.getContext() as WebGL2RenderingContext;
  const { TEXTURE_2D, RGBA, FLOAT } = gl;
  const { state } = renderer;
  const { width, data } = texture.image as { width: number; data: Float32Array };
  state.bindTexture(TEXTURE_2D, kept.__webglTexture as WebGLTexture, gl.TEXTURE0);
  state.pixelStorei(gl.UNPACK_FLIP_Y_WEBGL, false);
  state.pixelStorei(gl.UNPACK_PREMULTIPLY_ALPHA_WEBGL, false);
  state.pixelStorei(gl.UNPACK_COLORSPACE_CONVERSION_WEBGL, gl.NONE);
  for (let at = start; at < end; ) {
    const x = at % width;
    // All whole rows at once; what is before and behind them are parts of one.
    const rows = x === 0 ? Math.max(1, Math.floor((end - at) / width)) : 1;
    const columns = Math.min(width - x, end - at);
    gl.texSubImage2D(TEXTURE_2D, 0, x, Math.floor(at / width), columns, rows, RGBA, FLOAT, data, at * 4);
    at += rows * columns;
  }
}

/** Sends a renderer what has changed of a texture. */
export function uploadTexels(renderer: WebGLRenderer, texture: Texture): void {
  const kept = keptOf(renderer, texture);
  const { version } = texture;
  if (kept.__version === version) return;
  const { updateRanges } = texture as DataTexture;
  if (kept.__webglTexture === undefined || updateRanges.length === 0) {
    renderer.initTexture(texture);
    return;
  }
  for (let i = 0; i < updateRanges.length; i++) {
    const { start, count } = updateRanges[i];
    sendTexels(renderer, texture as DataTexture, start / 4, (start + count) / 4);
  }
  updateRanges.length = 0;
  kept.__version = version;
}
