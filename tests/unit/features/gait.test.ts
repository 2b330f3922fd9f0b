import { Matrix4 } from 'three';
import { expect, test } from 'vitest';
import { createCharacter } from '../../../demos/character.js';
import { bakeCharacter, Gait, SkinnedInstancedMesh } from '../../support/library.js';

const { root, clips } = createCharacter({ detail: 0.2 });
const character = bakeCharacter(root, clips);
const STOPS = [
  ['Idle', 0],
  ['Walk', 1.4],
  ['Run', 4],
] as const;

function createCrowd(count = 1) {
  const crowd = new SkinnedInstancedMesh(character, count);
  const gait = new Gait(crowd, STOPS, { smoothing: 0.05 });
  const place = (index: number, x: number, y = 0, turn = 0, size = 1) => {
    const matrix = new Matrix4().makeRotationY(turn).setPosition(x, y, 0);
    crowd.setMatrixAt(index, matrix.multiply(new Matrix4().makeScale(size, size, size)));
  };
  return { crowd, gait, place };
}

test('the number of an instance is the speed at which it moves, by its size, and 0 when it stands', () => {
  const { crowd, gait, place } = createCrowd(4);
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

test.each([0.5, 1.4, 3, 6])('at %d units a second clips have the rhythm of their strides', (wanted) => {
  const { crowd, gait, place } = createCrowd();
  gait.play(0);
  for (let frame = 0; frame < 50; frame++) {
    place(0, frame * 0.04 * wanted);
    crowd.update(0.04);
  }
  const speed = gait.getValueAt(0);
  expect(Math.abs(speed - wanted)).toBeLessThan(0.05);
  const durations = STOPS.map(([name]) => clips.find((clip) => clip.name === name)!.duration);
  // As far as one round of the clips carries, by their shares: so many rounds a second make the speed.
  const stride = STOPS.reduce(
    (sum, [name, at], i) => sum + crowd.getWeightAt(0, name) * at * durations[i],
    0,
  );
  STOPS.forEach(([name], i) => {
    if (crowd.getWeightAt(0, name) === 0) return;
    const expected = i === 0 ? 1 : (durations[i] * speed) / stride;
    expect(crowd.getTimeScaleAt(0, undefined, name), name).toBeCloseTo(expected, 4);
  });
});

test('places of instances that were deleted are passed over, and speeds begin at 0, or as they are told', () => {
  const { crowd, gait, place } = createCrowd(3);
  gait.play(crowd.all).setValueAt(2, 4);
  crowd.update(0.01);
  expect(gait.getValueAt(2)).toBe(4);
  crowd.deleteInstance(1);
  for (let frame = 0; frame < 9; frame++) {
    crowd.instanceMatrix.array[16 + 12] = frame; // by code that writes all of them
    place(0, frame / 60);
    crowd.update(1 / 60);
  }
  expect(gait.getValueAt(0)).toBeGreaterThan(0.5);
  expect(
    () =>
      new Gait(new SkinnedInstancedMesh(crowd.geometry, crowd.material, crowd.boneTexture, 1), [
        ['Idle', -1],
        ['Walk', 1],
      ]),
  ).toThrow('use speeds from 0');
});
