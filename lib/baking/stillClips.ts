import { listNames } from '../poses/ClipTable.js';
import type { Rig } from '../poses/Rig.js';
import { warnOnce } from '../utils/warnOnce.js';
import { nodesAbove } from './nodesAbove.js';
import type { PlannedClip } from './planClips.js';
import type { Steps } from './runBake.js';
import { trackTargetsOf } from './trackTargets.js';

const NAME = 'BoneTexture.bake';

/**
 * Warns of clips all of whose tracks are for nodes on which nothing hangs that is drawn: instances would stand still without a word.
 * Loaders of VRM, and some exporters, keep a second skeleton beside the one that vertices follow.
 */
export function* warnOfStillClips(
  rig: Rig,
  planned: readonly Pick<PlannedClip, 'clip' | 'name'>[],
): Steps<void> {
  const targets = trackTargetsOf(rig);
  const needed = nodesAbove(rig.parents, [...rig.jointNodes, ...rig.parts.map(({ node }) => node)]);
  const still: { name: string }[] = [];
  for (const { clip, name } of planned) {
    const nodes = clip.tracks.map((track) => targets.find(track.name).node);
    // Tracks of nodes that are not there have a warning of their own.
    if (nodes.some((node) => node !== -1) && !nodes.some((node) => needed[node] === 1)) still.push({ name });
    yield 0;
  }
  if (still.length === 0) return;
  warnOnce(
    `${NAME}: nothing that is drawn under "${rig.label}" hangs on the nodes that these clips move: ${listNames(still)}; ` +
      'retarget them to the bones that vertices follow, or leave them out with options.clips.',
  );
}
