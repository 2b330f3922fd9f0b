import type { KeyframeTrack } from 'three';
import type { Rig } from '../poses/Rig.js';
import { hasTangents } from './bindTracks.js';
import type { PlannedClip } from './planClips.js';
import type { Steps } from './runBake.js';
import { type TrackTargets, trackTargetsOf } from './trackTargets.js';

/** Whether any clip gives a morph target of a part that is drawn another influence than it has at rest. */
export function* movesMorphs(rig: Rig, planned: readonly Pick<PlannedClip, 'clip'>[]): Steps<boolean> {
  if (rig.morphRest.length === 0) return false;
  const targets = trackTargetsOf(rig);
  for (const { clip } of planned) {
    if (clip.tracks.some((track) => movesMorph(rig, targets, track))) return true;
    yield 0;
  }
  return false;
}

function movesMorph({ parts, morphRest }: Rig, targets: TrackTargets, track: KeyframeTrack): boolean {
  const { node, property, component } = targets.find(track.name);
  if (property !== 'morphTargetInfluences') return false;
  const part = parts.find((candidate) => candidate.node === node);
  if (part === undefined || part.morphOffset < 0) return false;
  // The values between two keys of a spline differ from both.
  if (hasTangents(track)) return true;
  const first = part.morphOffset + (part.morphIndices[component ?? ''] ?? Number(component ?? 0));
  const size = component === undefined ? part.morphCount : 1;
  return track.values.some((value, i) => value !== morphRest[first + (i % size)]);
}
