import type { Frustum } from 'three';
import { GROUP_SIZE, type InstanceGroups } from './InstanceGroups.js';

/** Planes of a frustum, four numbers each. */
const PLANES = 6;
const ALL_PLANES = (1 << PLANES) - 1;

const _planes = /*@__PURE__*/ new Float64Array(PLANES * 4);

/**
 * Marks the instances whose spheres a frustum meets. Groups that are wholly inside or outside are not looked into.
 *
 * @param frustum In the crowd's space.
 * @param bits Bit `id & 31` of word `id >> 5` is set for each; none is cleared.
 */
export function markSeen(groups: InstanceGroups, count: number, { planes }: Frustum, bits: Int32Array): void {
  const { spheres, order, groupSpheres, groupCount } = groups;
  planes.forEach(copyPlane);
  for (let group = 0; group < groupCount; group++) {
    const planesOfGroup = crossed(groupSpheres, group, ALL_PLANES);
    if (planesOfGroup < 0) continue;
    const start = group * GROUP_SIZE;
    const end = Math.min(start + GROUP_SIZE, count);
    for (let i = start; i < end; i++) {
      const id = order[i];
      // Of planes that the group is inside of, nobody in it is outside.
      if (crossed(spheres, id, planesOfGroup) >= 0) bits[id >> 5] |= 1 << (id & 31);
    }
  }
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

function copyPlane({ normal, constant }: Frustum['planes'][number], index: number): void {
  normal.toArray(_planes, index * 4);
  _planes[index * 4 + 3] = constant;
}

/**
 * The planes among some that a sphere crosses, a bit each; -1 if it is outside of one. One whose numbers are none crosses all.
 *
 * @param planes Others are not asked.
 */
function crossed(spheres: Float32Array, index: number, planes: number): number {
  const at = index * 4;
  const x = spheres[at];
  const y = spheres[at + 1];
  const z = spheres[at + 2];
  const radius = spheres[at + 3];
  let left = planes;
  for (let rest = planes; rest !== 0; rest &= rest - 1) {
    const plane = 31 - Math.clz32(rest & -rest);
    const p = plane * 4;
    const distance = _planes[p] * x + _planes[p + 1] * y + _planes[p + 2] * z + _planes[p + 3];
    if (distance < -radius) return -1;
    if (distance >= radius) left &= ~(1 << plane);
  }
  return left;
}
