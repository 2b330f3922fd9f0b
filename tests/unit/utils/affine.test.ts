import { Matrix4, Quaternion, Vector3 } from 'three';
import { expect, test } from 'vitest';
import {
  affineFromMatrix4,
  affineToMatrix4,
  composeAffine,
  isSingular,
  linearDeterminant,
  multiplyAffine,
} from '../../../lib/utils/affine.js';
import { random } from '../../support/random.js';

const next = random(5);
const number = () => next() * 4 - 2;
const rotation = () => new Quaternion(number(), number(), number(), number()).normalize();
const matrix = () =>
  new Matrix4().compose(
    new Vector3(number(), number(), number()),
    rotation(),
    new Vector3(number(), number(), number()),
  );
const affineOf = (source: Matrix4) => {
  const affine = new Float64Array(12);
  affineFromMatrix4(source, affine, 0);
  return affine;
};
const expectSame = (affine: Float64Array, at: number, expected: Matrix4) => {
  const { elements } = affineToMatrix4(affine, at, new Matrix4());
  elements.forEach((element, i) => {
    expect(element).toBeCloseTo(expected.elements[i], 12);
  });
};

test('matrices come back as they were', () => {
  const source = matrix();
  expect(affineToMatrix4(affineOf(source), 0, new Matrix4()).elements).toEqual(source.elements);
});

test('products are those of Matrix4, also within longer arrays', () => {
  for (let i = 0; i < 20; i++) {
    const [a, b] = [matrix(), matrix()];
    const out = new Float64Array(36).fill(7);
    multiplyAffine(Float64Array.of(0, 0, ...affineOf(a)), 2, Float64Array.of(0, ...affineOf(b)), 1, out, 12);
    expectSame(out, 12, a.clone().multiply(b));
    expect([out[11], out[24]]).toEqual([7, 7]);
  }
});

test('compositions are those of Matrix4', () => {
  for (let i = 0; i < 20; i++) {
    const [position, quaternion, scale] = [
      new Vector3(number(), 0, 1),
      rotation(),
      new Vector3(1, number(), -2),
    ];
    const trs = Float64Array.of(9, ...position.toArray(), ...quaternion.toArray(), ...scale.toArray());
    const out = new Float64Array(12);
    composeAffine(trs, 1, out, 0);
    expectSame(out, 0, new Matrix4().compose(position, quaternion, scale));
  }
});

test('determinants are those of the 3×3 part, whatever the translation', () => {
  const source = matrix();
  expect(linearDeterminant(affineOf(source), 0)).toBeCloseTo(source.determinant(), 12);
  expect(linearDeterminant(affineOf(new Matrix4().makeScale(1, -1, 1)), 0)).toBe(-1);
});

test('only matrices that flatten space are singular, however small they are', () => {
  const turned = new Matrix4().makeRotationFromQuaternion(rotation());
  const scaled = (x: number, y: number, z: number) => affineOf(turned.clone().scale(new Vector3(x, y, z)));
  expect(isSingular(scaled(1, 1, 0), 0)).toBe(true);
  expect(isSingular(scaled(0, 0, 0), 0)).toBe(true);
  expect(isSingular(scaled(1e-5, 1e-5, 1e-5), 0)).toBe(false);
  expect(isSingular(scaled(1, 1, -1e-5), 0)).toBe(false);
});
