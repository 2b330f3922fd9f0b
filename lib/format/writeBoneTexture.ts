import type { BufferGeometry } from 'three';
import type { Precision } from '../encodings/BoneTextureData.js';
import type { BoneTexture } from '../texture/BoneTexture.js';
import { checkAreOptions } from '../utils/checkOptions.js';
import type { BakeOptionsJSON, Encoded, LevelsJSON, MergeMaterialsJSON } from './bakedJSON.js';
import { checkWritten } from './checkWritten.js';
import type { MeshoptEncoderLike } from './compressedViews.js';
import { encodeBoneTexture } from './encodeBoneTexture.js';
import { fileError } from './fileErrors.js';
import { GltfWriter } from './GltfWriter.js';
import { inPrecision } from './inPrecision.js';
import { encodeLevels, type WrittenLevel } from './levels.js';
import { mergingOf } from './mergeMaterialsJSON.js';
import { describeVertices, encodedVertices } from './storedVertices.js';

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
  /** How it was baked; loading takes `joints` and `morphTargets` from there. */
  bakeOptions?: BakeOptionsJSON;
  /** Names of parts that no instance shows to begin with. */
  hiddenParts?: readonly string[];
  /** Whether and how loading shall merge materials. @default false */
  mergeMaterials?: MergeMaterialsJSON;
  /** Levels of detail, from near to far, which `addLevelsOf` adds. */
  levels?: readonly WrittenLevel[];
  /** The geometry of the crowd that the levels were made of. */
  geometry?: BufferGeometry;
  /**
   * `'half'` stores a bone texture of 32-bit numbers in 16 bits, as baking with that precision does; vertex textures stay as they are. @default that of the bone
   * texture
   */
  precision?: Precision;
}

/**
 * Writes a bone texture, or a vertex texture, as a .glb, or adds it to the .glb of its character, as the extension `SIM_baked_animation`. Every number comes
 * back as it is.
 *
 * @returns The bytes of the file.
 * @throws If `into` is no .glb, or has no such scene, node or part, or levels are not of the geometry or begin nowhere, or 32 bits are asked
 * for of what has 16.
 */
export function writeBoneTexture(boneTexture: BoneTexture, options: WriteOptions = {}): Uint8Array {
  checkAreOptions(options, 'writeBoneTexture');
  const { into, meshoptEncoder, name, scene, node, bakeOptions, hiddenParts, mergeMaterials, precision } =
    options;
  if (boneTexture?.isBoneTexture !== true) {
    throw fileError('writeBoneTexture takes a BoneTexture; bake one, or take that of a crowd.');
  }
  const writer = new GltfWriter(into, meshoptEncoder);
  checkWritten(options, writer.document);
  const place = into === undefined ? {} : writer.placeOf({ scene, node });
  if (into !== undefined) writer.removeCharacter(place);
  const vertices = encodedVertices(boneTexture);
  writer.addCharacter({
    ...(name !== undefined && { name }),
    ...place,
    ...(vertices === null
      ? { boneTexture: writer.store(encodeBoneTexture(inPrecision(boneTexture.data, precision))) }
      : { vertexTexture: writer.store(describeVertices(vertices)) }),
    ...(bakeOptions && { bakeOptions }),
    ...(hiddenParts && { hiddenParts: [...hiddenParts] }),
    ...(mergeMaterials && { mergeMaterials: mergingOf(mergeMaterials) ?? false }),
    ...(options.levels && { levels: writer.store(levelsOf(options.levels, options.geometry)) }),
  });
  return writer.build();
}

function levelsOf(
  levels: readonly WrittenLevel[],
  geometry: BufferGeometry | undefined,
): Encoded<LevelsJSON> {
  if (geometry?.getAttribute('position') !== undefined) return encodeLevels(levels, geometry);
  throw fileError('writeBoneTexture with levels needs geometry: crowd.geometry, which they were made of.');
}
