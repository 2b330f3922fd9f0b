import type { BufferAttribute, BufferGeometry } from 'three';
import { type Box3, Vector3 } from 'three';
import type { AffineArray } from '../utils/affine.js';

/**
 * The box, in the geometry's own space, of the vertices that follow a joint: min x y z, max x y z for each joint.
 * A skinned vertex lies in the convex hull of where its joints would carry it, so the boxes moved by the joints bound
 * the whole mesh in any pose without skinning a single vertex.
 */
export type JointBoxes = Float32Array;

const _vertex = /*@__PURE__*/ new Vector3();
const _morphed = /*@__PURE__*/ new Vector3();

export function createJointBoxes(joints: number): JointBoxes {
  const boxes = new Float32Array(joints * 6);
  for (let i = 0; i < joints; i++) {
    boxes.fill(Infinity, i * 6, i * 6 + 3);
    boxes.fill(-Infinity, i * 6 + 3, i * 6 + 6);
  }
  return boxes;
}

/**
 * Grows the boxes by the vertices of a geometry.
 *
 * @param joints Joint of each skin index; of length 1 for a rigid mesh, whose vertices all follow that joint.
 */
export function growJointBoxes(
  boxes: JointBoxes,
  geometry: BufferGeometry,
  joints: ArrayLike<number>,
  rigid: boolean,
): void {
  const position = geometry.getAttribute('position') as BufferAttribute;
  const skinIndex = geometry.getAttribute('skinIndex');
  const skinWeight = geometry.getAttribute('skinWeight');
  const morphs = geometry.morphAttributes.position ?? [];
  const relative = geometry.morphTargetsRelative;

  for (let vertex = 0; vertex < position.count; vertex++) {
    _vertex.fromBufferAttribute(position, vertex);
    if (rigid || !skinIndex || !skinWeight) {
      growByVertex(boxes, joints[0]);
      continue;
    }
    for (let i = 0; i < 4; i++) {
      if (skinWeight.getComponent(vertex, i) > 0)
        growByVertex(boxes, joints[skinIndex.getComponent(vertex, i)]);
    }
    // A target at full weight bounds every smaller weight; targets that add up to more are rare enough to leave out.
    for (const morph of morphs) {
      _morphed.fromBufferAttribute(morph as BufferAttribute, vertex);
      if (relative) _morphed.add(_vertex);
      for (let i = 0; i < 4; i++) {
        if (skinWeight.getComponent(vertex, i) > 0) {
          growBy(boxes, joints[skinIndex.getComponent(vertex, i)], _morphed);
        }
      }
    }
  }
}

function growByVertex(boxes: JointBoxes, joint: number): void {
  growBy(boxes, joint, _vertex);
}

function growBy(boxes: JointBoxes, joint: number, point: Vector3): void {
  const at = joint * 6;
  if (!(at >= 0 && at < boxes.length)) return;
  boxes[at] = Math.min(boxes[at], point.x);
  boxes[at + 1] = Math.min(boxes[at + 1], point.y);
  boxes[at + 2] = Math.min(boxes[at + 2], point.z);
  boxes[at + 3] = Math.max(boxes[at + 3], point.x);
  boxes[at + 4] = Math.max(boxes[at + 4], point.y);
  boxes[at + 5] = Math.max(boxes[at + 5], point.z);
}

/** Whether every box of `inner` lies in the box of the same joint in `outer`, give or take rounding. */
export function jointBoxesContain(outer: JointBoxes, inner: JointBoxes): boolean {
  if (outer.length !== inner.length) return false;
  for (let i = 0; i < inner.length; i += 6) {
    const slack =
      1e-5 *
      Math.max(1e-6, outer[i + 3] - outer[i], outer[i + 4] - outer[i + 1], outer[i + 5] - outer[i + 2]);
    for (let axis = 0; axis < 3; axis++) {
      if (inner[i + axis] < outer[i + axis] - slack || inner[i + 3 + axis] > outer[i + 3 + axis] + slack)
        return false;
    }
  }
  return true;
}

/** Grows `target` by the boxes as the joints of one pose carry them (`pose`: 12 numbers a joint). */
export function expandByPose(target: Box3, boxes: JointBoxes, pose: AffineArray): void {
  for (let joint = 0; joint * 6 < boxes.length; joint++)
    expandByJoint(target, boxes, joint, pose, joint * 12);
}

/** Grows `target` by the box of one joint as the 12 numbers from `m` carry it. */
export function expandByJoint(
  target: Box3,
  boxes: JointBoxes,
  joint: number,
  pose: AffineArray,
  m: number,
): void {
  const b = joint * 6;
  if (boxes[b] > boxes[b + 3]) return;
  const cx = (boxes[b] + boxes[b + 3]) / 2;
  const cy = (boxes[b + 1] + boxes[b + 4]) / 2;
  const cz = (boxes[b + 2] + boxes[b + 5]) / 2;
  const hx = boxes[b + 3] - cx;
  const hy = boxes[b + 4] - cy;
  const hz = boxes[b + 5] - cz;
  const x = pose[m] * cx + pose[m + 1] * cy + pose[m + 2] * cz + pose[m + 3];
  const y = pose[m + 4] * cx + pose[m + 5] * cy + pose[m + 6] * cz + pose[m + 7];
  const z = pose[m + 8] * cx + pose[m + 9] * cy + pose[m + 10] * cz + pose[m + 11];
  const ex = Math.abs(pose[m]) * hx + Math.abs(pose[m + 1]) * hy + Math.abs(pose[m + 2]) * hz;
  const ey = Math.abs(pose[m + 4]) * hx + Math.abs(pose[m + 5]) * hy + Math.abs(pose[m + 6]) * hz;
  const ez = Math.abs(pose[m + 8]) * hx + Math.abs(pose[m + 9]) * hy + Math.abs(pose[m + 10]) * hz;
  const { min, max } = target;
  if (x - ex < min.x) min.x = x - ex;
  if (y - ey < min.y) min.y = y - ey;
  if (z - ez < min.z) min.z = z - ez;
  if (x + ex > max.x) max.x = x + ex;
  if (y + ey > max.y) max.y = y + ey;
  if (z + ez > max.z) max.z = z + ez;
}
