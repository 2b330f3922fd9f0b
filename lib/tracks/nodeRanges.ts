import { AFFINE_SIZE } from '../constants.js';
import { TRS_SIZE } from '../poses/Rig.js';
import { composeAffine } from '../utils/affine.js';
import {
  type PoseTracks,
  RANGES,
  ROTATION,
  readKey,
  SCALE,
  TRACK_ABSENT,
  TRACK_CONSTANT,
  TRACK_TEXEL,
  TRANSLATION,
  trackEntry,
} from './PoseTracks.js';

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
 * Makes a function that finds the range of a node, which holds until it is asked for another. Its second parameter is the index of
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
  const run = new KeyRun(tracks);

  const addToMean = (q: ArrayLike<number>, at: number) => {
    if (first[0] === 0 && first[1] === 0 && first[2] === 0 && first[3] === 0) {
      for (let i = 0; i < 4; i++) first[i] = q[at + i];
    }
    // q and -q are the same rotation.
    const sign = dot(first, 0, q, at) < 0 ? -1 : 1;
    for (let i = 0; i < 4; i++) mean[i] += sign * q[at + i];
  };

  const rangeOf = (node: number, only: number | undefined): NodeRange => {
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

    const from = only ?? 0;
    const to = only === undefined ? clips.length : only + 1;
    position.fill(Infinity, 0, 3).fill(-Infinity, 3);
    added.fill(0);
    if (showsRest(TRANSLATION)) grow(position, rest, 0);
    for (let clip = from; clip < to; clip++) {
      const { keys, at, step, end } = run.find(clip, node, TRANSLATION);
      const { additive } = clips[clip];
      if (additive) ofClip.fill(0);
      for (let key = at; key < end; key += step) grow(additive ? ofClip : position, keys, key);
      // Several additive clips may play in full at once.
      if (additive) for (let i = 0; i < 6; i++) added[i] += ofClip[i];
    }
    for (let i = 0; i < 6; i++) position[i] += layers * added[i];

    first.fill(0);
    mean.fill(0);
    if (showsRest(ROTATION)) addToMean(rest, 3);
    let addedAngle = 0;
    for (let clip = from; clip < to; clip++) {
      const { keys, at, step, end } = run.find(clip, node, ROTATION);
      if (!clips[clip].additive) {
        for (let key = at; key < end; key += step) addToMean(keys, key);
        continue;
      }
      // Of each additive clip its largest angle counts.
      let addedCosine = 1;
      for (let key = at; key < end; key += step) addedCosine = Math.min(addedCosine, Math.abs(keys[key + 3]));
      addedAngle += 2 * Math.acos(addedCosine);
    }
    const length = Math.sqrt(dot(mean, 0, mean, 0));
    for (let i = 0; i < 4; i++) mean[i] /= length;

    let cosine = showsRest(ROTATION) ? Math.abs(dot(mean, 0, rest, 3)) : 1;
    for (let clip = from; clip < to; clip++) {
      if (clips[clip].additive) continue;
      const { keys, at, step, end } = run.find(clip, node, ROTATION);
      for (let key = at; key < end; key += step) cosine = Math.min(cosine, Math.abs(dot(mean, 0, keys, key)));
    }
    range.angle = 2 * Math.acos(Math.min(cosine, 1)) + layers * addedAngle;

    range.scale = largest(rest, 7);
    let addedScale = 0;
    for (let clip = from; clip < to; clip++) {
      const { keys, at, step, end } = run.find(clip, node, SCALE);
      for (let key = at; key < end; key += step) {
        const size = largest(keys, key);
        let changes = size > 0;
        if (clips[clip].additive) {
          addedScale += size;
        } else {
          range.scale = Math.max(range.scale, size);
          changes = differs(keys, key, rest, 7);
        }
        if (changes) range.angle = Infinity;
      }
    }
    range.scale += layers * addedScale;

    trs.set(mean, 3);
    trs.set(rest.subarray(7), 7);
    composeAffine(trs, 0, middle, 0);
    return range;
  };

  // Nodes that a clip holds still mostly stand as in the clip before, or as at rest.
  const stills: (StillRange | undefined)[] = [];
  return (node, only) => {
    if (only === undefined || clips[only].additive) return rangeOf(node, only);
    const rotation = trackEntry(tracks, only, node, ROTATION);
    const translation = trackEntry(tracks, only, node, TRANSLATION);
    const scale = trackEntry(tracks, only, node, SCALE);
    if (!(isStill(rotation) && isStill(translation) && isStill(scale))) return rangeOf(node, only);
    const still = stills[node];
    if (still?.rotation === rotation && still.translation === translation && still.scale === scale) {
      return still.range;
    }
    const found = rangeOf(node, only);
    const copy = { ...found, position: found.position.slice(), middle: found.middle.slice() };
    stills[node] = { rotation, translation, scale, range: copy };
    return copy;
  };
}

/** The range of a node that does not move, and the table's entries which say so. */
interface StillRange {
  rotation: number;
  translation: number;
  scale: number;
  range: NodeRange;
}

/** Whether a table entry is that of a track that does not move, or of none. */
const isStill = (entry: number): boolean => entry === TRACK_ABSENT || (entry & TRACK_CONSTANT) !== 0;

/** The keys of one property of a node in a clip: every `step` numbers of an array, from `at` up to `end`. */
class KeyRun {
  keys: ArrayLike<number> = [];
  at = 0;
  step = 0;
  end = 0;
  /** Keys of 16 bits as numbers. */
  private decoded = new Float64Array(0);

  constructor(private readonly tracks: PoseTracks) {}

  /** Finds them; there are none where the clip has no track. The object is the same for all calls. */
  find(clip: number, node: number, property: number): this {
    const { tracks } = this;
    const entry = trackEntry(tracks, clip, node, property);
    const { stride, frames } = tracks.clips[clip];
    const count = entry === TRACK_ABSENT ? 0 : entry & TRACK_CONSTANT ? 1 : frames;
    const texel = entry & TRACK_TEXEL;
    const isFloat = tracks.shorts === null;
    this.at = isFloat ? texel * 4 : 0;
    this.step = isFloat ? Math.max(stride, 1) * 4 : 4;
    this.end = this.at + count * this.step;
    this.keys = isFloat ? tracks.keys : this.decode(entry, clip, node, property, count);
    return this;
  }

  private decode(entry: number, clip: number, node: number, property: number, count: number): Float64Array {
    const { tracks } = this;
    if (this.decoded.length < count * 4) this.decoded = new Float64Array(count * 4);
    const ranges = trackEntry(tracks, clip, node, RANGES);
    for (let i = 0; i < count; i++) {
      const texel = (entry & TRACK_TEXEL) + i * tracks.clips[clip].stride;
      readKey(tracks, entry, ranges, property, texel, _key);
      this.decoded.set(_key, i * 4);
    }
    return this.decoded;
  }
}

const _key = /*@__PURE__*/ new Float64Array(4);

/** Whether three numbers differ from others. */
function differs(a: ArrayLike<number>, at: number, b: ArrayLike<number>, bAt: number): boolean {
  for (let i = 0; i < 3; i++) if (Math.abs(a[at + i] - b[bAt + i]) >= SCALE_EPSILON) return true;
  return false;
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
