import type { BufferGeometry } from 'three';
import type { CharacterPart } from './assembleCharacter.js';

/** For each part of a crowd geometry the names it goes by: its mesh's, then those of the nodes above; or its number. */
export function partPaths(
  geometry: BufferGeometry,
  parts: readonly CharacterPart[],
): readonly (readonly string[])[] {
  const numbers = geometry.getAttribute('partIndex');
  let length = Math.max(1, parts.length);
  for (let vertex = 0; vertex < numbers.count; vertex++) length = Math.max(length, numbers.getX(vertex) + 1);
  return Array.from({ length }, (_, part) => parts[part]?.names ?? [String(part)]);
}
