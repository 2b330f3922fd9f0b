import { AdditiveAnimationBlendMode, Box3, NormalAnimationBlendMode, Vector3 } from 'three';
import type { BakedClip } from '../animation/ClipTable.js';
import { clipBounds } from '../animation/clipBounds.js';
import { boxToArray, expandByPose, farthestCorner } from '../animation/jointBoxes.js';
import { createPoseMix } from '../animation/mixPose.js';
import { type PoseTracks, storedFrame } from '../animation/PoseTracks.js';
import { TrackReader, trackSource } from '../animation/trackSource.js';
import {
  MAX_TRACK_TEXELS,
  SHORTS_PER_ROW,
  TRACK_ROW,
  trackSize,
  trackTexelSteps,
} from '../animation/trackTexels.js';
import { AFFINE_SIZE } from '../constants.js';
import { warnOnce } from '../utils/messages.js';
import type { Steps } from '../utils/slices.js';
import type { Encoding, Poses, RigBake } from './BakeOptions.js';
import { findChangedParts } from './measureParts.js';
import { packTracks, shortenKeys } from './packTracks.js';
import { bakedClip } from './planClips.js';
import { channelsOn, type KeyedClip, type KeyRate, keyRate, readKeys } from './readKeys.js';
import { checkPose, type Skeleton, skeletonOf } from './skeleton.js';

/** Frames per second above which clips are not sampled, however large their error is. */
const MAX_FPS = 480;

/** A clip is dear that takes more bytes than this, and so many times as many as its keys. */
const DEAR = 1e6;
const DEARER = 4;
const BYTES_PER_KEY = 16;

/**
 * Where on the way between two frames errors are measured: half-way, where a straight line is furthest from a bow, near where it is from
 * a way that eases in and out, and shortly before the end, where jumps show.
 */
const MEASURED = [0.2, 0.5, 0.8, 0.98];

/** More than the way from one frame to the next may be divided into. */
const MOST_PARTS = 512;

/** Keys that are looked at where keys alone are stored and none is quite on its frame: those that are off furthest. */
const LOOKED_AT = 64;

/** Of an error that was not measured yet. */
const UNKNOWN = -1;

/** The clips' own keys, see `PoseTracks`. */
export const tracks: Encoding = {
  name: 'tracks',
  poseSource: trackSource,
  *findFlips(poser, clips) {
    const [first] = yield* findChangedParts(poser, clips);
    if (first === undefined) return [];
    const { nodes, parts } = poser.rig;
    throw holdError(
      `mesh "${nodes[parts[first.part].node].name}", whose scale is 0 or less ${
        first.clip === undefined ? 'at rest' : `in clip "${first.clip}"`
      }`,
      'keep it above 0, or ',
    );
  },
  bake: bakeTracks,
};

const holdError = (what: string, or = ''): Error =>
  new Error(
    `Tracks cannot hold ${what}; ${or}pass encoding: frames, which is imported beside bakeCharacter.`,
  );

