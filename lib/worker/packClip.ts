import type { AnimationClip, KeyframeTrack } from 'three';
import { frameTimes, type PlannedClip } from '../baking/planClips.js';
import type { OwnedFloats } from '../utils/attributes.js';
import type { Steps } from '../utils/steps.js';
import { kindOf, trackOfKind } from './trackKinds.js';

/** A clip as a worker is sent it. Tracks are columns of arrays: an object for each would take longer to send. */
export interface SentClip {
  /** Of the `AnimationClip`. */
  name: string;
  duration: number;
  blendMode: number;
  /** Of the `PlannedClip`. */
  bakedName: string;
  start: number;
  count: number;
  /** What all arrays of keys hold that are `Float32Array`s, one after another. */
  numbers: OwnedFloats;
  /** The arrays of keys: how long each is among the numbers; or the array itself, if it is of another kind. */
  arrays: (number | ArrayLike<unknown>)[];
  trackNames: string[];
  /** How each track is played, see `kindOf`. */
  kinds: Uint8Array;
  /** Which arrays each track has: four numbers a track, for times, values, and tangents in and out; -1 for none. */
  arraysOf: Int32Array;
}

/** Arrays of a track: times, values, and tangents in and out. */
const ARRAYS = 4;

/** A track in parts, of which Bézier tracks alone have the last two. */
function arraysOf(track: KeyframeTrack): (ArrayLike<unknown> | undefined)[] {
  const { settings } = track as {
    settings?: { inTangents?: ArrayLike<number>; outTangents?: ArrayLike<number> };
  };
  return [track.times, track.values, settings?.inTangents, settings?.outTangents];
}

/**
 * Copies a clip into what a worker can be sent. Tracks that share an array share it there too. Arrays of a loaded file are mostly
 * views of one large buffer, which sending them as they are would copy whole, for each clip anew.
 *
 * @returns The track that cannot be sent, since it has code of its own, if there is one.
 */
export function* packClip({
  clip,
  name: bakedName,
  start,
  count,
}: PlannedClip): Steps<SentClip | KeyframeTrack> {
  const { name, duration, blendMode, tracks } = clip;
  const kinds = new Uint8Array(tracks.length);
  const places = new Int32Array(tracks.length * ARRAYS).fill(-1);
  const known = new Map<ArrayLike<unknown>, number>();
  let length = 0;
  for (const [i, track] of tracks.entries()) {
    const kind = kindOf(track);
    if (kind === null) return track;
    kinds[i] = kind;
    arraysOf(track).forEach((array, j) => {
      if (array === undefined) return;
      const place = known.get(array) ?? known.size;
      places[i * ARRAYS + j] = place;
      if (place < known.size) return;
      known.set(array, place);
      if (array instanceof Float32Array) length += array.length;
    });
    if (i % 16 === 0) yield 0;
  }

  const numbers = new Float32Array(length);
  const arrays: SentClip['arrays'] = [];
  let at = 0;
  for (const array of known.keys()) {
    if (array instanceof Float32Array) {
      numbers.set(array, at);
      at += array.length;
      arrays.push(array.length);
    } else {
      arrays.push(ArrayBuffer.isView(array) ? (array as Float64Array).slice() : Array.from(array));
    }
    if (arrays.length % 16 === 0) yield 0;
  }
  const trackNames = tracks.map((track) => track.name);
  return {
    name,
    duration,
    blendMode,
    bakedName,
    start,
    count,
    numbers,
    arrays,
    trackNames,
    kinds,
    arraysOf: places,
  };
}

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
