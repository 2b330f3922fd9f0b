import {
  Box3,
  BufferGeometry,
  Float32BufferAttribute,
  InterleavedBuffer,
  InterleavedBufferAttribute,
  Matrix4,
  Uint16BufferAttribute,
  Vector3,
} from 'three';
import { expect, test } from 'vitest';
import {
  createJointBoxes,
  expandByJoint,
  expandByPose,
  growJointBoxes,
  jointBoxesContain,
  plainArray,
} from '../../../lib/poses/jointBoxes.js';
import { affineFromMatrix4 } from '../../../lib/utils/affine.js';

const POINTS = [0, 0, 0, 1, 2, 3, -1, 5, 0];

function geometryOf(skinIndex: number[], skinWeight: number[]): BufferGeometry {
  const geometry = new BufferGeometry();
  geometry.setAttribute('position', new Float32BufferAttribute(POINTS, 3));
  geometry.setAttribute('skinIndex', new Uint16BufferAttribute(skinIndex, 4));
  geometry.setAttribute('skinWeight', new Float32BufferAttribute(skinWeight, 4));
  return geometry;
}

test('every joint has a box around the vertices that have a weight on it', () => {
  const geometry = geometryOf([0, 1, 2, 0, 1, 2, 0, 0, 0, 0, 0, 0], [1, 0, 0, 0, 0.5, 0.5, 0, 0, 1, 0, 0, 0]);
  const boxes = createJointBoxes(4);
  growJointBoxes(boxes, geometry, [0, 1, 3], false);
  expect([...boxes.subarray(0, 6)]).toEqual([-1, 0, 0, 0, 5, 0]);
  expect([...boxes.subarray(6, 12)]).toEqual([1, 2, 3, 1, 2, 3]);
  expect([...boxes.subarray(18, 24)]).toEqual([1, 2, 3, 1, 2, 3]);
  expect(boxes[12], 'no vertex follows it').toBe(Infinity);
});

test('all vertices of a rigid mesh follow its one joint, and morph targets count', () => {
  const geometry = geometryOf([], []);
  geometry.morphAttributes.position = [new Float32BufferAttribute([0, 0, 9, 0, 0, 0, 0, 0, 0], 3)];
  const boxes = createJointBoxes(2);
  growJointBoxes(boxes, geometry, [1], true);
  expect([...boxes.subarray(6)]).toEqual([-1, 0, 0, 1, 5, 9]);
  geometry.morphTargetsRelative = true;
  const relative = createJointBoxes(2);
  growJointBoxes(relative, geometry, [1], true);
  expect([...relative.subarray(6)]).toEqual([-1, 0, 0, 1, 5, 9]);
});

test('a pose moves the boxes; each stays as tight as its corners allow', () => {
  const boxes = Float32Array.of(
    -1,
    -2,
    -3,
    1,
    2,
    3,
    Infinity,
    Infinity,
    Infinity,
    -Infinity,
    -Infinity,
    -Infinity,
  );
  const matrix = new Matrix4()
    .makeRotationZ(0.7)
    .setPosition(5, 6, 7)
    .scale(new Vector3(1, -2, 0.5));
  const pose = new Float64Array(24).fill(Number.NaN);
  affineFromMatrix4(matrix, pose, 0);
  const expected = new Box3(new Vector3(-1, -2, -3), new Vector3(1, 2, 3)).applyMatrix4(matrix);
  for (const grow of [
    (box: Box3) => expandByPose(box, boxes, pose),
    (box: Box3) => expandByJoint(box, boxes, 0, pose, 0),
  ]) {
    const box = new Box3();
    grow(box);
    for (const axis of ['x', 'y', 'z'] as const) {
      expect(box.min[axis]).toBeCloseTo(expected.min[axis], 12);
      expect(box.max[axis]).toBeCloseTo(expected.max[axis], 12);
    }
  }
});

test('boxes contain others up to rounding', () => {
  const outer = Float32Array.of(0, 0, 0, 100, 100, 100);
  expect(jointBoxesContain(outer, outer)).toBe(true);
  expect(jointBoxesContain(outer, Float32Array.of(-1e-4, 0, 0, 100, 100, 100))).toBe(true);
  expect(jointBoxesContain(outer, Float32Array.of(-1e-2, 0, 0, 100, 100, 100))).toBe(false);
  expect(jointBoxesContain(outer, Float32Array.of(0, 0, 0, 100, 100.1, 100))).toBe(false);
  expect(jointBoxesContain(outer, createJointBoxes(1)), 'an empty box').toBe(true);
  expect(jointBoxesContain(outer, createJointBoxes(2)), 'of more joints').toBe(false);
});

test('attributes are read whatever they are stored as', () => {
  const plain = new Float32BufferAttribute(POINTS, 3);
  expect(plainArray(plain, 3), 'not copied').toBe(plain.array);
  expect([...Array.from(plainArray(plain, 2))]).toEqual([0, 0, 1, 2, -1, 5]);
  const interleaved = new InterleavedBuffer(Float32Array.of(9, 1, 2, 3, 9, 4, 5, 6), 4);
  expect(Array.from(plainArray(new InterleavedBufferAttribute(interleaved, 3, 1), 3))).toEqual([
    1, 2, 3, 4, 5, 6,
  ]);
  const normalized = new Uint16BufferAttribute([0, 65535], 1, true);
  expect(Array.from(plainArray(normalized, 1))).toEqual([0, 1]);
});
