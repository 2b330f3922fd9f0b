import type { BufferGeometry } from 'three';
import type { CrowdLevels } from '../features/levels/CrowdLevels.js';
import { isSameOrder, pickCorners, positionSums } from '../utils/geometries.js';
import { fileError } from './fileErrors.js';
import { type ReadLevel, readLevels } from './levels.js';
import type { LoadedCharacter } from './SkinnedInstancedMeshExtension.js';

/** Group of a vertex that no triangle has, or triangles of several groups have. */
const NO_GROUP = -1;
const SEVERAL = -2;

/**
 * Adds a file's levels of detail to those of a crowd of its character; does nothing if the file has none:
 * `addLevelsOf(character, new CrowdLevels(crowd))`.
 *
 * @throws If they were made of other meshes, or are not as they have to be.
 *
 * @category Save
 */
export function addLevelsOf({ levels: stored }: Pick<LoadedCharacter, 'levels'>, target: CrowdLevels): void {
  if (stored === null) return;
  const levels = readLevels(stored);
  if (levels.list.length === 0) return;
  const { geometry } = target.crowd;
  const { count } = geometry.getAttribute('position');
  if (count !== levels.vertices) {
    throw fileError(
      `the file's levels of detail were made for ${levels.vertices} vertices, and the crowd has ${count}; bake the file anew.`,
    );
  }
  if (levels.positions !== null && !isSameOrder(levels.positions, positionSums(geometry))) {
    throw fileError(
      `the file's levels of detail were made for vertices at other places or in another order, which a tool has changed since; bake the file anew.`,
    );
  }
  const groups = geometry.groups.length > 0 ? groupsOfVertices(geometry) : null;
  for (const level of levels.list) {
    const { start, options } = level;
    if (level.indices === null) {
      target.add(null, start, options);
      continue;
    }
    const made = geometryOf(geometry, level, level.indices, groups);
    target.add(made, start, options);
    made.dispose();
  }
}

/** The geometry of a level: those of the crowd's vertices that its triangles have, in the crowd's groups. */
function geometryOf(
  source: BufferGeometry,
  { groups: stored }: ReadLevel,
  corners: Uint32Array,
  groupOf: Int32Array | null,
): BufferGeometry {
  // For each of the crowd's groups the corners that are in it; one list if it has none.
  const lists: number[][] = groupOf === null ? [[]] : source.groups.map(() => []);
  for (let i = 0; i < corners.length; i += 3) {
    let group = 0;
    if (groupOf !== null) {
      group = groupOfTriangle(corners, i, groupOf);
      // Vertices that groups share say nothing; then materials were not merged, and what was stored holds.
      if (group === SEVERAL) {
        const was = stored.find(({ start, count }) => i >= start && i < start + count);
        group = source.groups.findIndex(({ materialIndex }) => materialIndex === was?.materialIndex);
      }
      if (group < 0) {
        throw fileError(
          `a triangle of the file's levels of detail has vertices ${corners.subarray(i, i + 3).join(', ')}, ` +
            'which are in no one group of the crowd; its meshes are not those that it was baked of: bake the file anew.',
        );
      }
    }
    lists[group].push(...corners.subarray(i, i + 3));
  }
  const { geometry } = pickCorners(source, lists.flat());
  if (groupOf === null) return geometry;
  let start = 0;
  lists.forEach(({ length }, i) => {
    if (length > 0) geometry.addGroup(start, length, source.groups[i].materialIndex);
    start += length;
  });
  return geometry;
}

/** The one group that a triangle's corners are in; `SEVERAL` if all are in several, `NO_GROUP` if there is none. */
function groupOfTriangle(corners: Uint32Array, first: number, groupOf: Int32Array): number {
  let group = SEVERAL;
  for (let k = first; k < first + 3; k++) {
    const own = groupOf[corners[k]];
    if (own === NO_GROUP || (own >= 0 && group >= 0 && own !== group)) return NO_GROUP;
    if (own >= 0) group = own;
  }
  return group;
}

/**
 * For each vertex of a crowd's geometry the group that it is drawn in. How many groups there are goes by which materials are merged
 * when the file is loaded; each part is in one of them.
 */
function groupsOfVertices({ groups, index, attributes }: BufferGeometry): Int32Array {
  const { position, partIndex } = attributes;
  const groupOf = new Int32Array(position.count).fill(NO_GROUP);
  const groupOfPart = new Map<number, number>();
  const partOf = (vertex: number) => partIndex?.getX(vertex) ?? 0;
  const total = index?.count ?? position.count;
  groups.forEach(({ start, count }, group) => {
    for (let i = start; i < Math.min(start + count, total); i++) {
      const vertex = index?.getX(i) ?? i;
      const part = partOf(vertex);
      const [own, ofPart] = [groupOf[vertex], groupOfPart.get(part) ?? NO_GROUP];
      groupOf[vertex] = own === NO_GROUP || own === group ? group : SEVERAL;
      groupOfPart.set(part, ofPart === NO_GROUP || ofPart === group ? group : SEVERAL);
    }
  });
  // The simplifier takes the first of vertices that are alike, which may be one that no triangle has.
  for (let vertex = 0; vertex < groupOf.length; vertex++) {
    if (groupOf[vertex] === NO_GROUP) groupOf[vertex] = groupOfPart.get(partOf(vertex)) ?? NO_GROUP;
  }
  return groupOf;
}
