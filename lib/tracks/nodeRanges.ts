import { AFFINE_SIZE } from '../constants.js';
import { TRS_SIZE } from '../poses/Rig.js';
import { composeAffine } from '../utils/affine.js';
import {
  type PoseTracks,
  RANGES,
  ROTATION,
  SCALE,
  TRACK_ABSENT,
  TRACK_CONSTANT,
  TRACK_TEXEL,
  TRANSLATION,
  trackEntry,
} from './PoseTracks.js';
import { readKey } from './readKey.js';

/** Scales that differ by less are the same. */
const SCALE_EPSILON = 1e-6;

/** How clips may place a node relative to its parent. */
export interface NodeRange {
  /** A box around its positions: least x, y, z, then greatest. */
  position: Float64Array;
  /** The most it may be scaled by in any direction. */
  scale: number;
  /** The most that clips turn it away from its middle rotation, in radians; infinite if they scale it. */
  angle: number;
  /** Its middle rotation and its scale at rest: 12 numbers. */
  middle: Float64Array;
}

/**
 * Makes a function that finds the range of a node, and returns the same object each time. Its second parameter is the index of
 * the one clip that plays, and plays alone; undefined for any mixture of all clips and the rest pose.
 *
 * @param layers Layers on which clips may play: an additive one may be added on each.
 */
export function nodeRanges(
  tracks: PoseTracks,
  layers = 1,
): (node: number, only: number | undefined) => NodeRange {
  const { clips, fixed } = tracks;
  const position = new Float64Array(6);
  const added = new Float64Array(6);
  const ofClip = new Float64Array(6);
  const middle = new Float64Array(AFFINE_SIZE);
  const trs = new Float64Array(TRS_SIZE);
  const mean = new Float64Array(4);
  const first = new Float64Array(4);
  const range: NodeRange = { position, middle, scale: 1, angle: 0 };

  return (node, only) => {
    if (!Number.isNaN(fixed[node * AFFINE_SIZE])) {
      middle.set(fixed.subarray(node * AFFINE_SIZE, (node + 1) * AFFINE_SIZE));
      let squares = 0;
      for (let i = 0; i < AFFINE_SIZE; i++) {
        if (i % 4 < 3) squares += middle[i] ** 2;
        else position[i >> 2] = position[3 + (i >> 2)] = middle[i];
      }
      range.scale = Math.sqrt(squares);
      range.angle = 0;
      return range;
    }

    const rest = tracks.rest.subarray(node * TRS_SIZE, (node + 1) * TRS_SIZE);
    // A clip that plays alone leaves nothing of the rest pose in the properties that it has tracks for.
    const showsRest = (property: number) =>
      only === undefined || clips[only].additive || trackEntry(tracks, only, node, property) === TRACK_ABSENT;

    position.fill(Infinity, 0, 3).fill(-Infinity, 3);
    added.fill(0);
    if (showsRest(TRANSLATION)) grow(position, rest, 0);
    ofClip.fill(0);
    let lastClip = -1;
    forEachKey(tracks, only, node, TRANSLATION, (keys, at, clip) => {
      if (!clips[clip].additive) {
        grow(position, keys, at);
        return;
      }
      // Several additive clips may play in full at once.
      if (clip !== lastClip) {
        for (let i = 0; i < 6; i++) added[i] += ofClip[i];
        ofClip.fill(0);
        lastClip = clip;
      }
      grow(ofClip, keys, at);
    });
    for (let i = 0; i < 6; i++) position[i] += layers * (added[i] + ofClip[i]);

    first.fill(0);
    const addToMean = (q: ArrayLike<number>, at: number) => {
      if (first.every((value) => value === 0)) for (let i = 0; i < 4; i++) first[i] = q[at + i];
      // q and -q are the same rotation.
      const sign = dot(first, 0, q, at) < 0 ? -1 : 1;
      for (let i = 0; i < 4; i++) mean[i] += sign * q[at + i];
    };
    mean.fill(0);
    if (showsRest(ROTATION)) addToMean(rest, 3);
    let addedAngle = 0;
    let addedCosine = 1;
    let addedClip = -1;
    forEachKey(tracks, only, node, ROTATION, (keys, at, clip) => {
      if (!clips[clip].additive) {
        addToMean(keys, at);
        return;
      }
      // Of each additive clip its largest angle counts.
      if (clip !== addedClip) {
        addedAngle += 2 * Math.acos(addedCosine);
        addedCosine = 1;
        addedClip = clip;
      }
      addedCosine = Math.min(addedCosine, Math.abs(keys[at + 3]));
    });
    const length = Math.sqrt(dot(mean, 0, mean, 0));
    for (let i = 0; i < 4; i++) mean[i] /= length;

    let cosine = showsRest(ROTATION) ? Math.abs(dot(mean, 0, rest, 3)) : 1;
    forEachKey(tracks, only, node, ROTATION, (keys, at, clip) => {
      if (!clips[clip].additive) cosine = Math.min(cosine, Math.abs(dot(mean, 0, keys, at)));
    });
    addedAngle += 2 * Math.acos(addedCosine);
    range.angle = 2 * Math.acos(Math.min(cosine, 1)) + layers * addedAngle;

    range.scale = largest(rest, 7);
    let addedScale = 0;
    forEachKey(tracks, only, node, SCALE, (keys, at, clip) => {
      const size = largest(keys, at);
      let changes = size > 0;
      if (clips[clip].additive) {
        addedScale += size;
      } else {
        range.scale = Math.max(range.scale, size);
        changes = [0, 1, 2].some((i) => Math.abs(keys[at + i] - rest[7 + i]) >= SCALE_EPSILON);
      }
      if (changes) range.angle = Infinity;
    });
    range.scale += layers * addedScale;

    trs.set(mean, 3);
    trs.set(rest.subarray(7), 7);
    composeAffine(trs, 0, middle, 0);
    return range;
  };
}

