import type { CrowdLevels } from '../features/levels/CrowdLevels.js';
import { pickCorners } from '../utils/geometries.js';
import { fileError, type StoredLevel } from './StoredCharacter.js';

/** A character with its levels of detail. */
export interface LeveledCharacter {
  /** From near to far, which `addLevelsOf` adds to a crowd's; empty if there are none. */
  levels: readonly StoredLevel[];
  /** For each group of the file the one that merging materials has made it part of, if they were merged. */
  merged?: readonly number[];
}

/**
 * Adds the levels of detail of a character from a file to those of a crowd; does nothing if the file has none:
 * `addLevelsOf(character, new CrowdLevels(crowd))`.
 *
 * @throws If the crowd is one of another geometry.
 *
 * @category Save
 */
export function addLevelsOf({ levels, merged }: LeveledCharacter, target: CrowdLevels): void {
  const { geometry } = target.crowd;
  const { count } = geometry.getAttribute('position');
  for (const { start, options, indices, groups } of levels) {
    // Many runs of all corners would take any amount of memory.
    const length = groups.reduce((sum, run) => sum + run.count, 0);
    if (length > (indices?.length ?? 0) || indices?.some((vertex) => vertex >= count)) {
      throw fileError(
        `the file's levels of detail are not for this crowd, whose geometry has ${count} vertices; add them to one of the file's character.`,
      );
    }
    const corners = cornersOf(indices ?? new Uint32Array(0), groups, merged);
    const level = indices === null ? null : pickCorners(geometry, corners.flat()).geometry;
    let at = 0;
    corners.forEach(({ length }, group) => {
      if (length > 0 && groups.length > 0) level?.addGroup(at, length, group);
      at += length;
    });
    target.add(level, start, options);
    level?.dispose();
  }
}

/** Corners of a level for each group of the crowd; one list if it has none. */
function cornersOf(
  indices: Uint32Array,
  groups: StoredLevel['groups'],
  merged: LeveledCharacter['merged'],
): number[][] {
  if (groups.length === 0) return [[...indices]];
  const lists: number[][] = [];
  for (const { start, count, materialIndex = 0 } of groups) {
    const group = merged?.[materialIndex] ?? materialIndex;
    lists[group] = [...(lists[group] ?? []), ...indices.subarray(start, start + count)];
  }
  return Array.from(lists, (list) => list ?? []);
}
