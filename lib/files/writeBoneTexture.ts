import type { BufferGeometry } from 'three';
import { PropertyBinding } from 'three';
import type { BoneTexture } from '../animation/BoneTexture.js';
import type { BoneTextureData, Precision } from '../animation/BoneTextureData.js';
import { trackTexels } from '../animation/trackTexels.js';
import { toHalfTexels } from '../baking/frames.js';
import { shortenKeys } from '../baking/shortenKeys.js';
import { checkAreOptions, describe } from '../utils/messages.js';
import { runAll } from '../utils/steps.js';
import type { BakeOptionsJSON, Encoded, LevelsJSON, MergeMaterialsJSON } from './bakedJSON.js';
import { mergingOf } from './bakeOptions.js';
import type { MeshoptEncoderLike } from './compressedViews.js';
import { encodeBoneTexture } from './encodeBoneTexture.js';
import { fileError } from './fileErrors.js';
import { GltfWriter } from './GltfWriter.js';
import { encodeLevels, type WrittenLevel } from './levels.js';
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
 *
 * @category Save
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

/**
 * The data of a bone texture with numbers of another precision, as if it had been baked so.
 *
 * @throws If 32 bits are asked for of what has 16.
 */
function inPrecision(data: BoneTextureData, precision: Precision = data.precision): BoneTextureData {
  if (precision === data.precision) return data;
  if (precision === 'float') {
    throw fileError('the bone texture has numbers of 16 bits; bake it with precision "float" to write 32.');
  }
  if (data.tracks === null)
    return { ...data, precision, texels: runAll(toHalfTexels(data.texels as Float32Array)) };
  const tracks = runAll(shortenKeys(data.tracks));
  const { texels, height } = trackTexels(tracks);
  return { ...data, precision, texels, layout: { ...data.layout, height }, tracks };
}

/** What loaders add to names so that each is there once: `_1`, `_2`, …. */
const NUMBERS = /(_\d+)+$/;

/**
 * Refuses what could be written, but never be loaded.
 *
 * @param document The glTF document that holds the character's meshes, which knows the names of its parts.
 */
function checkWritten(
  { levels = [], precision, mergeMaterials, hiddenParts = [] }: WriteOptions,
  document: Record<string, unknown>,
): void {
  if (precision !== undefined && precision !== 'half' && precision !== 'float') {
    throw fileError(`precision is ${describe(precision)}; use "half" or "float".`);
  }
  if (mergeMaterials !== undefined && mergingOf(mergeMaterials) === null) {
    throw fileError(
      'mergeMaterials is to be true, false or { textures, maxSize }: whether textures are merged, and a size above 0.',
    );
  }
  levels.forEach((level, i) => {
    checkLevel(level, `levels[${i}]`, levels[0]);
  });
  checkParts(hiddenParts, document);
}

function checkLevel(level: WrittenLevel, field: string, first: WrittenLevel): void {
  const { distance, screenShare, hysteresis = 0, influences } = level;
  if ((distance === undefined) === (screenShare === undefined)) {
    throw fileError(
      `${field} begins at distance ${distance} and screenShare ${screenShare}; pass one of the two.`,
    );
  }
  if ((first.distance === undefined) !== (distance === undefined)) {
    throw fileError(
      `${field} begins by ${distance === undefined ? 'screenShare' : 'distance'}, and the first level by the other; use one for all.`,
    );
  }
  if (distance !== undefined && !(distance >= 0 && Number.isFinite(distance))) {
    throw fileError(`${field}.distance is ${describe(distance)}; use world units, 0 or more.`);
  }
  if (screenShare !== undefined && !(screenShare > 0 && Number.isFinite(screenShare))) {
    throw fileError(
      `${field}.screenShare is ${describe(screenShare)}; use a share of the picture's height above 0.`,
    );
  }
  if (!(hysteresis >= 0 && hysteresis <= 1)) {
    throw fileError(`${field}.hysteresis is ${describe(hysteresis)}; use a share of the distance, 0 to 1.`);
  }
  if (![undefined, 1, 2, 4].includes(influences)) {
    throw fileError(`${field}.influences is ${describe(influences)}; use 1, 2 or 4.`);
  }
}

/** Parts have the names of nodes and meshes as three.js's loader makes them. */
function checkParts(parts: readonly string[], { nodes, meshes }: Record<string, unknown>): void {
  if (!Array.isArray(nodes) || nodes.length === 0) return;
  const all = [...nodes, ...(Array.isArray(meshes) ? meshes : [])] as { name?: unknown }[];
  const names = all.flatMap(({ name }) =>
    typeof name === 'string' && name !== '' ? [PropertyBinding.sanitizeNodeName(name)] : [],
  );
  // What a mesh without a name is called.
  const known = new Set(['mesh', ...names].map((name) => name.replace(NUMBERS, '')));
  for (const part of parts) {
    if (typeof part === 'string' && known.has(part.replace(NUMBERS, ''))) continue;
    throw fileError(
      `hiddenParts: the file has no node or mesh ${describe(part)}; it has ${[...new Set(names)].join(', ')}.`,
    );
  }
}
