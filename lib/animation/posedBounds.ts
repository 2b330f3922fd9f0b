import { Box3 } from 'three';
import { AFFINE_SIZE } from '../constants.js';
import { composeAffine } from '../utils/affine.js';
import { createJointBoxes, expandByJoint, farthestCorner, type JointBoxes } from './jointBoxes.js';
import {
  type PoseTracks,
  PROPERTY_OFFSETS,
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
import { TRS_SIZE } from './Rig.js';

/** Scales that differ by less are the same. */
const SCALE_EPSILON = 1e-6;

/** What else than clips may place nodes. */
export interface PosedBeyondClips {
  readonly posedBounds: typeof posedBounds;
  /** Widens how a node may be placed by clips. */
  widen(
    node: number,
    range: {
      /** A box around its positions: least x, y, z, then greatest. */
      position: Float64Array;
      /** The most it may be scaled by in any direction. */
      scale: number;
      /** The most that clips turn it away from its middle rotation, in radians; infinite if they scale it. */
      angle: number;
      /** Its middle rotation and its scale at rest: 12 numbers, of which only the 3×3 part counts. */
      middle: Float64Array;
    },
  ): void;
  /**
   * Grows a box by the places relative to the root that a node may be put to.
   *
   * @param radius How far what hangs on the node is from it at most.
   */
  expandByPlaces(node: number, radius: number, target: Box3): void;
}

/**
 * A box which holds every vertex, whatever mixture of clips and of the rest pose plays on each node, as with layers and edits.
 * It is wide; see `clipBounds`.
 *
 * A mixture of rotations is no further from their middle than the furthest of them, as long as that is less than a right
 * angle: the shortest ways between rotations that near stay among them. So what hangs on a node is turned by at most that
 * angle from where the middle rotation puts it. Nodes that turn further may point anywhere, and what hangs on them may be
 * anywhere on a sphere. A mixture of positions lies between them. What additive clips add comes on top.
 *
 * @param jointBoxes Boxes of the vertices that follow each joint.
 * @param layers Layers on which clips may play.
 * @param beyond What else may pose the character.
 */
export function posedBounds(
  tracks: PoseTracks,
  jointBoxes: JointBoxes,
  layers: number,
  beyond: PosedBeyondClips | null,
): Box3 {
  const { parents, before, inverses, jointNodes } = tracks;
  // What hangs on each node by joints of its own, in the node's space: a box around it, and how far it is from the node.
  const boxes = Float64Array.from(createJointBoxes(parents.length));
  const extent = new Float64Array(parents.length);
  for (let joint = 0; joint < jointNodes.length; joint++) {
    if (jointBoxes[joint * 6] > jointBoxes[joint * 6 + 3]) continue;
    const box = new Box3();
    expandByJoint(box, jointBoxes, joint, inverses, joint * AFFINE_SIZE);
    const node = jointNodes[joint];
    grow(boxes, node * 6, [...box.min], [...box.max]);
    const farthest = farthestCorner(jointBoxes, joint, inverses, joint * AFFINE_SIZE);
    extent[node] = Math.max(extent[node], farthest);
  }
  const around = new Float64Array(6);
  const scales = new Float64Array(parents.length);

  const bounds = new Box3();
  // Children first, so that what hangs on a node, by those below it too, is known before it is placed.
  for (let node = parents.length - 1; node >= 0; node--) {
    if (boxes[node * 6] > boxes[node * 6 + 3]) continue;
    const range = rangeOf(tracks, node, layers);
    beyond?.widen(node, range);
    const { position, scale, angle, middle } = range;
    scales[node] = scale;
    const radius = extent[node] * scale;
    around.fill(-radius, 0, 3).fill(radius, 3);
    if (angle < Math.PI / 2) {
      turn(boxes, node * 6, middle, 2 * Math.sin(angle / 2) * radius, around);
    }
    for (let i = 0; i < 6; i++) around[i] += position[i];
    const parent = parents[node];
    if (parent === -1) {
      expandByJoint(bounds, around, 0, before, 0);
      break;
    }
    grow(boxes, parent * 6, around, around.subarray(3));
    extent[parent] = Math.max(extent[parent], farthest(position) + radius);
  }
  if (beyond === null) return bounds;

  // Parents first: how much all the nodes above a node scale what hangs on it.
  const outer = largestScale(before);
  for (let node = 0; node < parents.length; node++) {
    scales[node] *= parents[node] === -1 ? outer : scales[parents[node]];
    if (boxes[node * 6] <= boxes[node * 6 + 3]) {
      beyond.expandByPlaces(node, extent[node] * scales[node], bounds);
    }
  }
  return bounds;
}

/** Cuts a box to the one at `at` as a matrix turns and scales it, with a margin. */
function turn(
  boxes: Float64Array,
  at: number,
  matrix: Float64Array,
  margin: number,
  out: Float64Array,
): void {
  for (let row = 0; row < 3; row++) {
    let min = -margin;
    let max = margin;
    for (let column = 0; column < 3; column++) {
      const low = matrix[row * 4 + column] * boxes[at + column];
      const high = matrix[row * 4 + column] * boxes[at + 3 + column];
      min += Math.min(low, high);
      max += Math.max(low, high);
    }
    out[row] = Math.max(out[row], min);
    out[row + 3] = Math.min(out[row + 3], max);
  }
}

/** Grows the box of six numbers at `at` by a point, or by another box. */
function grow(
  boxes: Float64Array,
  at: number,
  least: ArrayLike<number>,
  most: ArrayLike<number> = least,
): void {
  for (let i = 0; i < 3; i++) {
    boxes[at + i] = Math.min(boxes[at + i], least[i]);
    boxes[at + i + 3] = Math.max(boxes[at + i + 3], most[i]);
  }
}

/** By how much a matrix scales in any direction, at most. */
function largestScale(matrix: Float64Array): number {
  return Math.hypot(
    ...[0, 1, 2].map((column) => Math.hypot(...[0, 4, 8].map((row) => matrix[row + column]))),
  );
}

/** How far a point of a box is from the origin at most. */
function farthest(box: Float64Array): number {
  const along = (axis: number) => Math.max(Math.abs(box[axis]), Math.abs(box[axis + 3]));
  return Math.hypot(along(0), along(1), along(2));
}

/** How any mixture of clips and the rest pose may place a node. */
function rangeOf(tracks: PoseTracks, node: number, layers: number) {
  const { clips, fixed } = tracks;
  const key = new Float64Array(4);
  const position = new Float64Array(6);
  const range = { position, middle: new Float64Array(AFFINE_SIZE), scale: 0, angle: 0 };
  const { middle } = range;
  if (!Number.isNaN(fixed[node * AFFINE_SIZE])) {
    middle.set(fixed.subarray(node * AFFINE_SIZE, (node + 1) * AFFINE_SIZE));
    for (let i = 0; i < AFFINE_SIZE; i++) {
      if (i % 4 < 3) range.scale = Math.hypot(range.scale, middle[i]);
      else position[i >> 2] = position[3 + (i >> 2)] = middle[i];
    }
    return range;
  }

  const rest = tracks.rest.slice(node * TRS_SIZE, (node + 1) * TRS_SIZE);
  /** Calls back with the rest and each key of a property in those clips that are added, or in the others. */
  const eachKey = (property: number, additive: boolean, visit: (clip: number) => void) => {
    const offset = PROPERTY_OFFSETS[property];
    key.set(rest.subarray(offset, offset + 4));
    if (!additive) visit(-1);
    for (const [clip, one] of clips.entries()) {
      const entry = trackEntry(tracks, clip, node, property);
      if (entry === TRACK_ABSENT || one.additive !== additive) continue;
      const ranges = trackEntry(tracks, clip, node, RANGES);
      const count = entry & TRACK_CONSTANT ? 1 : one.frames;
      for (let i = 0; i < count; i++) {
        readKey(tracks, entry, ranges, property, (entry & TRACK_TEXEL) + i * one.stride, key);
        visit(clip);
      }
    }
  };

  position.fill(Infinity, 0, 3).fill(-Infinity, 3);
  eachKey(TRANSLATION, false, () => grow(position, 0, key));
  // Several additive clips may play in full at once.
  const added = clips.map(() => new Float64Array(6));
  eachKey(TRANSLATION, true, (clip) => grow(added[clip], 0, key));
  for (const box of added) for (let i = 0; i < 6; i++) position[i] += layers * box[i];

  const mean = new Float64Array(4);
  const first = rest.slice(3, 7);
  eachKey(ROTATION, false, () => {
    // q and -q are the same rotation.
    const sign = dot(first, key) < 0 ? -1 : 1;
    for (let i = 0; i < 4; i++) mean[i] += sign * key[i];
  });
  const length = Math.sqrt(dot(mean, mean));
  for (let i = 0; i < 4; i++) mean[i] /= length;
  let cosine = 1;
  eachKey(ROTATION, false, () => {
    cosine = Math.min(cosine, Math.abs(dot(mean, key)));
  });
  // Of each additive clip its largest angle counts.
  const least = clips.map(() => 1);
  eachKey(ROTATION, true, (clip) => {
    least[clip] = Math.min(least[clip], Math.abs(key[3]));
  });
  range.angle = least.reduce((sum, one) => sum + layers * 2 * Math.acos(one), 2 * Math.acos(cosine));

  const scale = rest.slice(7);
  eachKey(SCALE, false, () => {
    range.scale = Math.max(range.scale, largest(key));
    if (scale.some((value, i) => Math.abs(value - key[i]) >= SCALE_EPSILON)) range.angle = Infinity;
  });
  eachKey(SCALE, true, () => {
    range.scale += layers * largest(key);
    if (largest(key) > 0) range.angle = Infinity;
  });
  rest.set(mean, 3);
  composeAffine(rest, 0, middle, 0);
  return range;
}

function dot(a: ArrayLike<number>, b: ArrayLike<number>): number {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
}

/** The largest of three numbers, whatever their signs. */
export const largest = (values: ArrayLike<number>, at = 0): number =>
  Math.max(Math.abs(values[at]), Math.abs(values[at + 1]), Math.abs(values[at + 2]));
