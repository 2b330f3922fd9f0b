import type { Vector3 } from 'three';
import { listSeen } from '../../culling/seenInstances.js';

/** By how much nearer than another one an instance counts that was among the nearest before. */
const ADVANTAGE = 0.9;

/** Bits of a code by which instances are counted at once; it has three times as many. */
const BITS = 10;
const DIGITS = 1 << BITS;

/** By digit, how many instances have it, and what they cost. */
const _counts = /*@__PURE__*/ new Uint32Array(DIGITS);
const _costs = /*@__PURE__*/ new Float64Array(DIGITS);

let _ids = /*@__PURE__*/ new Uint32Array(0);
/** By id, squared distances, and the bits of these. */
let _distances = /*@__PURE__*/ new Float32Array(0);
let _codes = /*@__PURE__*/ new Uint32Array(0);

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
    _distances = new Float32Array(_ids.length);
    _codes = new Uint32Array(_distances.buffer);
  }
  const count = listSeen(seen, drawn, _ids);
  if (count > max || costOf(count, budget) > budget.max) {
    measure(count, kept, spheres, matrix, eye);
    dropFarthest(seen, count, max, budget);
  }
  for (let word = 0; word < kept.length; word++) kept[word] = seen[word] & drawn[word];
}

/**
 * Looks for the code of the first that may not be kept, digit by digit, each among those whose digits before are the same.
 */
function dropFarthest(
  seen: Int32Array,
  count: number,
  max: number,
  { max: budget, costs, levels }: Budget,
): void {
  let room = max;
  let left = budget;
  let first = 0;
  for (let shift = 2 * BITS; shift >= 0; shift -= BITS) {
    _counts.fill(0);
    _costs.fill(0);
    for (let i = 0; i < count; i++) {
      const id = _ids[i];
      if (_codes[id] >>> (shift + BITS) !== first) continue;
      const digit = (_codes[id] >>> shift) & (DIGITS - 1);
      _counts[digit]++;
      _costs[digit] += costs[levels === null ? 0 : levels[id]];
    }
    let digit = 0;
    for (; digit < DIGITS - 1 && _counts[digit] <= room && _costs[digit] <= left; digit++) {
      room -= _counts[digit];
      left -= _costs[digit];
    }
    first = first * DIGITS + digit;
  }
  for (let i = 0; i < count; i++) {
    const id = _ids[i];
    if (_codes[id] < first) continue;
    if (_codes[id] === first) {
      // Of several that are equally far, the first.
      room--;
      left -= costs[levels === null ? 0 : levels[id]];
      if (room >= 0 && left >= 0) continue;
    }
    seen[id >> 5] &= ~(1 << (id & 31));
  }
}

/** What the first `count` instances that are listed cost. */
function costOf(count: number, { costs, levels }: Budget): number {
  let cost = 0;
  for (let i = 0; i < count; i++) cost += costs[levels === null ? 0 : levels[_ids[i]]];
  return cost;
}

/** Writes codes in the order of squared distances in the world, which are less for instances that were kept. */
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
    _distances[id] = Number.isNaN(distance) ? 0 : wasKept ? distance * ADVANTAGE * ADVANTAGE : distance;
    // Floats from zero on are in the order of their bits. A code has 30.
    _codes[id] >>>= 2;
  }
}
