import { listNames } from '../poses/ClipTable.js';
import type { Rig } from '../poses/Rig.js';
import { warnOnce } from '../utils/warnOnce.js';
import type { BoundTracks } from './bindTracks.js';
import { nodesAbove } from './PoseSampler.js';
import type { PlannedClip } from './planClips.js';
import { trackTargetsOf } from './trackTargets.js';

/** Names of the tracks that baking cannot play, of all clips together, for one warning of each kind. */
export class SkippedTracks {
  private readonly missing = new Set<string>();
  private readonly unsupported = new Set<string>();

  constructor(private readonly rig: Rig) {}

  /** Adds those of one clip. */
  add({ missing, unsupported }: Pick<BoundTracks, 'missing' | 'unsupported'>): void {
    for (const track of missing) this.missing.add(track);
    for (const track of unsupported) this.unsupported.add(track);
  }

  warn(): void {
    const warn = (tracks: Set<string>, why: string) => {
      const names = listNames([...tracks].map((name) => ({ name })));
      if (tracks.size > 0) console.warn(`Tracks skipped, since ${why}: ${names}.`);
    };
    warn(this.missing, `"${this.rig.label}" has no such nodes`);
    warn(
      this.unsupported,
      'only position, rotation and scale, and morph targets of what is drawn, are baked',
    );
  }
}

/**
 * Warns of clips all of whose tracks are for nodes on which nothing hangs that is drawn: instances would stand still without a word.
 * Loaders of VRM, and some exporters, keep a second skeleton beside the one that vertices follow.
 */
export function warnOfStillClips(rig: Rig, planned: readonly Pick<PlannedClip, 'clip' | 'name'>[]): void {
  const targets = trackTargetsOf(rig);
  const needed = nodesAbove(rig.parents, [...rig.jointNodes, ...rig.parts.map(({ node }) => node)]);
  const still = planned.filter(({ clip }) => {
    const nodes = clip.tracks.map((track) => targets.find(track.name).node);
    // Tracks of nodes that are not there have a warning of their own.
    return nodes.some((node) => node !== -1) && !nodes.some((node) => needed[node] === 1);
  });
  if (still.length === 0) return;
  warnOnce(
    `Nothing that is drawn under "${rig.label}" hangs on the nodes that these clips move: ${listNames(still)}; ` +
      'retarget them to the bones that vertices follow, or leave them out with options.clips.',
  );
}