/** Bakes clips into tracks. */
function* bakeTracks(bake: RigBake): Steps<Poses> {
  const { poser, boxes, maxTextureSize, maxError, morphNames, precision } = bake;
  const { rig } = poser;
  if (rig.jointMeshes.some((mesh) => mesh !== null)) throw holdError('skins in detached bind mode');

  const restBounds = new Box3();
  const pose = new Float64Array(rig.jointNames.length * AFFINE_SIZE);
  const skeleton = skeletonOf(poser, morphNames.length > 0);
  poser.play({ blendMode: NormalAnimationBlendMode }, []);
  poser.readJoints(pose);
  checkPose(rig, pose);
  expandByPose(restBounds, boxes, pose);
  const size = Math.max(...restBounds.getSize(new Vector3()).toArray()) || 1;

  const keyed = yield* readClips(bake, skeleton, size);
  let packed = yield* packTracks(skeleton, bake.clips, keyed);
  const bounds = yield* clipBounds(packed, boxes);
  if (precision === 'half') packed = yield* shortenKeys(packed);
  const { texels, height } = yield* trackTexelSteps(packed, boxes);
  yield 1;
  const rows = Math.max(height, (packed.shorts?.length ?? 0) / SHORTS_PER_ROW);
  const count = trackSize(packed);
  if (TRACK_ROW > maxTextureSize || rows > maxTextureSize || count > MAX_TRACK_TEXELS) {
    throw new Error(
      `Tracks of ${count} keys need a texture of ${TRACK_ROW} × ${rows}, but there may be ${MAX_TRACK_TEXELS}, and maxTextureSize is ${maxTextureSize}; bake fewer clips, or allow a larger texture.`,
    );
  }
  const clips: BakedClip[] = [];
  for (const [i, { name, duration, fps, frames, stride, error }] of packed.clips.entries()) {
    const bytes = frames * stride * BYTES_PER_KEY;
    const given = bake.clips[i].clip.tracks.reduce((sum, { values }) => sum + values.length * 4, 0);
    if (bytes > Math.max(DEAR, given * DEARER)) {
      warnOnce(
        `Clip "${name}" takes ${(bytes / 1e6).toFixed(1)} MB, ${Math.round(bytes / given)} times as much as its keys; allow a larger maxError (${maxError}), or resample its tracks at one frame rate.`,
      );
    }
    if (error > maxError) {
      warnOnce(
        `Clip "${name}" is off by up to ${error.toExponential(1)} of the character's size, more than maxError (${maxError}): its curves or key times are finer than ${Math.round(fps)} frames per second hold.`,
      );
    }
    const count = Math.round(duration * fps) + 1;
    clips.push(bakedClip({ name, start: i + 1, count, duration }, bounds[i + 1], keyed[i].rootMotion));
  }
  return {
    texels,
    layout: { width: TRACK_ROW, height, stride: TRACK_ROW },
    frames: packed.clips.reduce((sum, { frames }) => sum + frames, 1),
    clips,
    restBounds: boxToArray(restBounds),
    tracks: packed,
  };
}

/**
 * Reads the keys of clips, each at its own frame rate. Clips of linear and stepped tracks whose keys are on frames are exact at any
 * time. Others (splines, Euler angles, keys at odd times) are sampled at ever higher rates until `maxError` holds; so are
 * clips from which turns are extracted. Additive clips keep their root motion.
 */
function* readClips(bake: RigBake, skeleton: Skeleton, size: number): Steps<KeyedClip[]> {
  const { poser, boxes, clips, maxError, extractor } = bake;
  const moved = extractor?.moved(skeleton, boxes);
  if (moved === null) throw holdError('root motion of a joint below one that vertices follow');

  const keyed: KeyedClip[] = [];
  for (const [i, planned] of clips.entries()) {
    const { clip } = planned;
    const channels = channelsOn(skeleton, planned);
    let rate = keyRate(channels, clip.duration);
    const isMoved = extractor?.inPlace.has(planned.name) && clip.blendMode !== AdditiveAnimationBlendMode;
    const way = isMoved ? extractor : null;
    // Root motion has one place for each frame.
    if (way) rate.parts = rate.times = null;
    let one = yield* readKeys(skeleton, poser, channels, clip, rate, size);
    if (one === null) {
      throw holdError(
        `clip "${clip.name}" of ${clip.duration} s, which takes more than ${MAX_TRACK_TEXELS} keys`,
      );
    }
    if (!rate.isExact || way) {
      let errors = errorsOf(rate, one, clip.duration);
      for (;;) {
        poser.play(clip, planned.channels);
        if (way && moved && !(yield* way.moveKeys(poser, skeleton, moved, one, clip.duration, size)))
          throw holdError('turns below uneven scale');
        const alone = yield* packTracks(skeleton, [planned], [one]);
        const errorsNow = way ? new Float64Array(one.frames - 1).fill(UNKNOWN) : errors;
        yield* measureErrors(alone, bake, size, one.rootMotion, errorsNow);
        one.error = errorsNow.reduce((most, error) => Math.max(most, error), 0) / size;
        if (one.error <= maxError || one.frames === 1) break;
        const { times } = rate;
        if (times !== null) rate = keyRate(channels, clip.duration, true);
        else if (rate.parts === null) rate.fps *= 2;
        else if (!divideFurther(rate.parts, rate.fps, errors, maxError * size)) break;
        if (rate.fps > MAX_FPS) break;
        const finer: KeyedClip | null = yield* readKeys(skeleton, poser, channels, clip, rate, size);
        if (finer === null) break;
        one = finer;
        if (times !== null) errors = errorsOf(rate, one, clip.duration);
      }
    }
    keyed.push(one);
    yield (i + 1) / clips.length;
  }
  return keyed;
}

