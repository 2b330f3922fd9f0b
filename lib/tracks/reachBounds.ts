import { Box3 } from 'three';
import { AFFINE_SIZE } from '../constants.js';
import { createJointBoxes, expandByJoint, type JointBoxes } from '../poses/jointBoxes.js';
import { type NodeRange, nodeRanges } from './nodeRanges.js';
import type { PoseTracks } from './PoseTracks.js';

/** What else than clips may place nodes. */
export interface PosedBeyondClips {
  /** Widens how a node may be placed by clips. */
  widen(node: number, range: NodeRange): void;
  /**
   * Grows a box by the places relative to the root that a node may be put to.
   *
   * @param radius How far what hangs on the node is from it at most.
   */
  expandByPlaces(node: number, radius: number, target: Box3): void;
}

export type ReachBounds = (only?: number, beyond?: PosedBeyondClips | null) => Box3;

/**
 * Makes a function that finds a box which holds every vertex, whatever mixture of clips plays. Its parameter is the index of
 * the one clip that plays, and plays alone; without it, any mixture of all clips and the rest pose may play. A second one
 * says what else may pose the character.
 *
 * A mixture of rotations is no further from their middle than the furthest of them, as long as that is less than a right
 * angle: the shortest ways between rotations that near stay among them. So what hangs on a node is turned by at most that
 * angle from where the middle rotation puts it. Nodes that turn further may point anywhere, and what hangs on them may be
 * anywhere on a sphere. A mixture of positions lies between them. What additive clips add comes on top.
 *
 * @param jointBoxes Boxes of the vertices that follow each joint.
 * @param layers Layers on which clips may play.
 */
export function reachBounds(tracks: PoseTracks, jointBoxes: JointBoxes, layers = 1): ReachBounds {
  const { parents, before, inverses, jointNodes } = tracks;
  const rangeOf = nodeRanges(tracks, layers);
  // What hangs on each node by joints of its own, in the node's space: a box around it, and how far it is from the node.
  const ownBoxes = Float64Array.from(createJointBoxes(parents.length));
  const ownReach = new Float64Array(parents.length);
  for (let joint = 0; joint < jointNodes.length; joint++) {
    if (jointBoxes[joint * 6] > jointBoxes[joint * 6 + 3]) continue;
    const box = new Box3();
    expandByJoint(box, jointBoxes, joint, inverses, joint * AFFINE_SIZE);
    const node = jointNodes[joint];
    unite(ownBoxes, node * 6, [...box.min, ...box.max]);
    ownReach[node] = Math.max(ownReach[node], farthestCorner(jointBoxes, joint, inverses));
  }
  const around = new Float64Array(6);
  const scales = new Float64Array(parents.length);

  return (only, beyond = null) => {
    // The same with what hangs on the nodes below it too.
    const boxes = ownBoxes.slice();
    const reach = ownReach.slice();
    const bounds = new Box3();
    // Children first: what hangs on a node has to be known before the node is placed.
    for (let node = parents.length - 1; node >= 0; node--) {
      if (boxes[node * 6] > boxes[node * 6 + 3]) continue;
      const range = rangeOf(node, only);
      beyond?.widen(node, range);
      const { position, scale, angle, middle } = range;
      scales[node] = scale;
      const radius = reach[node] * scale;
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
      unite(boxes, parent * 6, around);
      reach[parent] = Math.max(reach[parent], farthest(position) + radius);
    }
    if (beyond === null) return bounds;

    // Parents first: how much all the nodes above a node scale what hangs on it.
    const outer = largestScale(before);
    for (let node = 0; node < parents.length; node++) {
      scales[node] *= parents[node] === -1 ? outer : scales[parents[node]];
      if (boxes[node * 6] <= boxes[node * 6 + 3]) {
        beyond.expandByPlaces(node, reach[node] * scales[node], bounds);
      }
    }
    return bounds;
  };
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

/** Grows the box of six numbers at `at` by another. */
function unite(boxes: Float64Array, at: number, other: ArrayLike<number>): void {
  for (let i = 0; i < 3; i++) {
    boxes[at + i] = Math.min(boxes[at + i], other[i]);
    boxes[at + i + 3] = Math.max(boxes[at + i + 3], other[i + 3]);
  }
}

/** How far the corners of a joint's box are from the joint at most. */
function farthestCorner(boxes: JointBoxes, joint: number, inverses: Float64Array): number {
  const m = joint * AFFINE_SIZE;
  let most = 0;
  for (let corner = 0; corner < 8; corner++) {
    const x = boxes[joint * 6 + (corner & 1) * 3];
    const y = boxes[joint * 6 + 1 + ((corner >> 1) & 1) * 3];
    const z = boxes[joint * 6 + 2 + (corner >> 2) * 3];
    const along = [0, 4, 8].map((row) => {
      const at = m + row;
      return inverses[at] * x + inverses[at + 1] * y + inverses[at + 2] * z + inverses[at + 3];
    });
    most = Math.max(most, Math.hypot(...along));
  }
  return most;
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
