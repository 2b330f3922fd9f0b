import type { Vector3 } from 'three';
import { listSeen } from './seenInstances.js';

/** By how much nearer than another one an instance counts that was among the nearest before. */
const ADVANTAGE = 0.9;

let _ids = /*@__PURE__*/ new Uint32Array(0);
let _distances = /*@__PURE__*/ new Float64Array(0);
let _sorted = /*@__PURE__*/ new Float64Array(0);

/**
 * Lets of the instances that are seen only so many be seen, the nearest to a place. Those that were kept the last time stay
 * until others are nearer by a tenth, so that none comes and goes as the camera trembles.
 *
 * @param seen Bit `id & 31` of word `id >> 5` for each that is seen; cleared for those that are not kept.
 * @param drawn The same for each that is drawn at all.
 * @param kept The same for each that was kept the last time; those that are now take their place.
 * @param spheres x, y, z and radius by id, in the crowd's space.
 * @param matrix From the crowd's space to the world: 16 numbers, column by column.
 * @param eye The place, in the world.
 */
export function keepNearest(
  seen: Uint32Array,
  drawn: Uint32Array,
  kept: Uint32Array,
  spheres: Float32Array,
  matrix: readonly number[],
  eye: Vector3,
  max: number,
): void {
  if (_ids.length < seen.length * 32) {
    _ids = new Uint32Array(seen.length * 32);
    _distances = new Float64Array(_ids.length);
    _sorted = new Float64Array(_ids.length);
  }
  const count = listSeen(seen, drawn, _ids);
  if (count > max) {
    measure(count, kept, spheres, matrix, eye);
    const farthest = max === 0 ? -Infinity : select(count, max - 1);
    let room = max;
    for (let i = 0; i < count; i++) if (_distances[i] < farthest) room--;
    for (let i = 0; i < count; i++) {
      const id = _ids[i];
      // Of several that are equally far, the first.
      if (_distances[i] < farthest || (_distances[i] === farthest && room-- > 0)) continue;
      seen[id >> 5] &= ~(1 << (id & 31));
    }
  }
  for (let word = 0; word < kept.length; word++) kept[word] = seen[word] & drawn[word];
}

/** Squared distances in the world, which are less for instances that were kept. */
function measure(
  count: number,
  kept: Uint32Array,
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
  a.set(_distances.subarray(0, count));
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