const _key = /*@__PURE__*/ new Float64Array(4);

/** Calls back with each key of a property: an array, and where in it the key is. */
function forEachKey(
  tracks: PoseTracks,
  only: number | undefined,
  node: number,
  property: number,
  callback: (keys: ArrayLike<number>, at: number, clip: number) => void,
): void {
  const { clips, keys, shorts } = tracks;
  const end = only === undefined ? clips.length : only + 1;
  for (let clip = only ?? 0; clip < end; clip++) {
    const entry = trackEntry(tracks, clip, node, property);
    if (entry === TRACK_ABSENT) continue;
    const { stride, frames } = clips[clip];
    const count = entry & TRACK_CONSTANT ? 1 : frames;
    const ranges = trackEntry(tracks, clip, node, RANGES);
    for (let i = 0; i < count; i++) {
      const texel = (entry & TRACK_TEXEL) + i * stride;
      if (shorts === null) {
        callback(keys, texel * 4, clip);
      } else {
        readKey(tracks, entry, ranges, property, texel, _key);
        callback(_key, 0, clip);
      }
    }
  }
}

function dot(a: ArrayLike<number>, at: number, b: ArrayLike<number>, bAt: number): number {
  return a[at] * b[bAt] + a[at + 1] * b[bAt + 1] + a[at + 2] * b[bAt + 2] + a[at + 3] * b[bAt + 3];
}

/** Grows a box of six numbers by a point. */
function grow(box: Float64Array, point: ArrayLike<number>, at: number): void {
  for (let i = 0; i < 3; i++) {
    box[i] = Math.min(box[i], point[at + i]);
    box[i + 3] = Math.max(box[i + 3], point[at + i]);
  }
}

/** The largest of three numbers, whatever their signs. */
function largest(values: ArrayLike<number>, at: number): number {
  return Math.max(Math.abs(values[at]), Math.abs(values[at + 1]), Math.abs(values[at + 2]));
}
