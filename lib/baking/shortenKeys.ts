import {
  NODE_ENTRIES,
  type PoseTracks,
  RANGES,
  ROTATION,
  rangeTexel,
  SCALE,
  SHORT_ONE,
  TRACK_ABSENT,
  TRACK_CONSTANT,
  TRACK_TEXEL,
  TRANSLATION,
} from '../animation/PoseTracks.js';
import { SHORTS_PER_ROW } from '../animation/trackTexels.js';
import type { Steps } from '../utils/steps.js';

/** The largest number of 16 bits. */
const MOST = 65535;

/** By how much the length of a quaternion may be off: more than numbers of 16 bits make of one. */
const ROUNDED = 1e-3;

/** Numbers that are rounded between two steps. */
const NUMBERS = 4096;

/**
 * The same tracks with keys of 16 bits. Rotations are numbers from -1 to 1; translations, scales and influences are shares of
 * the way from the least to the greatest value of their track. What never changes stays as it is.
 */
export function* shortenKeys(tracks: PoseTracks): Steps<PoseTracks> {
  const { keys, clips } = tracks;
  const table = tracks.table.slice();
  const perClip = table.length / Math.max(1, clips.length);
  const isMoving = (entry: number) => entry !== TRACK_ABSENT && (entry & TRACK_CONSTANT) === 0;

  // What never changes comes first among the keys, then clip by clip what does.
  let constants = keys.length / 4;
  for (let i = 0; i < table.length; i++) {
    if (isMoving(table[i])) constants = Math.min(constants, table[i] & TRACK_TEXEL);
  }
  const kept = Array.from(keys.subarray(0, constants * 4));
  const count = keys.length - constants * 4;
  let done = 0;
  const shorts = new Uint16Array(Math.max(1, Math.ceil(count / SHORTS_PER_ROW)) * SHORTS_PER_ROW);

  for (let at = 0; at < table.length; at += NODE_ENTRIES) {
    const { name, frames, stride } = clips[Math.floor(at / perClip)];
    if (isMoving(table[at + TRANSLATION]) || isMoving(table[at + SCALE])) {
      table[at + RANGES] = kept.length / 4;
      for (let i = 0; i < (isMoving(table[at + SCALE]) ? 16 : 8); i++) kept.push(0);
    }
    for (const property of [ROTATION, TRANSLATION, SCALE]) {
      const entry = table[at + property];
      if (!isMoving(entry)) continue;
      const first = entry & TRACK_TEXEL;
      const range = rangeTexel(table[at + RANGES], property) * 4;
      for (let i = 0; i < 4; i++) {
        let [least, step] = [-1, 1 / SHORT_ONE];
        if (property !== ROTATION) {
          [least, step] = rangeOf(keys, first * 4 + i, frames, stride * 4);
          kept[range + i] = least;
          kept[range + 4 + i] = step;
        }
        for (let frame = 0; frame < frames; frame++) {
          const from = (first + frame * stride) * 4 + i;
          // Whoever reads them makes them of unit length, so that rounding does not show.
          if (
            property === ROTATION &&
            i === 0 &&
            Math.abs(Math.hypot(...keys.subarray(from, from + 4)) - 1) > ROUNDED
          )
            throw new Error(
              `precision: 'half' holds quaternions of unit length, but clip "${name}" has others; normalise its keys, or leave the precision out.`,
            );
          shorts[from - constants * 4] = step === 0 ? 0 : Math.round((keys[from] - least) / step);
        }
      }
      table[at + property] = (entry - constants) >>> 0;
      done += frames * 4;
      if (done < NUMBERS) continue;
      done = 0;
      yield 0;
    }
  }
  return { ...tracks, table, keys: Float32Array.from(kept), shorts };
}

/** The least value of one component of a track, and what a step of 16 bits is worth; both as float32 has them. */
function rangeOf(
  keys: Float32Array,
  first: number,
  frames: number,
  stride: number,
): [least: number, step: number] {
  let [least, most] = [Infinity, -Infinity];
  for (let frame = 0; frame < frames; frame++) {
    least = Math.min(least, keys[first + frame * stride]);
    most = Math.max(most, keys[first + frame * stride]);
  }
  return [least, Math.fround((most - least) / MOST)];
}
