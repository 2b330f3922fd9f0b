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
  TRACK_STEP,
  TRACK_TEXEL,
  TRACK_TREMBLES,
  TRANSLATION,
  type TrackClip,
} from '../animation/PoseTracks.js';
import { SHORTS_PER_ROW } from '../animation/trackTexels.js';
import type { Steps } from '../utils/slices.js';
import type { PlannedClip } from './planClips.js';
import type { KeyedChannel, KeyedClip } from './readKeys.js';
import type { Skeleton } from './skeleton.js';

/**
 * Packs the keys of clips into tracks: first what never changes, each value once, then clip by clip what does.
 *
 * @param named The clips, in the order of `keyed`.
 */
export function* packTracks(
  { place, ...skeleton }: Skeleton,
  named: readonly Pick<PlannedClip, 'clip' | 'name'>[],
  keyed: readonly KeyedClip[],
): Steps<PoseTracks> {
  const perClip = (skeleton.parents.length + skeleton.morphRest.length / 4) * NODE_ENTRIES;
  const table = new Uint32Array(keyed.length * perClip).fill(TRACK_ABSENT);
  const constants: number[] = [];
  // Most constants are those that the same property has in the clip before.
  const before = new Int32Array(perClip).fill(-1);
  const constantOf = (values: ArrayLike<number>, size: number, entry: number): number => {
    const texel = [0, 1, 2, 3].map((i) => (i < size ? Math.fround(values[i]) + 0 : 0));
    const at = before[entry] * 4;
    if (at < 0 || texel.some((value, i) => value !== constants[at + i]))
      before[entry] = constants.push(...texel) / 4 - 1;
    return before[entry];
  };

  const moving: KeyedChannel[][] = [];
  for (const [clip, { channels }] of keyed.entries()) {
    moving.push(channels.filter(({ isConstant }) => !isConstant));
    for (const { node, property, values, size, isConstant, trembles } of channels) {
      const entry = node * NODE_ENTRIES + property;
      if (!isConstant) continue;
      const bits = TRACK_CONSTANT | (trembles ? TRACK_TREMBLES : 0);
      table[clip * perClip + entry] = constantOf(values, size, entry) | bits;
    }
    yield 0;
  }

  const clips: TrackClip[] = [];
  let texels = constants.length / 4;
  keyed.forEach(({ fps, frames, slots, error, additive }, clip) => {
    const stride = moving[clip].length;
    moving[clip].forEach(({ node, property, stepped }, i) => {
      table[clip * perClip + node * NODE_ENTRIES + property] = (texels + i) | (stepped ? TRACK_STEP : 0);
    });
    const { name } = named[clip];
    const { duration } = named[clip].clip;
    clips.push({ name, duration, fps, frames, slots, stride, error, additive });
    texels += frames * stride;
  });

  const keys = new Float32Array(texels * 4);
  keys.set(constants);
  let at = constants.length;
  for (const [clip, { frames }] of keyed.entries()) {
    // Frame by frame, so that shaders find the tracks of one frame next to each other.
    const stride = moving[clip].length * 4;
    for (const { values, size } of moving[clip]) {
      const length = frames * size;
      for (let from = 0, to = at; from < length; from += size, to += stride) {
        for (let k = 0; k < size; k++) keys[to + k] = values[from + k];
      }
      at += 4;
    }
    at += (frames - 1) * stride;
    yield 0;
  }
  return { ...skeleton, keys, shorts: null, table, clips };
}

/** The largest number of 16 bits. */
const MOST = 65535;

/** By how much the length of a quaternion may be off: more than numbers of 16 bits make of one. */
const ROUNDED = 1e-3;

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
  const count = clips.reduce((sum, { frames, stride }) => sum + frames * stride * 4, 0);
  const constants = (keys.length - count) / 4;
  const kept = Array.from(keys.subarray(0, constants * 4));
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
        const isWhole = property === ROTATION && i === 0;
        for (let frame = 0; frame < frames; frame++) {
          const from = (first + frame * stride) * 4 + i;
          // Whoever reads them makes them of unit length, so that rounding does not show.
          if (isWhole && Math.abs(Math.hypot(...keys.subarray(from, from + 4)) - 1) > ROUNDED)
            throw new Error(
              `precision: 'half' holds quaternions of unit length, but clip "${name}" has others; normalise its keys, or leave the precision out.`,
            );
          shorts[from - constants * 4] = step === 0 ? 0 : Math.round((keys[from] - least) / step);
        }
      }
      table[at + property] = (entry - constants) >>> 0;
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
