import { Matrix4, Quaternion, Vector3 } from 'three';
import { expect, test } from 'vitest';
import { Gait } from '../../support/library.js';
import { createCrowd, PacedClone, STOPS } from '../../support/pace.js';

const UP = new Vector3(0, 1, 0);

function createWalkers(count = 1) {
  const crowd = createCrowd(count);
  const gait = new Gait(crowd, STOPS, { smoothing: 0.05 });
  const place = (index: number, x: number, y = 0, turn = 0, size = 1) => {
    const rotation = new Quaternion().setFromAxisAngle(UP, turn);
    const scale = new Vector3(size, size, size);
    crowd.setMatrixAt(index, new Matrix4().compose(new Vector3(x, y, 0), rotation, scale));
  };
  return { crowd, gait, place };
}

test('the number of an instance is the speed at which it moves, by its size, and 0 when it stands', () => {
  const { crowd, gait, place } = createWalkers(4);
  gait.play(crowd.all);
  let frame = 0;
  const go = (frames: number, speed: number) => {
    for (let i = 0; i < frames; i++, frame++) {
      const way = (frame / 60) * speed;
      place(0, way);
      place(1, way, 0, 1, 2);
      place(2, 0, way); // upwards
      place(3, 0, 0, way);
      crowd.update(1 / 60);
    }
  };
  go(60, 2);
  expect(gait.getValueAt(0)).toBeCloseTo(2, 1);
  expect(gait.getValueAt(1)).toBeCloseTo(1, 1);
  expect(gait.getValueAt(2)).toBe(0);
  expect(gait.getValueAt(3)).toBeCloseTo(2 * 0.15, 1);
  place(0, 500);
  crowd.update(1 / 60);
  expect(gait.getValueAt(0)).toBeCloseTo(2, 1);
  frame = 0;
  go(1, 0);
  go(60, 0);
  expect([0, 1, 2, 3].map((index) => gait.getValueAt(index))).toEqual([0, 0, 0, 0]);
});

test.each([0.5, 1.4, 3, 6])('at %d units a second it is posed with the rhythm of its strides', (wanted) => {
  const { crowd, gait, place } = createWalkers();
  let x = 0;
  const walk = () => {
    x += 0.04 * wanted;
    place(0, x);
    crowd.update(0.04);
  };
  for (let frame = 0; frame < 50; frame++) walk();
  const speed = gait.getValueAt(0);
  expect(Math.abs(speed - wanted)).toBeLessThan(0.05);
  gait.play(0, { phase: 0.25 });
  const clone = new PacedClone();
  clone.setSpeed(speed, (i, lengths, weights) => {
    // As far as one round of the clips carries, by their shares: so many rounds a second make the speed.
    const stride = weights.reduce((sum, weight, k) => sum + weight * STOPS[k][1] * lengths[k], 0);
    return i === 0 ? 1 : (lengths[i] * speed) / stride;
  });
  for (let frame = 0; frame < 50; frame++) {
    walk();
    clone.update(0.04);
  }
  expect(gait.getValueAt(0)).toBe(speed);
  place(0, 0);
  expect(clone.offFrom(crowd, 0)).toBeLessThan(1e-5);
});

test('copies walk on, and instances that come anew stand', () => {
  const { crowd, gait, place } = createWalkers(2);
  gait.play(crowd.all);
  for (let frame = 0; frame < 60; frame++) {
    place(1, frame / 30);
    crowd.update(1 / 60);
  }
  const copy = crowd.clone();
  const [copied] = copy.features as Gait[];
  expect(copied.getValueAt(1)).toBeCloseTo(2, 1);
  crowd.swapInstances(0, 1).setCapacity(8).update(0.001);
  expect(gait.getValueAt(0)).toBeGreaterThan(1.5);
  crowd.deleteInstance(0).addInstance();
  place(0, 100);
  crowd.update(1 / 60);
  expect(gait.getValueAt(0)).toBe(0);
});
