import {
  NODE_ENTRIES,
  type PoseTracks,
  TRACK_ABSENT,
  TRACK_CONSTANT,
  TRACK_STEP,
  TRACK_TREMBLES,
  type TrackClip,
} from '../animation/PoseTracks.js';
import type { Steps } from '../utils/steps.js';
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
    const texel = [values[0], values[1], values[2], size === 4 ? values[3] : 0].map(
      (value) => Math.fround(value) + 0,
    );
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
        keys[to] = values[from];
        keys[to + 1] = values[from + 1];
        keys[to + 2] = values[from + 2];
        if (size === 4) keys[to + 3] = values[from + 3];
      }
      at += 4;
    }
    at += (frames - 1) * stride;
    yield 0;
  }
  return { ...skeleton, keys, shorts: null, table, clips };
}
