import { AnimationMixer, Matrix4, Quaternion, Vector3 } from 'three';
import { SkeletonUtils } from 'three-stdlib';
import { expect, test } from 'vitest';
import { createCharacter } from '../../../demos/character.js';
import { bakeCharacter, Gait, SkinnedInstancedMesh } from '../../support/library.js';
import { characterHeight, offFrom } from '../../support/reference.js';

const { root, clips } = createCharacter({ detail: 0.2 });
const character = bakeCharacter(root, clips);
const STOPS = [
  ['Idle', 0],
  ['Walk', 1.4],
  ['Run', 4],
] as const;
const UP = new Vector3(0, 1, 0);

function createCrowd(count = 1) {
  const crowd = new SkinnedInstancedMesh(character, count);
  const gait = new Gait(crowd, STOPS, { smoothing: 0.05 });
  const place = (index: number, x: number, y = 0, turn = 0, size = 1) => {
    const rotation = new Quaternion().setFromAxisAngle(UP, turn);
    crowd.setMatrixAt(
      index,
      new Matrix4().compose(new Vector3(x, y, 0), rotation, new Vector3(size, size, size)),
    );
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

test.each([0.5, 1.4, 3, 6])('at %d units a second it is posed with the rhythm of its strides', (wanted) => {
  const { crowd, gait, place } = createCrowd();
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
  const clone = SkeletonUtils.clone(root);
  const mixer = new AnimationMixer(clone);
  const played = STOPS.map(([name]) => clips.find((clip) => clip.name === name)!);
  const stop = speed < 1.4 ? 0 : 1;
  const share = Math.min((speed - STOPS[stop][1]) / (STOPS[stop + 1][1] - STOPS[stop][1]), 1);
  const weights = [0, 1, 2].map((i) => (i === stop ? 1 - share : i === stop + 1 ? share : 0));
  // As far as one round of the clips carries, by their shares: so many rounds a second make the speed.
  const stride = weights.reduce((sum, weight, i) => sum + weight * STOPS[i][1] * played[i].duration, 0);
  played.forEach((clip, i) => {
    const action = mixer.clipAction(clip).play().setEffectiveWeight(weights[i]);
    action.time = 0.25 * clip.duration;
    action.timeScale = i === 0 ? 1 : (clip.duration * speed) / stride;
  });
  for (let frame = 0; frame < 50; frame++) {
    walk();
    mixer.update(0.04);
  }
  expect(gait.getValueAt(0)).toBe(speed);
  place(0, 0);
  clone.updateMatrixWorld(true);
  expect(offFrom(clone, crowd, 0) / characterHeight(root)).toBeLessThan(1e-5);
});

test('copies walk on, and instances that come anew stand', () => {
  const { crowd, gait, place } = createCrowd(2);
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
