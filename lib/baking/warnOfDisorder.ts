import type { KeyframeTrack } from 'three';
import type { Rig } from '../poses/Rig.js';
import { warnOnce } from '../utils/warnOnce.js';
import { KEY_TOLERANCE } from './keyGrid.js';
import { nameOf, type PlannedClip } from './planClips.js';
import type { Steps } from './runBake.js';
import { trackTargetsOf } from './trackTargets.js';

/**
 * Warns of the first track of a node of the rig whose keys are not in the order of their times: which of them three.js finds
 * depends on those that it found before, so that no baking can show what it does.
 */
export function* warnOfDisorder(rig: Rig, planned: readonly Pick<PlannedClip, 'clip'>[]): Steps<void> {
  const targets = trackTargetsOf(rig);
  // Tracks often share one array of times.
  const checked = new Set<ArrayLike<number>>();
  for (const { clip } of planned) {
    for (const track of clip.tracks) {
      const { times } = track;
      if (checked.has(times) || targets.find(track.name).node === -1) continue;
      checked.add(times);
      const key = firstEarly(track);
      if (key === -1) continue;
      warnOnce(
        `BoneTexture.bake: keys ${key - 1} and ${key} of ${nameOf(track, clip.name)} are at ${times[key - 1]} s and ${times[key]} s, ` +
          'and poses between them may differ from those of three.js; bring the keys of its tracks into the order of their times.',
      );
      return;
    }
    yield 0;
  }
}

/** Index of the first key that is before the one in front of it, by more than rounding; -1 if there is none. */
function firstEarly({ times }: KeyframeTrack): number {
  for (let key = 1; key < times.length; key++) if (times[key] < times[key - 1] - KEY_TOLERANCE) return key;
  return -1;
}
