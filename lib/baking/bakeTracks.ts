import type { PoseTracks } from '../tracks/PoseTracks.js';
import type { BakedCharacter } from './BakedCharacter.js';
import { ClipReader, type StoredClip } from './ClipReader.js';
import { PoseSampler } from './PoseSampler.js';
import type { PlannedClip } from './planClips.js';
import { TrackPacker } from './TrackPacker.js';
import { trackError } from './trackError.js';

/** Frames per second above which clips are not sampled, however large their error is. */
const MAX_FPS = 480;

/** What storing clips as tracks needs to know besides the character. */
export interface TrackOptions {
  /** Of the character, in scene units. */
  size: number;
  /** Largest error of clips that have to be sampled, as a share of `size`. */
  maxError: number;
  /** Whether clips move morph targets, which are then stored too. */
  morphs: boolean;
}

/**
 * Stores clips as keys, each at its own frame rate. Clips of linear and stepped tracks whose keys are on frames are exact at any
 * time. Others (splines, Euler angles, keys at odd times) are sampled at ever higher rates until `maxError` holds.
 */
export function* bakeTracks(
  character: BakedCharacter,
  clips: readonly PlannedClip[],
  { size, maxError, morphs }: TrackOptions,
): Generator<number, PoseTracks, void> {
  const { rig } = character;
  const reader = new ClipReader(rig, size, morphs);
  const packer = new TrackPacker(rig, morphs);
  const stored: StoredClip[] = [];
  for (const [i, planned] of clips.entries()) {
    let one = reader.store(planned.clip);
    if (one === null) {
      const sampler = new PoseSampler(rig);
      sampler.setClip(planned.clip);
      for (let fps = reader.firstRate(planned.clip); ; fps *= 2) {
        one = reader.sample(planned.clip, fps);
        one.error = trackError(packer.pack([planned], [one]), sampler, character) / size;
        if (one.error <= maxError || fps * 2 > MAX_FPS) break;
        yield i / clips.length;
      }
    }
    stored.push(one);
    yield (i + 1) / clips.length;
  }
  reader.skipped.warn();
  return packer.pack(clips, stored);
}
