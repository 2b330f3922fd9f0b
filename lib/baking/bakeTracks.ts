import { AdditiveAnimationBlendMode } from 'three';
import type { PoseTracks } from '../tracks/PoseTracks.js';
import { MAX_TRACK_TEXELS } from '../tracks/trackTexels.js';
import type { BakedCharacter } from './BakedCharacter.js';
import { ClipReader, type StoredClip } from './ClipReader.js';
import type { RootMotionExtractor } from './extractRootMotion.js';
import { ChannelMover, nodesToMove } from './moveChannelsBack.js';
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
  /** Extracts root motion from clips; null if it is to stay in them. */
  extractor: RootMotionExtractor | null;
  /** Names of the clips from which it is extracted. */
  inPlace: ReadonlySet<string>;
}

/** Clips as tracks, and the way that was taken out of each, or null. */
export interface StoredTracks {
  tracks: PoseTracks;
  rootMotions: (Float32Array | null)[];
}

/**
 * Stores clips as keys, each at its own frame rate. Clips of linear and stepped tracks whose keys are on frames are exact at any
 * time. Others (splines, Euler angles, keys at odd times) are sampled at ever higher rates until `maxError` holds; so are
 * clips from which turns are extracted. Additive clips keep their root motion.
 *
 * @returns What tracks cannot hold, in words, if there is such a thing.
 */
export function* bakeTracks(
  character: BakedCharacter,
  clips: readonly PlannedClip[],
  { size, maxError, morphs, extractor, inPlace }: TrackOptions,
): Generator<number, StoredTracks | string, void> {
  const { rig, boxes } = character;
  const reader = new ClipReader(rig, size, morphs);
  const packer = new TrackPacker(rig, morphs);
  const sampler = new PoseSampler(rig);
  let mover: ChannelMover | null = null;
  if (extractor !== null) {
    const nodes = nodesToMove(rig, extractor.node, boxes);
    if (nodes === null) return 'root motion of a joint below one that vertices follow';
    mover = new ChannelMover(rig, extractor, nodes, reader);
  }

  const stored: StoredClip[] = [];
  for (const [i, planned] of clips.entries()) {
    const { clip, name } = planned;
    let one = yield* reader.store(clip);
    const moves = mover !== null && inPlace.has(name) && clip.blendMode !== AdditiveAnimationBlendMode;
    if (one === null || moves) {
      sampler.setClip(clip);
      let fps = one === null ? reader.firstRate(clip) : one.fps;
      one ??= yield* reader.sample(clip, fps);
      for (;;) {
        if (one === null)
          return `clip "${clip.name}" of ${clip.duration} s, which takes more than ${MAX_TRACK_TEXELS} keys`;
        if (mover !== null && moves && !(yield* mover.move(one, sampler, clip.duration)))
          return 'turns below uneven scale';
        const alone = yield* packer.pack([planned], [one]);
        one.error = (yield* trackError(alone, sampler, character, one.rootMotion)) / size;
        fps *= 2;
        if (one.error <= maxError || one.frames === 1 || fps > MAX_FPS) break;
        const finer: StoredClip | null = yield* reader.sample(clip, fps);
        if (finer === null) break;
        one = finer;
      }
    }
    stored.push(one);
    yield (i + 1) / clips.length;
  }
  reader.skipped.warn();
  const tracks = yield* packer.pack(clips, stored);
  return { tracks, rootMotions: stored.map(({ rootMotion }) => rootMotion) };
}
