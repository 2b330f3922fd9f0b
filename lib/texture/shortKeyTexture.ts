import { DataTexture, RGBAIntegerFormat, UnsignedIntType } from 'three';
import type { BoneTextureData } from '../encodings/BoneTextureData.js';
import { SHORT_ROW, SHORTS_PER_ROW } from '../tracks/trackTexels.js';

/**
 * The texture with the 16-bit keys of tracks, eight to a texel; null for other data. Its texels are 32-bit integers, the only
 * ones that three.js reads in both renderers.
 */
export function shortKeyTexture({ tracks }: BoneTextureData): DataTexture | null {
  const shorts = tracks?.shorts;
  if (!shorts) return null;
  // Numbers of 32 bits must lie at a multiple of four bytes, which those of 16 bits from a file need not.
  const { buffer, byteOffset } = shorts.byteOffset % 4 === 0 ? shorts : shorts.slice();
  const texels = new Uint32Array(buffer as ArrayBuffer, byteOffset, shorts.length / 2);
  const height = shorts.length / SHORTS_PER_ROW;
  const texture = new DataTexture(texels, SHORT_ROW, height, RGBAIntegerFormat, UnsignedIntType);
  texture.name = 'BoneTextureKeys';
  texture.needsUpdate = true;
  return texture;
}
