import type { KeyframeTrack } from 'three';
import type { Rig, RigPart } from '../poses/Rig.js';
import { hasTangents } from './bindTracks.js';
import type { PlannedClip } from './planClips.js';
import type { Steps } from './runBake.js';
import { type TrackTargets, trackTargetsOf } from './trackTargets.js';

/** A track of influences, and the index of the one that it moves; -1 for all. */
type InfluenceTrack = [index: number, track: KeyframeTrack];

/**
 * Whether all clips move the meshes that share morph targets in one way at all times. Primitives of one glTF mesh share them in any
 * case: it is enough that a clip moves one of them.
 *
 * @param meshes See `CollectedMorphs.shared`.
 */
export function* moveAlike(
  rig: Rig,
  meshes: readonly number[],
  planned: readonly Pick<PlannedClip, 'clip'>[],
): Steps<boolean> {
  const { parts } = rig;
  const targets = trackTargetsOf(rig);
  const joined = parts.filter(({ morphOffset }, i) => {
    return (
      morphOffset >= 0 &&
      parts.some((other, k) => other.morphOffset === morphOffset && meshes[k] !== meshes[i])
    );
  });
  const meshOf = (part: RigPart) => meshes[parts.indexOf(part)];
  for (const { clip } of planned) {
    const firsts = new Map<number, InfluenceTrack[]>();
    const moved = new Set<number>();
    for (const part of joined) {
      const own = tracksOf(part, clip.tracks, targets);
      if (own.length === 0) continue;
      moved.add(meshOf(part));
      const first = firsts.get(part.morphOffset);
      if (first === undefined) firsts.set(part.morphOffset, own);
      else if (first.length !== own.length || !own.every((one, i) => areAlike(one, first[i]))) return false;
    }
    if (joined.some((part) => firsts.has(part.morphOffset) && !moved.has(meshOf(part)))) return false;
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
