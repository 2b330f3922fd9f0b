import {
  ClampToEdgeWrapping,
  CompressedArrayTexture,
  type CompressedTexture,
  DataArrayTexture,
  DataTexture,
  FloatType,
  type Material,
  RGBAFormat,
  TangentSpaceNormalMap,
  type Texture,
  UnsignedByteType,
} from 'three';
import type { OwnedBytes } from '../utils/attributes.js';
import { warnOnce } from '../utils/messages.js';
import {
  MERGED_MAPS,
  type MergedMap,
  noteMerged,
  TABLE_EMISSIVE,
  TABLE_METALNESS,
  TABLE_ROUGHNESS,
  TABLE_TEXELS,
} from '../utils/surfaceMaps.js';
import {
  type Constants,
  emissionOf,
  fieldsOf,
  keyWithout,
  type MaterialShare,
  SURFACE,
  shareOf,
  standInFor,
  textOf,
} from './materialFields.js';

/** Constants that belong to a texture, and mean nothing without it. */
const OF_MAP: Partial<Record<MergedMap, readonly string[]>> = {
  normalMap: ['normalScale', 'normalMapType'],
  aoMap: ['aoMapIntensity'],
};

/** Textures that lie in one with those of another name, since files have one image for both. */
const LIES_IN: Partial<Record<MergedMap, MergedMap>> = {
  metalnessMap: 'roughnessMap',
  aoMap: 'roughnessMap',
};

/** Materials that can be drawn as one. */
interface TexturedFamily {
  members: Constants[];
  /** What all of them have in common. */
  key: string;
  /** For each of `MERGED_MAPS` what members that have the texture have in common; undefined while there is none. */
  maps: (string | undefined)[];
}

const mapOf = (material: Constants, name: MergedMap) =>
  fieldsOf(material)[name] as Texture | null | undefined;

/** Families of materials that differ in constants, and in textures that can be layers of one. */
export function texturedFamilies(materials: readonly Constants[]): TexturedFamily[] {
  const families: TexturedFamily[] = [];
  for (const material of materials) {
    const maps = MERGED_MAPS.map((name) => mapKey(material, name));
    const key = commonKey(material, maps);
    const family = families.find((other) => {
      return other.key === key && maps.every((map, i) => (map ?? other.maps[i]) === (other.maps[i] ?? map));
    });
    if (family === undefined) families.push({ members: [material], key, maps });
    else {
      family.members.push(material);
      family.maps = family.maps.map((map, i) => map ?? maps[i]);
    }
  }
  if (families.length > 1) for (const material of materials) warnUnloaded(material);
  return families;
}

/** Says what may be why materials stay apart. */
function warnUnloaded(material: Constants): void {
  const name = MERGED_MAPS.find((one) => {
    const map = mapOf(material, one);
    return map && !isLoaded(map);
  });
  if (name === undefined) return;
  warnOnce(
    `mergeMaterials: the ${name} of material "${material.name || material.type}" is not loaded yet, so it stays apart; await its image first.`,
  );
}

/** What a texture of a material must have in common with others; undefined if there is none, or if it is left as it is. */
function mapKey(material: Constants, name: MergedMap): string | undefined {
  const fields = fieldsOf(material);
  const map = mapOf(material, name);
  if (!map) return undefined;
  // Without it, a bump map would count, and in the object's space no texel says "as the vertices".
  const isNormal = name === 'normalMap';
  if (isNormal && (fields.bumpMap || fields.normalMapType !== TangentSpaceNormalMap)) return undefined;
  const key = layerKey(map);
  if (key === null) return undefined;
  return [key, ...(OF_MAP[name] ?? []).map((constant) => textOf(fields[constant]))].join(' ');
}

function commonKey(material: Constants, maps: readonly (string | undefined)[]): string {
  const merged = [...SURFACE];
  MERGED_MAPS.forEach((name, i) => {
    if (!mapOf(material, name) || maps[i] !== undefined) merged.push(name, ...(OF_MAP[name] ?? []));
  });
  return keyWithout(material, merged);
}

/**
 * Makes one material of those of a family. Textures become layers of arrays; which of them a material has, and its constants, stand in
 * a table that shaders look up by the number of the material, which vertices have. Without any texture they stay apart.
 *
 * @throws If an image cannot be read.
 */
