import type { KeyframeTrack } from 'three';
import type { Rig, RigPart } from '../poses/Rig.js';
import { hasTangents } from './bindTracks.js';
import type { PlannedClip } from './planClips.js';
import type { Steps } from './runBake.js';
import { type TrackTargets, trackTargetsOf } from './trackTargets.js';

/** A track of influences, and the index of the one that it moves; -1 for all. */
type InfluenceTrack = [index: number, track: KeyframeTrack];

/** Whether all clips move the parts that share morph targets in one way at all times. */
export function* moveAlike(rig: Rig, planned: readonly Pick<PlannedClip, 'clip'>[]): Steps<boolean> {
  const targets = trackTargetsOf(rig);
  for (const { clip } of planned) {
    const firsts = new Map<number, InfluenceTrack[]>();
    for (const part of rig.parts) {
      if (part.morphOffset < 0) continue;
      const own = tracksOf(part, clip.tracks, targets);
      const first = firsts.get(part.morphOffset);
      if (first === undefined) firsts.set(part.morphOffset, own);
      else if (first.length !== own.length || !own.every((one, i) => areAlike(one, first[i]))) return false;
    }
    yield 0;
  }
  return true;
}

function tracksOf(
  { node, morphIndices }: RigPart,
  tracks: readonly KeyframeTrack[],
  targets: TrackTargets,
): InfluenceTrack[] {
  return tracks.flatMap((track): InfluenceTrack[] => {
    const { node: moved, property, component } = targets.find(track.name);
    if (moved !== node || property !== 'morphTargetInfluences') return [];
    return [[component === undefined ? -1 : (morphIndices[component] ?? Number(component)), track]];
  });
}

function areAlike([index, a]: InfluenceTrack, [other, b]: InfluenceTrack): boolean {
  if (index !== other || a.getInterpolation() !== b.getInterpolation() || hasTangents(a) || hasTangents(b))
    return false;
  return areSame(a.times, b.times) && areSame(a.values, b.values);
}

const areSame = (a: ArrayLike<number>, b: ArrayLike<number>): boolean =>
  a === b || (a.length === b.length && Array.prototype.every.call(a, (value, i) => value === b[i]));
