import { BufferAttribute, BufferGeometry, type Material } from 'three';
import type { Character } from '../character/assembleCharacter.js';
import type { MaterialShare } from '../character/materialFields.js';
import type { MaterialMerger, Piece } from '../character/mergeParts.js';

/** Of which nobody warns that its colours are gone: who baked it was told. */
const UNPAINTED = /*@__PURE__*/ new BufferGeometry();

/**
 * Merges materials of a character from a file, whose vertices have one material each, and makes one group of those that are drawn alike;
 * of transparent ones where they are neighbours, since their order is seen.
 *
 * @returns For each group the one that it has become part of.
 */
export function mergeLoaded(character: Character, { paint }: MaterialMerger): number[] {
  const { geometry, material, made, parts } = character;
  const { groups, userData } = geometry;
  const { array } = geometry.index as BufferAttribute;
  const cornersOf = (group: number) =>
    array.subarray(groups[group].start, groups[group].start + groups[group].count);
  const lacks: number[] = userData.lacks ?? groups.map(() => 0);
  const drawn = [material].flat();
  const shares = new Map<Material, MaterialShare>();
  for (const lack of new Set(lacks)) {
    const alike = groups.flatMap((_, i) => (lacks[i] === lack ? i : []));
    // Of a vertex each.
    const pieces = alike.flatMap((i) =>
      [...new Set(cornersOf(i))].map((first) => ({
        runs: [{ material: drawn[i] }],
        first,
        count: 1,
        geometry: UNPAINTED,
      })),
    );
    const painted = paint(geometry, pieces as unknown as Piece[], undefined);
    made.push(...painted.owned);
    for (const i of alike) {
      const share = painted.shares.get(drawn[i]);
      if (share === undefined) continue;
      shares.set(drawn[i], share);
      drawn[i] = share.material;
    }
  }
  const first: number[] = [];
  const merged = groups.map((_, i) => {
    const isAlike = (other: number) => drawn[other] === drawn[i] && lacks[other] === lacks[i];
    const at = drawn[i].transparent ? first.length - 1 : first.findIndex(isAlike);
    return at >= 0 && isAlike(first[at]) ? at : first.push(i) - 1;
  });
  const corners = array.slice() as Uint32Array;
  let start = 0;
  geometry.clearGroups();
  first.forEach((_, group) => {
    const from = start;
    for (const [i, into] of merged.entries()) {
      if (into !== group) continue;
      corners.set(cornersOf(i), start);
      start += groups[i].count;
    }
    if (first.length > 1) geometry.addGroup(from, start - from, group);
  });
  geometry.setIndex(new BufferAttribute(corners, 1));
  if (userData.lacks) userData.lacks = first.map((i) => lacks[i]);
  const materials = first.map((i) => drawn[i]);
  character.material = materials.length === 1 ? materials[0] : materials;
  character.parts = parts.map((part) => ({
    ...part,
    materials: part.materials.map((one) => shares.get(one as Material) ?? one),
  }));
  return merged;
}
