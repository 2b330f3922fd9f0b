import type { KeyframeTrack } from 'three';
import type { Rig } from '../poses/Rig.js';
import type { Steps } from '../utils/steps.js';
import { hasTangents } from './bindTracks.js';
import type { PlannedClip } from './planClips.js';
import { morphsOf, trackTargetsOf } from './trackTargets.js';

type Clips = readonly Pick<PlannedClip, 'clip'>[];

/** Whether any clip gives a morph target of a part that is drawn another influence than it has at rest. */
export function* movesMorphs(rig: Rig, planned: Clips): Steps<boolean> {
  const targets = trackTargetsOf(rig);
  for (const { clip } of rig.morphRest.length === 0 ? [] : planned) {
    for (const track of clip.tracks) {
      const morphs = morphsOf(rig, targets.find(track.name));
      if (morphs === null) continue;
      const { first, size } = morphs;
      // The values between two keys of a spline differ from both.
      if (hasTangents(track) || track.values.some((value, i) => value !== rig.morphRest[first + (i % size)]))
        return true;
    }
    yield 0;
  }
  return false;
}

/**
 * Whether all clips move the meshes that share morph targets in one way at all times. Primitives of one glTF mesh share them in any
 * case: it is enough that a clip moves one of them.
 *
 * @param meshes See `CollectedMorphs.shared`.
 */
export function* moveAlike(rig: Rig, meshes: readonly number[], planned: Clips): Steps<boolean> {
  const { parts } = rig;
  const targets = trackTargetsOf(rig);
  const joined = [...parts.keys()].filter((i) => {
    const { morphOffset } = parts[i];
    return (
      morphOffset >= 0 &&
      parts.some((other, k) => other.morphOffset === morphOffset && meshes[k] !== meshes[i])
    );
  });
  for (const { clip } of planned) {
    const firsts = new Map<number, InfluenceTrack[]>();
    const moved = new Set<number>();
    for (const i of joined) {
      const { node, morphOffset } = parts[i];
      const own = clip.tracks.flatMap((track): InfluenceTrack[] => {
        const target = targets.find(track.name);
        const morphs = target.node === node ? morphsOf(rig, target) : null;
        return morphs === null ? [] : [[morphs.first, morphs.size, track]];
      });
      if (own.length === 0) continue;
      moved.add(meshes[i]);
      const first = firsts.get(morphOffset);
      if (first === undefined) firsts.set(morphOffset, own);
      else if (first.length !== own.length || !own.every((one, k) => areAlike(one, first[k]))) return false;
    }
    if (joined.some((i) => firsts.has(parts[i].morphOffset) && !moved.has(meshes[i]))) return false;
    yield 0;
  }
  return true;
}

/** The first target that a track moves, and how many. */
type InfluenceTrack = [first: number, size: number, track: KeyframeTrack];

function areAlike([first, size, a]: InfluenceTrack, [other, count, b]: InfluenceTrack): boolean {
  if (first !== other || size !== count || a.getInterpolation() !== b.getInterpolation()) return false;
  return !hasTangents(a) && !hasTangents(b) && areSame(a.times, b.times) && areSame(a.values, b.values);
}

const areSame = (a: ArrayLike<number>, b: ArrayLike<number>): boolean =>
  a === b || (a.length === b.length && Array.prototype.every.call(a, (value, i) => value === b[i]));
