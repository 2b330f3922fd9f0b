import type { AnimationClip, KeyframeTrack } from 'three';
import { frameTimes, type PlannedClip } from '../baking/planClips.js';
import type { Steps } from '../utils/steps.js';
import { kindOf, trackOfKind } from './trackKinds.js';

/** A clip as a worker is sent it: what baking reads of it, and no more. */
export type SentClip = Omit<PlannedClip, 'clip' | 'timeOf'> & {
  clip: Pick<AnimationClip, 'name' | 'duration' | 'blendMode'>;
  tracks: SentTrack[];
};

/** A track, with how it is played, see `kindOf`. */
interface SentTrack {
  name: string;
  kind: number;
  times: ArrayLike<number>;
  values: ArrayLike<number>;
  /** Tangents, of Bézier tracks alone. */
  settings?: Record<string, ArrayLike<number>>;
}

/**
 * Copies a clip into what a worker can be sent. Tracks that share an array share it there too. Arrays of a loaded file are mostly
 * views of one large buffer, which sending them as they are would copy whole, for each clip anew.
 *
 * @param buffers Takes up those of the copies.
 * @returns The track that cannot be sent, since it has code of its own, if there is one.
 */
export function* packClip(
  { clip: { name, duration, blendMode, tracks }, timeOf: _, ...planned }: PlannedClip,
  buffers: Transferable[],
): Steps<SentClip | KeyframeTrack> {
  const copies = new Map<ArrayLike<number>, ArrayLike<number>>();
  const copy = (array: ArrayLike<number>): ArrayLike<number> => {
    const known = copies.get(array);
    if (known !== undefined) return known;
    const made = (array as Float32Array).slice();
    if (ArrayBuffer.isView(made)) buffers.push(made.buffer);
    copies.set(array, made);
    return made;
  };
  const sent: SentTrack[] = [];
  for (const track of tracks) {
    const kind = kindOf(track);
    if (kind === null) return track;
    const { times, values, settings } = track as KeyframeTrack & Pick<SentTrack, 'settings'>;
    sent.push({
      name: track.name,
      kind,
      times: copy(times),
      values: copy(values),
      ...(settings?.inTangents && {
        settings: { inTangents: copy(settings.inTangents), outTangents: copy(settings.outTangents) },
      }),
    });
    if (sent.length % 16 === 0) yield 0;
  }
  return { ...planned, clip: { name, duration, blendMode }, tracks: sent };
}

/** The clip that `packClip` has packed. */
export function unpackClip({ clip, tracks: sent, ...planned }: SentClip): PlannedClip {
  const tracks = sent.map(({ name, kind, times, values, settings }) =>
    Object.assign(trackOfKind(kind, name, times, values), settings && { settings }),
  );
  // Baking reads no more of a clip than this, and three.js's class would bring a lot along.
  return {
    ...planned,
    clip: { ...clip, tracks } as unknown as AnimationClip,
    timeOf: frameTimes(planned.count, clip.duration),
  };
}
