import type { BakeOptionsJSON, MergeMaterialsJSON } from './bakedJSON.js';
import { expectField, objectOf, stringsOf } from './fileErrors.js';

/** Options that are numbers, strings, true or false, and what they are. */
const KINDS: Record<string, string> = {
  fps: 'number',
  encoding: 'string',
  precision: 'string',
  maxError: 'number',
  maxTextureSize: 'number',
  joints: 'string',
  morphTargets: 'boolean',
};

/** The bake options of a character in a file; those that are not known are left out. @throws If one is of another type. */
export function bakeOptionsOf(json: unknown, field: string): BakeOptionsJSON {
  if (json === undefined) return {};
  const options = objectOf(json, field);
  const known: Record<string, unknown> = {};
  for (const [key, kind] of Object.entries(KINDS)) {
    const value = options[key];
    if (value === undefined) continue;
    const actual: string = typeof value;
    expectField(actual === kind, `${field}.${key}`, value, `a ${kind}`);
    known[key] = value;
  }
  if (options.sockets !== undefined) known.sockets = stringsOf(options.sockets, `${field}.sockets`);
  return known;
}

/** Whether and how materials are merged, as a file keeps it; null if the value says no such thing. */
export function mergingOf(value: unknown): MergeMaterialsJSON | null {
  if (typeof value === 'boolean') return value;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  const { textures, maxSize } = value as Record<string, unknown>;
  if (textures !== undefined && typeof textures !== 'boolean') return null;
  const isSize = typeof maxSize === 'number' && maxSize > 0 && Number.isFinite(maxSize);
  if (maxSize !== undefined && !isSize) return null;
  return { ...(textures !== undefined && { textures }), ...(isSize && { maxSize }) };
}
