import { PropertyBinding } from 'three';
import { describe } from '../utils/describe.js';
import { fileError } from './fileErrors.js';
import type { WrittenLevel } from './levels.js';
import { mergingOf } from './mergeMaterialsJSON.js';

/** Options of `writeBoneTexture` that are looked at. */
interface Written {
  levels?: readonly WrittenLevel[];
  precision?: unknown;
  mergeMaterials?: unknown;
  hiddenParts?: readonly string[];
}

/** What loaders add to names so that each is there once: `_1`, `_2`, …. */
const NUMBERS = /(_\d+)+$/;

/**
 * Refuses what could be written, but never be loaded.
 *
 * @param document The glTF document that holds the character's meshes, which knows the names of its parts.
 */
export function checkWritten(
  { levels = [], precision, mergeMaterials, hiddenParts = [] }: Written,
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
