import type { Vector3 } from 'three';
import { listSeen } from '../../culling/seenInstances.js';
import { sortByCode } from '../../culling/sortIds.js';

/** By how much nearer than another one an instance counts that was among the nearest before. */
const ADVANTAGE = 0.9;

let _ids = /*@__PURE__*/ new Uint32Array(0);
let _distances = /*@__PURE__*/ new Float64Array(0);
let _sorted = /*@__PURE__*/ new Float64Array(0);
/** Distances as numbers of 32 bits, and their bits; places among those that are seen, from near to far. */
let _floats = /*@__PURE__*/ new Float32Array(0);
let _codes = /*@__PURE__*/ new Uint32Array(0);
let _places = /*@__PURE__*/ new Uint32Array(0);

/** What instances may cost together. */
export interface Budget {
  max: number;
  /** What an instance costs at each level, and where it is passing over to the next. */
  readonly costs: Float64Array;
  /** The level of each instance, by id; null if all are at level 0. */
  levels: Uint8Array | null;
}

/**
 * Lets of the instances that are seen only so many be seen as may be, the nearest to a place. Those that were kept the last time stay
 * until others are nearer by a tenth, so that none comes and goes as the camera trembles.
 *
 * @param seen Bit `id & 31` of word `id >> 5` for each that is seen; cleared for those that are not kept.
 * @param drawn The same for each that is drawn at all.
 * @param kept The same for each that was kept the last time; those that are now take their place.
 * @param spheres x, y, z and radius by id, in the crowd's space.
 * @param matrix From the crowd's space to the world: 16 numbers, column by column.
 * @param eye The place, in the world.
 * @param max How many may be seen.
 * @param budget What they may cost: from the first on that would go beyond it, none is.
 */
export function keepNearest(
  seen: Int32Array,
  drawn: Uint32Array,
  kept: Int32Array,
  spheres: Float32Array,
  matrix: readonly number[],
  eye: Vector3,
  max: number,
  budget: Budget,
): void {
  if (_ids.length < seen.length * 32) {
    _ids = new Uint32Array(seen.length * 32);
    _distances = new Float64Array(_ids.length);
    _sorted = new Float64Array(_ids.length);
    _floats = new Float32Array(_ids.length);
    _codes = new Uint32Array(_floats.buffer);
    _places = new Uint32Array(_ids.length);
  }
  const count = listSeen(seen, drawn, _ids);
  const isDear = budget.max < Infinity && costOf(count, budget) > budget.max;
  if (isDear || count > max) measure(count, kept, spheres, matrix, eye);
  if (isDear) dropDearest(seen, count, max, budget);
  else if (count > max) {
    const farthest = max === 0 ? -Infinity : select(count, max - 1);
    let room = max;
    for (let i = 0; i < count; i++) if (_distances[i] < farthest) room--;
    for (let i = 0; i < count; i++) {
      // Of several that are equally far, the first.
      if (_distances[i] < farthest || (_distances[i] === farthest && room-- > 0)) continue;
      drop(seen, _ids[i]);
    }
  }
  for (let word = 0; word < kept.length; word++) kept[word] = seen[word] & drawn[word];
}

function drop(seen: Int32Array, id: number): void {
  seen[id >> 5] &= ~(1 << (id & 31));
}

/** What the first `count` instances that are listed cost. */
function costOf(count: number, { costs, levels }: Budget): number {
  let cost = 0;
  for (let i = 0; i < count; i++) cost += costs[levels === null ? 0 : levels[_ids[i]]];
  return cost;
}

/** Goes through the instances from near to far, and drops those from the first on for which there is nothing left. */
function dropDearest(
  seen: Int32Array,
  count: number,
  max: number,
  { max: budget, costs, levels }: Budget,
): void {
  for (let i = 0; i < count; i++) {
    _places[i] = i;
    _floats[i] = _distances[i];
    // Floats from zero on are in the order of their bits. A code has 30.
    _codes[i] >>>= 2;
  }
  sortByCode(_places, count, _codes);
  let left = budget;
  for (let i = 0; i < count; i++) {
    const id = _ids[_places[i]];
    left -= i < max ? costs[levels === null ? 0 : levels[id]] : Infinity;
    if (left < 0) drop(seen, id);
  }
}

/** Squared distances in the world, which are less for instances that were kept. */
function measure(
  count: number,
  kept: Int32Array,
  spheres: Float32Array,
  m: readonly number[],
  { x: ex, y: ey, z: ez }: Vector3,
): void {
  for (let i = 0; i < count; i++) {
    const id = _ids[i];
    const x = spheres[id * 4];
    const y = spheres[id * 4 + 1];
    const z = spheres[id * 4 + 2];
    const dx = m[0] * x + m[4] * y + m[8] * z + m[12] - ex;
    const dy = m[1] * x + m[5] * y + m[9] * z + m[13] - ey;
    const dz = m[2] * x + m[6] * y + m[10] * z + m[14] - ez;
    const distance = dx * dx + dy * dy + dz * dz;
    const wasKept = (kept[id >> 5] & (1 << (id & 31))) !== 0;
    // What is nowhere is nearest: it is seen by every camera, too.
    _distances[i] = Number.isNaN(distance) ? 0 : wasKept ? distance * ADVANTAGE * ADVANTAGE : distance;
  }
}

/** The distance that would stand at a place if they were sorted (Hoare, "Algorithm 65: find", 1961). */
function select(count: number, place: number): number {
  const a = _sorted;
  for (let i = 0; i < count; i++) a[i] = _distances[i];
  let low = 0;
  let high = count - 1;
  while (low < high) {
    const pivot = a[(low + high) >> 1];
    let i = low;
    let j = high;
    while (i <= j) {
      while (a[i] < pivot) i++;
      while (a[j] > pivot) j--;
      if (i > j) break;
      const kept = a[i];
      a[i++] = a[j];
      a[j--] = kept;
    }
    if (place <= j) high = j;
    else if (place >= i) low = i;
    else break;
  }
  return a[place];
}
