import type { AnimationClip, Object3D } from 'three';
import { bindTracks } from '../baking/bindTracks.js';
import { trackTargetsOf } from '../baking/trackTargets.js';
import { collectRig } from '../character/collectRig.js';

/** What baking makes of the tracks of a clip. */
export interface TrackCounts {
  stored: number;
  /** Names of those that are left out: their node is not there, or they move something that is not baked. */
  dropped: string[];
}

/** Which tracks of each clip are baked. */
export function trackCounts(
  root: Object3D,
  clips: readonly AnimationClip[],
  morphing: boolean,
): TrackCounts[] {
  const { rig } = collectRig(root, { morphing });
  const targets = trackTargetsOf(rig);
  return clips.map((clip) => {
    const { missing, unsupported } = bindTracks(
      rig,
      clip,
      Float64Array.from(rig.rest),
      Float64Array.from(rig.morphRest),
      targets,
    );
    const dropped = [...missing, ...unsupported];
    return { stored: clip.tracks.length - dropped.length, dropped };
  });
}
