import type { Box3, BufferGeometry } from 'three';
import type { AffineArray } from '../utils/affine.js';
import { plainArray } from '../utils/geometries.js';

/**
 * For each joint a box around the vertices that follow it, in the geometry's own space: least x, y, z, then greatest.
 *
 * A skinned vertex is a weighted mean of the places where each of its joints alone would put it. So a box around all
 * joints' boxes, each moved by its joint, holds the whole mesh in any pose, and no vertex has to be skinned to find it.
 * Joints that no vertex follows have a box from Infinity to -Infinity.
 */
export type JointBoxes = Float32Array;

/** For each morph target the least and the greatest influence that it may have. */
export interface MorphRange {
  readonly least: ArrayLike<number>;
  readonly most: ArrayLike<number>;
}

/** Empty boxes for that many joints. */
export function createJointBoxes(joints: number): JointBoxes {
  const boxes = new Float32Array(joints * 6);
  for (let i = 0; i < joints; i++) {
    boxes.fill(Infinity, i * 6, i * 6 + 3);
    boxes.fill(-Infinity, i * 6 + 3, i * 6 + 6);
  }
  return boxes;
}

/**
 * Grows the boxes by the vertices of a geometry, or by some of them.
 *
 * @param joints Joint for each skin index.
 * @param from First vertex.
 * @param to The vertex after the last.
 * @param range Influences of the morph targets; by default from 0 to 1.
 */
export function growJointBoxes(
  boxes: JointBoxes,
  geometry: BufferGeometry,
  joints: ArrayLike<number>,
  from = 0,
  to = geometry.getAttribute('position').count,
  range?: MorphRange,
): void {
  const position = plainArray(geometry.getAttribute('position'), 3, from, to);
  const skinIndex = plainArray(geometry.getAttribute('skinIndex'), 4, from, to);
  const skinWeight = plainArray(geometry.getAttribute('skinWeight'), 4, from, to);
  // A vertex moved by one target lies between where the least and the greatest influence put it. Several targets at once may carry
  // it further; that is rare, and left out.
  const morphs = (geometry.morphAttributes.position ?? []).map((morph) => plainArray(morph, 3, from, to));
  const absolute = geometry.morphTargetsRelative ? 0 : 1;
  const grow = (joint: number, vertex: number, morph: ArrayLike<number> | null, influence: number) => {
    const at = joint * 6;
    if (!(at >= 0 && at < boxes.length)) return;
    for (let axis = 0; axis < 3; axis++) {
      const own = position[vertex * 3 + axis];
      const offset = morph === null ? 0 : influence * (morph[vertex * 3 + axis] - absolute * own);
      const value = own + offset;
      if (!(Math.abs(value) < Infinity)) continue;
      if (value < boxes[at + axis]) boxes[at + axis] = value;
      if (value > boxes[at + 3 + axis]) boxes[at + 3 + axis] = value;
    }
  };

  for (let vertex = 0; vertex < to - from; vertex++) {
    for (let i = vertex * 4; i < vertex * 4 + 4; i++) {
      if (!(skinWeight[i] > 0)) continue;
      const joint = joints[skinIndex[i]];
      grow(joint, vertex, null, 0);
      for (let target = 0; target < morphs.length; target++) {
        const least = range?.least[target] ?? 0;
        grow(joint, vertex, morphs[target], range?.most[target] ?? 1);
        if (least !== 0) grow(joint, vertex, morphs[target], least);
      }
    }
  }
}

/** Boxes of the vertices of a crowd geometry that follow each of so many joints. @param range See `growJointBoxes`. */
export function boxesOf(geometry: BufferGeometry, joints: number, range?: MorphRange): JointBoxes {
  const boxes = createJointBoxes(joints);
  growJointBoxes(boxes, geometry, [...boxes.keys()], undefined, undefined, range);
  return boxes;
}

/** Grows boxes by a distance on all sides. Those that are empty stay so, since they reach from Infinity to -Infinity. */
export function expandJointBoxes(boxes: JointBoxes, distance: number): void {
  for (let i = 0; i < boxes.length; i++) boxes[i] += i % 6 < 3 ? -distance : distance;
}

