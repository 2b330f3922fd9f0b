import type { EncodingName, Precision } from '../encodings/BoneTextureData.js';
import type { BoneTexture } from '../texture/BoneTexture.js';

/** What reports say of a bone texture, or of a vertex texture. */
export interface TextureDescription {
  /** `'vertices'` for vertex textures. */
  encoding: EncodingName | 'vertices';
  precision: Precision;
  /** Names; of vertex textures none. */
  joints: string[];
  morphTargets: string[];
  /** On the GPU. */
  textureBytes: number;
}

/** Says what a texture is. */
export function describeTexture(boneTexture: BoneTexture): TextureDescription {
  const { encoding, precision, jointNames, morphNames, byteLength, binding } = boneTexture;
  return {
    encoding: binding === null ? encoding : 'vertices',
    precision,
    joints: binding === null ? [...jointNames] : [],
    morphTargets: [...morphNames],
    textureBytes: byteLength,
  };
}

/** `50 joints, tracks, half`, and for vertex textures `vertices, half`. */
export function describeJoints({
  joints,
  encoding,
  precision,
}: Pick<TextureDescription, 'encoding' | 'precision' | 'joints'>): string {
  return [...(joints.length === 0 ? [] : [`${joints.length} joints`]), encoding, precision].join(', ');
}
