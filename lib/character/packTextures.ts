import {
  ClampToEdgeWrapping,
  CompressedArrayTexture,
  type CompressedTexture,
  DataArrayTexture,
  RGBAFormat,
  type Texture,
  UnsignedByteType,
} from 'three';
import { imageSize, readLayers } from './readLayers.js';

/** What textures must have in common to become layers of one, whatever their images. */
const SETTINGS = [
  'channel',
  'wrapS',
  'wrapT',
  'magFilter',
  'minFilter',
  'anisotropy',
  'colorSpace',
  'generateMipmaps',
  'rotation',
  'matrixAutoUpdate',
  'format',
  'type',
  'internalFormat',
] as const;
const VECTORS = ['offset', 'repeat', 'center', 'matrix'] as const;

const isCompressed = (texture: Texture): texture is CompressedTexture =>
  (texture as { isCompressedTexture?: boolean }).isCompressedTexture === true;

/** Whether a texture has an image by now. */
export const isLoaded = (texture: Texture): boolean => Math.min(...imageSize(texture)) > 0;

/**
 * A text without spaces that is the same for textures that can be layers of one. Images may differ in size, but not compressed ones,
 * whose blocks stay as they are. Null if a texture cannot be a layer: it is not loaded, changes by itself, or is of another kind.
 */
export function layerKey(texture: Texture): string | null {
  if (!isLoaded(texture)) return null;
  const { format, type, mipmaps, image, flipY, internalFormat } = texture;
  const vectors = VECTORS.flatMap((name) => texture[name].toArray());
  const settings = [...SETTINGS.map((name) => texture[name]), ...vectors];
  if (isCompressed(texture)) return [...settings, imageSize(texture), mipmaps.length].join();
  const kind = Object.prototype.toString.call(image);
  // Of bitmaps to be turned around, three.js turns those that one of its renderers draws and not those that the other does.
  const isImage = /Image|Canvas/.test(kind) && !(flipY && /Bitmap/.test(kind));
  if (!isImage && (texture as { isDataTexture?: boolean }).isDataTexture !== true) return null;
  const isPlain = format === RGBAFormat && type === UnsignedByteType && internalFormat === null;
  return isPlain && mipmaps.length === 0 ? settings.join() : null;
}

/**
 * One texture of which others, whose `layerKey` is the same, are the layers. Of a single texture that is not too large it is a copy with
 * the same image.
 *
 * @param maxSize Texels on a side of a layer at most. Compressed ones stay as large as they are.
 * @throws If an image cannot be read.
 */
export function packLayers(textures: readonly Texture[], maxSize: number): Texture {
  const [first] = textures;
  const fits = isCompressed(first) || Math.max(...imageSize(first)) <= maxSize;
  if (textures.length === 1 && fits) return first.clone();
  const array = isCompressed(first)
    ? compressedLayers(textures as CompressedTexture[])
    : plainLayers(textures, maxSize);
  const { source, mipmaps, flipY, isArrayTexture } = array;
  array.copy(first);
  // Plain textures have no wrapping from layer to layer that could be copied.
  const kept = { source, mipmaps, flipY, isArrayTexture, wrapR: ClampToEdgeWrapping };
  const own = { ...kept, premultiplyAlpha: false, needsUpdate: true };
  return Object.assign(array, own);
}

function plainLayers(textures: readonly Texture[], maxSize: number): Texture {
  const side = (i: 0 | 1) => Math.min(maxSize, Math.max(...textures.map((texture) => imageSize(texture)[i])));
  const [width, height] = [side(0), side(1)];
  return new DataArrayTexture(readLayers(textures, width, height), width, height, textures.length);
}

function compressedLayers(textures: readonly CompressedTexture[]): Texture {
  const [first] = textures;
  const levels = first.mipmaps.map(({ width, height }, level) => {
    const parts = textures.map(({ mipmaps }) => mipmaps[level].data as Uint8Array);
    const { byteLength } = parts[0];
    const data = new Uint8Array(byteLength * parts.length);
    parts.forEach((part, layer) => {
      data.set(new Uint8Array(part.buffer, part.byteOffset, byteLength), layer * byteLength);
    });
    return { data, width, height };
  });
  const [width, height] = imageSize(first);
  const { format, type } = first;
  return new CompressedArrayTexture(levels as never[], width, height, textures.length, format, type);
}