/** An error for the way from each frame to the next. Where keys alone are stored, they are to be measured around those whose frames matter most. */
function errorsOf({ times, off }: KeyRate, { fps, channels }: KeyedClip, duration: number): Float64Array {
  const ways = Math.round(duration * fps);
  if (times === null) return new Float64Array(ways).fill(UNKNOWN);
  const errors = new Float64Array(ways);
  const matters = off.map((part, key) => {
    let moved = 0;
    for (const { values, size, isConstant } of channels)
      for (let i = key * size; i < (key + 1) * size && !isConstant; i++)
        moved += Math.abs((values[i + size] ?? values[i]) - (values[i - size] ?? values[i]));
    return part * moved;
  });
  const most = [...times.keys()].sort((a, b) => matters[b] - matters[a]).slice(0, LOOKED_AT);
  for (const key of most) errors[Math.min(Math.floor(times[key] * fps), ways - 1)] = UNKNOWN;
  return errors;
}

/** Divides the ways between frames on which the error is too large; false if there are none, or they are divided enough. */
function divideFurther(parts: Float64Array, fps: number, errors: Float64Array, most: number): boolean {
  let divides = false;
  errors.forEach((error, slot) => {
    if (error <= most || parts[slot] * fps > MAX_FPS || parts[slot] * 2 >= MOST_PARTS) return;
    parts[slot] *= 2;
    errors[slot] = UNKNOWN;
    divides = true;
  });
  return divides;
}

/**
 * Measures the error of a clip's tracks between their frames: how far they put the corners of the joints' boxes from where the clip
 * itself puts them, in scene units.
 *
 * @param alone Of this clip alone.
 * @param size Of the character: a morph target may move vertices as far.
 * @param rootMotion The way that was taken out of the tracks, or null.
 * @param errors One for the way from each frame to the next; those that are `UNKNOWN` are measured.
 */
function* measureErrors(
  alone: PoseTracks,
  { poser, boxes, extractor }: RigBake,
  size: number,
  rootMotion: Float32Array | null,
  errors: Float64Array,
): Steps<void> {
  const { jointNames, morphRest } = poser.rig;
  const [clip] = alone.clips;
  const reader = new TrackReader(alone);
  const mix = createPoseMix();
  const [shown] = mix.clips;
  shown.start = 1;
  const actual = new Float64Array(AFFINE_SIZE);
  const expected = new Float64Array(jointNames.length * AFFINE_SIZE);
  const influences = new Float64Array(alone.morphRest.length && morphRest.length);
  let worst = 0;
  const measure = (frame: number, alpha: number) => {
    poser.sample((frame + alpha) / clip.fps);
    poser.readJoints(expected);
    if (rootMotion !== null) extractor?.moveBack(rootMotion, frame, alpha, expected);
    shown.frame0 = frame + 1;
    shown.alpha = alpha;
    reader.pose(mix);
    reader.readMorphs(influences);
    const played = poser.morphs();
    influences.forEach((influence, i) => {
      worst = Math.max(worst, Math.abs(played[i] - morphRest[i] - influence) * size);
    });
    for (let joint = 0; joint < jointNames.length; joint++) {
      if (boxes[joint * 6] > boxes[joint * 6 + 3]) continue;
      reader.jointMatrix(joint, actual, 0);
      for (let i = 0; i < AFFINE_SIZE; i++) actual[i] -= expected[joint * AFFINE_SIZE + i];
      worst = Math.max(worst, farthestCorner(boxes, joint, actual, 0));
    }
  };
  for (let frame = 0; frame < errors.length; frame++) {
    if (errors[frame] !== UNKNOWN) continue;
    worst = 0;
    const parts = Math.max(1, Math.round(storedFrame(clip, frame + 1) - storedFrame(clip, frame)));
    for (let part = 0; part < parts; part++)
      for (const place of MEASURED) measure(frame, (part + place) / parts);
    errors[frame] = worst;
    if (frame % 4 === 3) yield 0;
  }
}
