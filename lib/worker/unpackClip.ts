import type { AnimationClip } from 'three';
import { frameTimes, type PlannedClip } from '../baking/planClips.js';
import type { SentClip } from './messages.js';
import { ARRAYS } from './packClip.js';
import { trackOfKind } from './trackKinds.js';

/** The clip that `packClip` has packed. */
export function unpackClip(sent: SentClip): PlannedClip {
  const { name, duration, blendMode, bakedName, start, count, numbers, trackNames, kinds, arraysOf } = sent;
  let at = 0;
  const arrays = sent.arrays.map((array) => {
    if (typeof array !== 'number') return array as ArrayLike<number>;
    at += array;
    return numbers.subarray(at - array, at);
  });

  const tracks = trackNames.map((trackName, i) => {
    const [times, values, inTangents, outTangents] = Array.from(
      arraysOf.subarray(i * ARRAYS, (i + 1) * ARRAYS),
      (place) => arrays[place] as ArrayLike<number> | undefined,
    );
    const track = trackOfKind(kinds[i], trackName, times ?? [], values ?? []);
    return inTangents ? Object.assign(track, { settings: { inTangents, outTangents } }) : track;
  });
  // Baking reads no more of a clip than this, and three.js's class would bring a lot along.
  const clip = { name, duration, tracks, blendMode } as AnimationClip;
  return { clip, name: bakedName, start, count, timeOf: frameTimes(count, duration) };
}
