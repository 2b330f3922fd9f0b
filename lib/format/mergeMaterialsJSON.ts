import type { MergeMaterialsJSON } from './bakedJSON.js';

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
