import { type PoseTracks, ROTATION, SCALE, TRACK_CONSTANT } from './PoseTracks.js';

/** What 0 stands for in rotations of 16 bits, and the largest number but one: 0 and 1 are exact. */
export const SHORT_ONE = 32767;

/**
 * Writes a key of a track, four numbers.
 *
 * @param entry The track's entry in the table.
 * @param ranges The table's entry for ranges of the same node and clip.
 * @param texel Where the key is: the texel of the track's first frame, or of a later one.
 */
export function readKey(
  { keys, shorts }: Pick<PoseTracks, 'keys' | 'shorts'>,
  entry: number,
  ranges: number,
  property: number,
  texel: number,
  out: Float64Array,
): void {
  const at = texel * 4;
  if (shorts === null || entry & TRACK_CONSTANT) {
    for (let i = 0; i < 4; i++) out[i] = keys[at + i];
  } else if (property === ROTATION) {
    for (let i = 0; i < 4; i++) out[i] = (shorts[at + i] - SHORT_ONE) / SHORT_ONE;
    const length = Math.hypot(out[0], out[1], out[2], out[3]);
    for (let i = 0; i < 4; i++) out[i] /= length;
  } else {
    const range = rangeTexel(ranges, property) * 4;
    for (let i = 0; i < 4; i++) out[i] = keys[range + i] + keys[range + 4 + i] * shorts[at + i];
  }
}

/**
 * The texel that holds the least value of a track of 16 bits; the next one holds what a step of one is worth. Those of a
 * node's scale come after those of its translation.
 */
export function rangeTexel(ranges: number, property: number): number {
  return ranges + (property === SCALE ? 2 : 0);
}
