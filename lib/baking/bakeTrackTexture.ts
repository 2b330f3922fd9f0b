import { Box3, Vector3 } from 'three';
import { AFFINE_SIZE } from '../constants.js';
import type { BoneTextureData, Precision } from '../encodings/BoneTextureData.js';
import { boxToArray } from '../poses/BoxArray.js';
import type { BakedClip } from '../poses/ClipTable.js';
import { expandByPose } from '../poses/jointBoxes.js';
import { reachBounds } from '../tracks/reachBounds.js';
import {
  MAX_TRACK_TEXELS,
  SHORTS_PER_ROW,
  TRACK_ROW,
  trackSize,
  trackTexelSteps,
} from '../tracks/trackTexels.js';
import { warnOnce } from '../utils/warnOnce.js';
import type { BakedCharacter } from './BakedCharacter.js';
import { bakeTracks } from './bakeTracks.js';
import { checkPose } from './checkPose.js';
import { jointBinds } from './collectRig.js';
import type { RootMotionExtractor } from './extractRootMotion.js';
import { PoseSampler } from './PoseSampler.js';
import type { PlannedClip } from './planClips.js';
import { shortenKeys } from './shortenKeys.js';

const NAME = 'BoneTexture.bake';

/** What baking into tracks needs. */
export interface TrackBake extends BakedCharacter {
  planned: readonly PlannedClip[];
  maxTextureSize: number;
  maxError: number;
  precision: Precision;
  /** Whether clips move morph targets. */
  morphs: boolean;
  /** Extracts root motion from clips; null if it is to stay in them. */
  extractor: RootMotionExtractor | null;
  /** Names of the clips from which it is extracted. */
  inPlace: ReadonlySet<string>;
}

/**
 * Bakes clips into tracks.
 *
 * @param mayFail Whether another encoding can take their place, so that those which are too large are no error.
 * @returns What tracks cannot hold, in words, if the character has such a thing.
 * @throws If the texture gets too large.
 */
export function* bakeTrackTexture(
  bake: TrackBake,
  mayFail: boolean,
): Generator<number, BoneTextureData | string, void> {
  const { planned, rig, boxes, maxTextureSize, maxError, morphs, precision } = bake;
  if (rig.jointMeshes.some((mesh) => mesh?.bindInverse)) return 'skins in detached bind mode';
  if (rig.jointMeshes.some((mesh) => mesh !== null)) return 'meshes that clips mirror or flatten';

  const restBounds = new Box3();
  const pose = new Float64Array(rig.jointNames.length * AFFINE_SIZE);
  new PoseSampler(rig).sample(0, pose);
  checkPose(rig, pose, 'the rest pose');
  expandByPose(restBounds, boxes, pose);
  const extent = restBounds.getSize(new Vector3());
  const size = Math.max(extent.x, extent.y, extent.z) || 1;

  const stored = yield* bakeTracks(bake, planned, { ...bake, size });
  if (typeof stored === 'string') return stored;
  yield 1;
  const tracks = precision === 'half' ? yield* shortenKeys(stored.tracks) : stored.tracks;
  if (trackSize(tracks) > MAX_TRACK_TEXELS) {
    if (mayFail) return 'so much';
    throw new Error(
      `${NAME}: the tracks have ${trackSize(tracks)} keys, and there may be ${MAX_TRACK_TEXELS}; bake fewer clips, or several bone textures.`,
    );
  }
  const { texels, height } = yield* trackTexelSteps(tracks);
  yield 1;
  const rows = Math.max(height, (tracks.shorts?.length ?? 0) / SHORTS_PER_ROW);
  if (TRACK_ROW > maxTextureSize || rows > maxTextureSize) {
    if (mayFail) return 'so much';
    throw new Error(
      `${NAME}: tracks need a texture of ${TRACK_ROW} × ${rows}, but maxTextureSize is ${maxTextureSize}; bake fewer clips, or allow a larger texture where devices have it.`,
    );
  }
  // Not before: another encoding may have to take their place.
  for (const { name, error, fps } of tracks.clips) {
    if (error <= maxError) continue;
    warnOnce(
      `${NAME}: clip "${name}" is off by up to ${error.toExponential(1)} of the character's size, more than maxError (${maxError}): its curves or key times are finer than ${Math.round(fps)} frames per second hold.`,
    );
  }
  const boundsOf = reachBounds(tracks, boxes);
  const clips: BakedClip[] = [];
  for (const [i, { name, duration, fps, frames }] of tracks.clips.entries()) {
    const bounds = boxToArray(boundsOf(i));
    const rootMotion = stored.rootMotions[i];
    clips.push({ name, start: i + 1, count: frames, duration, fps, bounds, rootMotion, markers: [] });
    yield 1;
  }
  return {
    texels,
    layout: { width: TRACK_ROW, height, stride: TRACK_ROW },
    frames: tracks.clips.reduce((sum, { frames }) => sum + frames, 1),
    encoding: 'tracks',
    precision,
    clips,
    jointNames: rig.jointNames,
    jointBinds: jointBinds(rig),
    flips: [],
    morphNames: morphs ? rig.morphNames : [],
    restBounds: boxToArray(restBounds),
    jointBoxes: boxes,
    tracks,
  };
}