export function mergeTextured(
  { members, maps }: TexturedFamily,
  maxSize: number,
  { shares, owned }: { shares: Map<Material, MaterialShare>; owned: (Material | Texture)[] },
): void {
  if (maps.every((map) => map === undefined)) return;
  const pools = new Map<string, Texture[]>();
  const poolOf = MERGED_MAPS.map((name, i) => {
    const settings = maps[i]?.split(' ')[0];
    if (settings === undefined) return null;
    const key = `${LIES_IN[name] ?? name} ${settings}`;
    const pool = pools.get(key) ?? [];
    pools.set(key, pool);
    return pool;
  });
  const numbers = new Float32Array(members.length * TABLE_TEXELS * 4);
  members.forEach((member, row) => {
    const at = row * TABLE_TEXELS * 4;
    MERGED_MAPS.forEach((name, i) => {
      const map = mapOf(member, name);
      const pool = poolOf[i];
      // What all have in common stays as it is, and what none has may be set later.
      if (pool === null) return;
      if (map && !pool.includes(map)) pool.push(map);
      numbers[at + i] = map ? pool.indexOf(map) : -1;
    });
    numbers[at + TABLE_ROUGHNESS] = member.roughness ?? 1;
    numbers[at + TABLE_METALNESS] = member.metalness ?? 0;
    numbers.set(emissionOf(member), at + TABLE_EMISSIVE);
  });

  const packed = new Map([...pools.values()].map((pool) => [pool, packLayers(pool, maxSize)]));
  const width = members.length * TABLE_TEXELS;
  const table = new DataTexture(numbers, width, 1, RGBAFormat, FloatType);
  table.needsUpdate = true;
  const material = standInFor(members);
  const fields = fieldsOf(material);
  owned.push(material, table, ...packed.values());
  for (const texture of packed.values()) noteMerged(texture, table);
  MERGED_MAPS.forEach((name, i) => {
    const pool = poolOf[i];
    if (pool === null) return;
    fields[name] = packed.get(pool);
    // Constants that belong to it, of one that has it.
    const owner = fieldsOf(members.find((member) => mapKey(member, name) !== undefined) as Constants);
    for (const constant of OF_MAP[name] ?? []) fields[constant] = owner[constant];
  });
  members.forEach((member, number) => shares.set(member, shareOf(member, material, null, number)));
}

/** What textures must have in common to become layers of one, whatever their images. */
const SETTINGS =
  'channel wrapS wrapT magFilter minFilter anisotropy colorSpace generateMipmaps rotation matrixAutoUpdate format type internalFormat';
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
  const settings = [...SETTINGS.split(' ').map((name) => texture[name as 'type']), ...vectors];
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
  // Plain textures have no wrapping from layer to layer that could be copied.
  const kept = { source, mipmaps, flipY, isArrayTexture, wrapR: ClampToEdgeWrapping };
  return Object.assign(array.copy(first), kept, { premultiplyAlpha: false, needsUpdate: true });
}

function plainLayers(textures: readonly Texture[], maxSize: number): Texture {
  const [width, height] = [0, 1].map((i) =>
    Math.min(maxSize, Math.max(...textures.map((texture) => imageSize(texture)[i]))),
  );
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

/** An image as three.js takes it: an element, a bitmap, or plain data. */
type TextureImage = Partial<HTMLImageElement & { data: ArrayBufferView | null }>;

/** Width and height of a texture's image; zero while it is not loaded. */
function imageSize({ image }: Texture): [width: number, height: number] {
  const { width, height, naturalWidth, naturalHeight, complete, data }: TextureImage = image ?? {};
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
function readLayers(textures: readonly Texture[], width: number, height: number): OwnedBytes {
  const size = width * height * 4;
  const texels = new Uint8Array(size * textures.length);
  let gl: WebGL2RenderingContext | undefined;
  try {
    textures.forEach((texture, layer) => {
      const { data } = texture.image as TextureImage;
      const target = texels.subarray(layer * size, (layer + 1) * size);
      const isAsItIs = !texture.flipY && !texture.premultiplyAlpha;
      const isWhole = `${imageSize(texture)}` === `${[width, height]}`;
      if (isAsItIs && isWhole && data instanceof Uint8Array) {
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

/** A context with a texture to put images into, and a buffer of the size of a layer to be drawn into. */
function createContext(width: number, height: number): WebGL2RenderingContext {
  const offscreen = globalThis.OffscreenCanvas && new OffscreenCanvas(1, 1);
  // WebKit on Linux has no WebGL in those.
  const gl = (offscreen?.getContext('webgl2') ??
    globalThis.document?.createElement('canvas').getContext('webgl2')) as WebGL2RenderingContext | null;
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
  const [from, to] = [w, h].map((size) => size >> level || 1);
  gl.blitFramebuffer(0, 0, from, to, 0, 0, width, height, gl.COLOR_BUFFER_BIT, gl.LINEAR);
  gl.bindFramebuffer(READ_FRAMEBUFFER, layer);
  gl.readPixels(0, 0, width, height, RGBA, UNSIGNED_BYTE, target);
  if (gl.getError() !== gl.NO_ERROR) throw new Error(`WebGL cannot hold an image of ${w} × ${h}`);
}
