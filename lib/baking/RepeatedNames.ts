import type { KeyframeTrack } from 'three';

/**
 * The tracks of a clip that have a name in common, as files with several nodes of one name give them. AnimationMixer keeps one
 * value for all tracks of one name, and mixes each further one into it; those of additive clips it adds up.
 */
export class RepeatedNames {
  private readonly repeated = new Set<string>();
  private readonly counts = new Map<string, number>();

  constructor(tracks: readonly KeyframeTrack[]) {
    const found = new Set<string>();
    for (const { name } of tracks) (found.has(name) ? this.repeated : found).add(name);
  }

  has({ name }: KeyframeTrack): boolean {
    return this.repeated.has(name);
  }

  /** By how much of it a track is mixed into those of its name that were asked for before: 1, a half, a third, and so on. */
  shareOf({ name }: KeyframeTrack): number {
    if (!this.repeated.has(name)) return 1;
    const count = (this.counts.get(name) ?? 0) + 1;
    this.counts.set(name, count);
    return 1 / count;
  }
}
