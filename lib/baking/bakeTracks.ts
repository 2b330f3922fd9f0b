import { AdditiveAnimationBlendMode, Box3, Vector3 } from 'three';
import { jointBinds } from '../character/collectRig.js';
import { AFFINE_SIZE } from '../constants.js';
import type { BoneTextureData } from '../encodings/BoneTextureData.js';
import { boxToArray } from '../poses/BoxArray.js';
import type { BakedClip } from '../poses/ClipTable.js';
import { expandByPose } from '../poses/jointBoxes.js';
import { trackSource } from '../sources/trackSource.js';
import type { PoseTracks } from '../tracks/PoseTracks.js';
import { reachBounds } from '../tracks/reachBounds.js';
import {
  MAX_TRACK_TEXELS,
  SHORTS_PER_ROW,
  TRACK_ROW,
  trackSize,
  trackTexelSteps,
} from '../tracks/trackTexels.js';
import type { Steps } from '../utils/steps.js';
import { warnOnce } from '../utils/warnOnce.js';
import type { RigBake } from './bakeRig.js';
import { ClipReader, type StoredClip } from './ClipReader.js';
import { findChangedParts } from './changedParts.js';
import type { Encoding } from './Encoding.js';
import { checkPose, PoseSampler } from './PoseSampler.js';
import { shortenKeys } from './shortenKeys.js';
import { TrackPacker } from './TrackPacker.js';
import { trackError } from './trackError.js';

/** Frames per second above which clips are not sampled, however large their error is. */
const MAX_FPS = 480;

/** The clips' own keys, see `PoseTracks`. */
export const tracks: Encoding = {
  name: 'tracks',
  poseSource: trackSource,
  *findFlips(rig, clips) {
    if ((yield* findChangedParts(rig, clips)).length > 0)
      throw cannotHold('meshes that clips mirror or flatten');
    return [];
  },
  bake: bakeTrackTexture,
};

const cannotHold = (what: string): Error =>
  new Error(`Tracks cannot hold ${what}; pass encoding: frames, which is imported beside bakeCharacter.`);

/** Bakes clips into tracks. */
function* bakeTrackTexture(bake: RigBake): Steps<BoneTextureData> {
  const { rig, boxes, maxTextureSize, maxError, morphs, precision } = bake;
  if (rig.jointMeshes.some((mesh) => mesh !== null)) throw cannotHold('skins in detached bind mode');

  const restBounds = new Box3();
  const pose = new Float64Array(rig.jointNames.length * AFFINE_SIZE);
  const sampler = new PoseSampler(rig);
  sampler.sample(0, pose);
  checkPose(rig, pose, 'the rest pose');
  expandByPose(restBounds, boxes, pose);
  const extent = restBounds.getSize(new Vector3());
  const size = Math.max(extent.x, extent.y, extent.z) || 1;

  const { tracks: whole, stored } = yield* storeClips(bake, sampler, size);
  yield 1;
  const kept = precision === 'half' ? yield* shortenKeys(whole) : whole;
  if (trackSize(kept) > MAX_TRACK_TEXELS) {
    throw new Error(
      `The tracks have ${trackSize(kept)} keys, and there may be ${MAX_TRACK_TEXELS}; bake fewer clips, or several bone textures.`,
    );
  }
  const { texels, height } = yield* trackTexelSteps(kept);
  yield 1;
  const rows = Math.max(height, (kept.shorts?.length ?? 0) / SHORTS_PER_ROW);
  if (TRACK_ROW > maxTextureSize || rows > maxTextureSize) {
    throw new Error(
      `Tracks need a texture of ${TRACK_ROW} × ${rows}, but maxTextureSize is ${maxTextureSize}; bake fewer clips, or allow a larger texture where devices have it.`,
    );
  }
  for (const { name, error, fps } of kept.clips) {
    if (error <= maxError) continue;
    warnOnce(
      `Clip "${name}" is off by up to ${error.toExponential(1)} of the character's size, more than maxError (${maxError}): its curves or key times are finer than ${Math.round(fps)} frames per second hold.`,
    );
  }
  const boundsOf = reachBounds(kept, boxes);
  const clips: BakedClip[] = [];
  for (const [i, { name, duration, fps, frames }] of kept.clips.entries()) {
    const bounds = boxToArray(boundsOf(i));
    const { rootMotion } = stored[i];
    clips.push({ name, start: i + 1, count: frames, duration, fps, bounds, rootMotion, markers: [] });
    yield 1;
  }
  return {
    texels,
    layout: { width: TRACK_ROW, height, stride: TRACK_ROW },
    frames: kept.clips.reduce((sum, { frames }) => sum + frames, 1),
    encoding: 'tracks',
    precision,
    clips,
    jointNames: rig.jointNames,
    jointBinds: jointBinds(rig),
    flips: [],
    morphNames: morphs ? rig.morphNames : [],
    restBounds: boxToArray(restBounds),
    jointBoxes: boxes,
    tracks: kept,
  };
}

/**
 * Stores clips as keys, each at its own frame rate. Clips of linear and stepped tracks whose keys are on frames are exact at any
 * time. Others (splines, Euler angles, keys at odd times) are sampled at ever higher rates until `maxError` holds; so are
 * clips from which turns are extracted. Additive clips keep their root motion.
 */
function* storeClips(
  bake: RigBake,
  sampler: PoseSampler,
  size: number,
): Steps<{ tracks: PoseTracks; stored: StoredClip[] }> {
  const { rig, boxes, planned: clips, maxError, morphs, extractor } = bake;
  const reader = new ClipReader(rig, size, morphs);
  const packer = new TrackPacker(rig, morphs);
  const mover = extractor?.channelMover(boxes, reader);
  if (mover === null) throw cannotHold('root motion of a joint below one that vertices follow');

  const stored: StoredClip[] = [];
  for (const [i, planned] of clips.entries()) {
    const { clip, name } = planned;
    let one = yield* reader.store(clip);
    const moves = extractor?.extracts(name) && clip.blendMode !== AdditiveAnimationBlendMode;
    if (one === null || moves) {
      sampler.setClip(clip);
      let fps = one === null ? reader.firstRate(clip) : one.fps;
      one ??= yield* reader.sample(clip, fps);
      for (;;) {
        if (one === null)
          throw cannotHold(
            `clip "${clip.name}" of ${clip.duration} s, which takes more than ${MAX_TRACK_TEXELS} keys`,
          );
        if (mover && moves && !(yield* mover.move(one, sampler, clip.duration)))
          throw cannotHold('turns below uneven scale');
        const alone = yield* packer.pack([planned], [one]);
        one.error = (yield* trackError(alone, sampler, bake, one.rootMotion)) / size;
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
  return { tracks: yield* packer.pack(clips, stored), stored };
}
