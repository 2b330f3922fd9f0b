import type { Texture } from 'three';
import type { OwnedBytes } from '../utils/attributes.js';

/** An image as three.js takes it: an element, a bitmap, or plain data. */
interface TextureImage {
  width: number;
  height: number;
  naturalWidth?: number;
  naturalHeight?: number;
  complete?: boolean;
  data?: ArrayBufferView | null;
}

/** Width and height of a texture's image; zero while it is not loaded. */
export function imageSize({ image }: Texture): [width: number, height: number] {
  const { width, height, naturalWidth, naturalHeight, complete, data } = (image ??
    {}) as Partial<TextureImage>;
  if (complete === false || data === null) return [0, 0];
  return [naturalWidth || width || 0, naturalHeight || height || 0];
}

/**
 * The texels of several textures of four bytes a texel, one after the other, scaled to one size.
 *
 * They are as WebGL has them in the memory of the GPU, whatever the kind of image: a 2D canvas would lose the colours of
 * transparent texels.
 *
 * @throws If an image may not be read, or there is no WebGL, or no room for an image.
 */
export function readLayers(textures: readonly Texture[], width: number, height: number): OwnedBytes {
  const size = width * height * 4;
  const texels = new Uint8Array(size * textures.length);
  let gl: WebGL2RenderingContext | undefined;
  try {
    textures.forEach((texture, layer) => {
      const { data } = texture.image as TextureImage;
      const target = texels.subarray(layer * size, (layer + 1) * size);
      if (
        `${imageSize(texture)}` === `${[width, height]}` &&
        isAsItIs(texture) &&
        data instanceof Uint8Array
      ) {
        target.set(data.subarray(0, size));
        return;
      }
      gl ??= createContext(width, height);
      readScaled(gl, texture, width, height, target);
    });
  } finally {
    // With all that it holds.
    gl?.getExtension('WEBGL_lose_context')?.loseContext();
  }
  return texels;
}

const isAsItIs = ({ flipY, premultiplyAlpha }: Texture): boolean => !flipY && !premultiplyAlpha;

/** A context with a texture to put images into, and a buffer of the size of a layer to be drawn into. */
function createContext(width: number, height: number): WebGL2RenderingContext {
  const canvas =
    typeof OffscreenCanvas === 'undefined'
      ? globalThis.document?.createElement('canvas')
      : new OffscreenCanvas(1, 1);
  const gl = canvas?.getContext('webgl2') as WebGL2RenderingContext | null | undefined;
  if (!gl) throw new Error('there is no WebGL 2 to read images with');
  gl.bindTexture(gl.TEXTURE_2D, gl.createTexture());
  gl.bindFramebuffer(gl.DRAW_FRAMEBUFFER, gl.createFramebuffer());
  gl.bindRenderbuffer(gl.RENDERBUFFER, gl.createRenderbuffer());
  gl.renderbufferStorage(gl.RENDERBUFFER, gl.RGBA8, width, height);
  const buffer = gl.getParameter(gl.RENDERBUFFER_BINDING);
  gl.framebufferRenderbuffer(gl.DRAW_FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.RENDERBUFFER, buffer);
  gl.pixelStorei(gl.UNPACK_COLORSPACE_CONVERSION_WEBGL, gl.NONE);
  return gl;
}

function readScaled(
  gl: WebGL2RenderingContext,
  texture: Texture,
  width: number,
  height: number,
  target: Uint8Array,
): void {
  const { TEXTURE_2D, RGBA, RGBA8, UNSIGNED_BYTE, READ_FRAMEBUFFER } = gl;
  const { data } = texture.image as TextureImage;
  const [w, h] = imageSize(texture);
  gl.pixelStorei(gl.UNPACK_FLIP_Y_WEBGL, texture.flipY);
  gl.pixelStorei(gl.UNPACK_PREMULTIPLY_ALPHA_WEBGL, texture.premultiplyAlpha);
  if (data) gl.texImage2D(TEXTURE_2D, 0, RGBA8, w, h, 0, RGBA, UNSIGNED_BYTE, data as Uint8Array);
  else gl.texImage2D(TEXTURE_2D, 0, RGBA8, RGBA, UNSIGNED_BYTE, texture.image as TexImageSource);
  gl.generateMipmap(TEXTURE_2D);
  // The smallest of the smaller copies that is large enough.
  const level = Math.max(0, Math.floor(Math.log2(Math.min(w / width, h / height))));
  const layer = gl.getParameter(gl.DRAW_FRAMEBUFFER_BINDING);
  gl.bindFramebuffer(READ_FRAMEBUFFER, gl.createFramebuffer());
  const image = gl.getParameter(gl.TEXTURE_BINDING_2D);
  gl.framebufferTexture2D(READ_FRAMEBUFFER, gl.COLOR_ATTACHMENT0, TEXTURE_2D, image, level);
  gl.blitFramebuffer(
    0,
    0,
    w >> level || 1,
    h >> level || 1,
    0,
    0,
    width,
    height,
    gl.COLOR_BUFFER_BIT,
    gl.LINEAR,
  );
  gl.bindFramebuffer(READ_FRAMEBUFFER, layer);
  gl.readPixels(0, 0, width, height, RGBA, UNSIGNED_BYTE, target);
  if (gl.getError() !== gl.NO_ERROR) throw new Error(`WebGL cannot hold an image of ${w} × ${h}`);
}