/** Whether the box of each joint in `inner` lies in the same joint's box in `outer`, up to rounding. */
export function jointBoxesContain(outer: JointBoxes, inner: JointBoxes): boolean {
  if (outer.length !== inner.length) return false;
  return inner.every((value, i) => {
    const side = i % 6 < 3 ? 1 : -1;
    const first = i - (i % 6);
    const sides = [0, 1, 2].map((axis) => outer[first + 3 + axis] - outer[first + axis]);
    // Empty boxes lie in empty ones: no number says how far.
    return !(side * (value - outer[i]) < -1e-5 * Math.max(1e-6, ...sides));
  });
}

/** Grows `target` by all boxes, each moved by its joint's matrix (`pose`: 12 numbers a joint). */
export function expandByPose(target: Box3, boxes: JointBoxes, pose: AffineArray): void {
  for (let joint = 0; joint * 6 < boxes.length; joint++)
    expandByJoint(target, boxes, joint, pose, joint * 12);
}

/** Grows `target` by the box of one joint, moved by the matrix whose 12 numbers begin at `m`. */
export function expandByJoint(
  target: Box3,
  boxes: ArrayLike<number>,
  joint: number,
  pose: AffineArray,
  m: number,
): void {
  const b = joint * 6;
  if (boxes[b] > boxes[b + 3]) return;
  const { min, max } = target;
  for (let axis = 0, row = m; axis < 3; axis++, row += 4) {
    let middle = pose[row + 3];
    let reach = 0;
    for (let k = 0; k < 3; k++) {
      const center = (boxes[b + k] + boxes[b + 3 + k]) / 2;
      middle += pose[row + k] * center;
      reach += Math.abs(pose[row + k]) * (boxes[b + 3 + k] - center);
    }
    if (middle - reach < min.getComponent(axis)) min.setComponent(axis, middle - reach);
    if (middle + reach > max.getComponent(axis)) max.setComponent(axis, middle + reach);
  }
}

/** How far from the origin a matrix, whose 12 numbers begin at `m`, puts a corner of a joint's box at most. */
export function farthestCorner(boxes: JointBoxes, joint: number, matrix: AffineArray, m: number): number {
  let most = 0;
  for (let corner = 0; corner < 8; corner++) {
    const x = boxes[joint * 6 + (corner & 1) * 3];
    const y = boxes[joint * 6 + 1 + ((corner >> 1) & 1) * 3];
    const z = boxes[joint * 6 + 2 + (corner >> 2) * 3];
    let square = 0;
    for (let row = m; row < m + 12; row += 4)
      square += (matrix[row] * x + matrix[row + 1] * y + matrix[row + 2] * z + matrix[row + 3]) ** 2;
    most = Math.max(most, square);
  }
  return Math.sqrt(most);
}

/** A box along the axes as plain numbers: its least x, y and z, then its greatest. */
export type BoxArray = [minX: number, minY: number, minZ: number, maxX: number, maxY: number, maxZ: number];

/** The numbers of a box. */
export function boxToArray({ min, max }: Box3): BoxArray {
  return [min.x, min.y, min.z, max.x, max.y, max.z];
}

/** Grows a box by those of the rest pose and of all clips. */
export function expandByClips(
  target: Box3,
  { restBounds, clips }: { restBounds: BoxArray; clips: readonly { bounds: BoxArray }[] },
): void {
  expandByArray(target, restBounds);
  for (const { bounds } of clips) expandByArray(target, bounds);
}

/** Grows a box by another. */
export function expandByArray(target: Box3, box: Readonly<BoxArray>): void {
  const { min, max } = target;
  min.set(Math.min(min.x, box[0]), Math.min(min.y, box[1]), Math.min(min.z, box[2]));
  max.set(Math.max(max.x, box[3]), Math.max(max.y, box[4]), Math.max(max.z, box[5]));
}
