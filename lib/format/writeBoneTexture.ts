import type { BoneTexture } from '../texture/BoneTexture.js';
import type { BakeOptionsJSON } from './bakedJSON.js';
import type { MeshoptEncoderLike } from './compressedViews.js';
import { encodeBoneTexture } from './encodeBoneTexture.js';
import { fileError } from './fileErrors.js';
import { GltfWriter } from './GltfWriter.js';

/** How a bone texture is written. */
export interface WriteOptions {
  /**
   * The .glb that the character is in, to which the bone texture is added. What the file has stays as it is, and every viewer opens it as
   * before. By default the bone texture has a file of its own, without meshes.
   */
  into?: ArrayBuffer | Uint8Array;
  /** `MeshoptEncoder` of the package meshoptimizer, after its `ready`; with it the file gets smaller. It is exact. */
  meshoptEncoder?: MeshoptEncoderLike;
  /** What the character is called. */
  name?: string;
  /** Index of the glTF scene with the character. @default the file's own */
  scene?: number;
  /** Or of the node, if it is not a whole scene. */
  node?: number;
  /** How it was baked; `from` takes `morphTargets` from there. */
  bakeOptions?: BakeOptionsJSON;
  /** Names of parts that no instance shows to begin with. */
  hiddenParts?: readonly string[];
}

/**
 * Writes a bone texture as a .glb, or adds it to the .glb of its character, as the extension `SIM_baked_animation`. Every number comes
 * back as it is.
 *
 * @returns The bytes of the file.
 * @throws If `into` is no .glb.
 */
export function writeBoneTexture(boneTexture: BoneTexture, options: WriteOptions = {}): Uint8Array {
  const { into, meshoptEncoder, name, scene, node, bakeOptions, hiddenParts } = options;
  if (boneTexture?.isBoneTexture !== true) {
    throw fileError('writeBoneTexture takes a BoneTexture; bake one, or take that of a crowd.');
  }
  const writer = new GltfWriter(into, meshoptEncoder);
  const place = node !== undefined ? { node } : { scene: scene ?? writer.defaultScene };
  writer.addCharacter({
    ...(name !== undefined && { name }),
    ...(into !== undefined && place),
    boneTexture: writer.store(encodeBoneTexture(boneTexture.data)),
    ...(bakeOptions && { bakeOptions }),
    ...(hiddenParts && { hiddenParts: [...hiddenParts] }),
  });
  return writer.build();
}
