import { expect, test } from 'vitest';
import { createCharacter } from '../../../demos/character.js';
import {
  type BudgetStep,
  bakeCharacter,
  CrowdLevels,
  DrawOrder,
  FrameBudget,
  SkinnedInstancedMesh,
} from '../../support/library.js';

/** A display of 60 frames a second, on which a frame takes as many of its pictures as the GPU needs. */
const REFRESH = 1 / 60;

test.each([
  [4, false, 1, 0, 0],
  [16, false, 1, 0, 0],
  [40, false, 0.6, 5.7, 80],
  [40, true, 0.6, 5.7, 0],
])(
  'GPU of %d ms, timed %s: quality %d after %d s, %d late frames',
  (full, isTimed, quality, seconds, most) => {
    const taken = [0, 0];
    const step = (i: number): BudgetStep => ({
      name: `${i}`,
      count: 5,
      apply: (count) => (taken[i] = count),
    });
    // A stub: each stage takes a fifth of what is left, and the display shows a frame when the GPU has it.
    const gpu = () => full * 0.8 ** (taken[0] + taken[1]);
    const budget = new FrameBudget([], {
      steps: () => [step(0), step(1)],
      gpuTime: () => (isTimed ? gpu() : 0),
    });
    const changes = [{ at: 0, quality: 1 }];
    const late: number[] = [];
    let at = 0;
    budget.addEventListener('change', (event) => changes.push({ at, quality: event.quality }));
    while (at < 90) {
      const delta = Math.ceil(gpu() / 1000 / REFRESH - 1e-9) * REFRESH;
      at += delta;
      if (delta > 1.3 * REFRESH) late.push(at);
      budget.update(delta);
    }
    expect(budget.quality).toBeCloseTo(quality);
    const reached = changes.find((change) => Math.abs(change.quality - quality) < 1e-6)!.at;
    expect(reached).toBeLessThanOrEqual(seconds);
    expect(late.filter((one) => one > reached).length).toBeLessThanOrEqual(most);
    // What failed twice is not tried again: nothing swings for a minute.
    expect(changes.at(-1)?.at).toBeLessThan(30);
  },
);

test('first frames, a page in the background, and single late frames take nothing', () => {
  const budget = new FrameBudget([], { steps: () => [{ name: 'any', count: 9, apply() {} }] });
  for (let i = 0; i < 5; i++) budget.update(0.09);
  for (let i = 0; i < 4000; i++) {
    budget.update(i % 5 === 0 ? 0.03 : REFRESH);
    if (i % 300 === 0) budget.update(40).update(0.2).update(0).update(0.1);
  }
  expect(budget.quality).toBe(1);
  // Long ones one after another are no pause.
  for (let i = 0; i < 20; i++) budget.update(0.6);
  expect(budget.quality).toBeLessThan(1);
});

test('its own steps change what crowds have, and give it back', () => {
  const { root, clips } = createCharacter({ detail: 0.2 });
  const crowd = new SkinnedInstancedMesh(bakeCharacter(root, clips), 100);
  const levels = new CrowdLevels(crowd, { shadowLevel: 1 });
  const order = new DrawOrder(crowd, { maxVisible: 90 });
  levels.add(crowd.geometry, 10, { poseRate: 20 });
  levels.add(crowd.geometry, 20);
  levels.add(null, 100);
  const stateOf = () => [
    levels.shadowLevel,
    order.maxVisible,
    ...levels.levels.flatMap((one) => [one.distance, one.poseRate]),
  ];
  const before = stateOf();
  const budget = new FrameBudget([crowd]);
  while (budget.quality > 0) budget.update(0.2);
  const fewest = stateOf().map((value) => Number(value.toFixed(3)));
  expect(fewest).toEqual([2, 32, 0, 0, 3.43, 15, 6.86, 15, 34.3, 15]);
  while (budget.quality < 1) budget.update(REFRESH);
  expect(stateOf()).toEqual(before);
  expect(() => new FrameBudget([crowd], { fps: 0 })).toThrow('fps is 0');
  // Of an empty one it is not known how many are many.
  crowd.count = 0;
  new FrameBudget([crowd], { quality: 0 });
  expect(order.maxVisible).toBe(90);
});
