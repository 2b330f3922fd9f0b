import { listNames } from '../poses/ClipTable.js';
import type { Rig } from '../poses/Rig.js';
import type { BoundTracks } from './bindTracks.js';

const NAME = 'BoneTexture.bake';

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
    if (this.missing.size > 0) {
      console.warn(
        `${NAME}: tracks skipped, since "${this.rig.label}" has no such nodes: ${listed(this.missing)}.`,
      );
    }
    if (this.unsupported.size > 0) {
      console.warn(
        `${NAME}: tracks skipped, since only position, rotation and scale, and morph targets of what is drawn, are baked: ${listed(this.unsupported)}.`,
      );
    }
  }
}

function listed(tracks: ReadonlySet<string>): string {
  return listNames([...tracks].map((name) => ({ name })));
}
