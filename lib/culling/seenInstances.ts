import type { Frustum } from 'three';
import { GROUP_SIZE, type InstanceGroups } from './InstanceGroups.js';

/** Planes of a frustum, four numbers each. */
const PLANES = 6;

const _planes = /*@__PURE__*/ new Float64Array(PLANES * 4);

/**
 * Marks the instances whose spheres a frustum meets. Groups that are wholly inside or outside are not looked into.
 *
 * @param frustum In the crowd's space.
 * @param bits Bit `id & 31` of word `id >> 5` is set for each; none is cleared.
 * @returns Whether all of them were.
 */
export function markSeen(
  groups: InstanceGroups,
  count: number,
  { planes }: Frustum,
  bits: Int32Array,
): boolean {
  const { spheres, order, groupSpheres, groupCount } = groups;
  planes.forEach(copyPlane);
  let all = true;
  for (let group = 0; group < groupCount; group++) {
    const outside = sideOf(groupSpheres, group);
    if (outside === OUTSIDE) {
      all = false;
      continue;
    }
    const start = group * GROUP_SIZE;
    const end = Math.min(start + GROUP_SIZE, count);
    for (let i = start; i < end; i++) {
      const id = order[i];
      if (outside === INSIDE || sideOf(spheres, id) !== OUTSIDE) bits[id >> 5] |= 1 << (id & 31);
      else all = false;
    }
  }
  return all;
}

/**
 * Lists instances that are marked, in ascending order.
 *
 * @param drawn Further bits: only instances that have both are listed.
 * @param ids Has room for all.
 * @returns How many there are.
 */
export function listSeen(bits: Int32Array, drawn: Uint32Array, ids: Uint32Array): number {
  let count = 0;
  const words = Math.min(bits.length, drawn.length);
  for (let word = 0; word < words; word++) {
    let rest = bits[word] & drawn[word];
    while (rest !== 0) {
      const bit = 31 - Math.clz32(rest & -rest);
      ids[count++] = word * 32 + bit;
      rest &= rest - 1;
    }
  }
  return count;
}

const OUTSIDE = 0;
const MEETS = 1;
const INSIDE = 2;

function copyPlane({ normal, constant }: Frustum['planes'][number], index: number): void {
  normal.toArray(_planes, index * 4);
  _planes[index * 4 + 3] = constant;
}

/** Where a sphere is. One whose numbers are none meets everything. */
function sideOf(spheres: Float32Array, index: number): number {
  const at = index * 4;
  const x = spheres[at];
  const y = spheres[at + 1];
  const z = spheres[at + 2];
  const radius = spheres[at + 3];
  let side = INSIDE;
  for (let p = 0; p < PLANES * 4; p += 4) {
    const distance = _planes[p] * x + _planes[p + 1] * y + _planes[p + 2] * z + _planes[p + 3];
    if (distance < -radius) return OUTSIDE;
    if (!(distance >= radius)) side = MEETS;
  }
  return side;
}
