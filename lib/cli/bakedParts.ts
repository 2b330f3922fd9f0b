import type { GLTF } from '@gltf-transform/core';
import { EXTENSION, type ExtensionJSON, type ViewJSON } from '../format/bakedJSON.js';

/** The extension's JSON in that of a file; null where it has none. */
export function extensionOf(json: GLTF.IGLTF): ExtensionJSON | null {
  return (json.extensions?.[EXTENSION] as ExtensionJSON | undefined) ?? null;
}

/** Buffer views of levels of detail, and of all else that was baked. */
export function bakedViewsOf(json: GLTF.IGLTF): { levels: Set<number>; baked: Set<number> } {
  const views = { levels: new Set<number>(), baked: new Set<number>() };
  for (const character of extensionOf(json)?.characters ?? []) {
    for (const [field, value] of Object.entries(character)) {
      const stored = (value as { views?: ViewJSON[] } | null)?.views ?? [];
      for (const { bufferView } of stored) views[field === 'levels' ? 'levels' : 'baked'].add(bufferView);
    }
  }
  return views;
}
