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

/** A stub of a GPU that takes so many milliseconds for the full crowd, and four fifths of that with each stage taken. */
function playOn(full: number, isTimed = false) {
  const taken = [0, 0];
  const steps = (): BudgetStep[] =>
    ['near', 'drawn'].map((name, i) => ({
      name,
      count: 5,
      apply: (count) => taken.splice(i, 1, count),
    }));
  const gpu = () => full * 0.8 ** (taken[0] + taken[1]);
  const budget = new FrameBudget([], { steps, ...(isTimed && { gpuTime: gpu }) });
  const changes: { at: number; quality: number }[] = [];
  const late: number[] = [];
  let at = 0;
  budget.addEventListener('change', ({ quality }) => changes.push({ at, quality }));
  while (at < 90) {
    const delta = Math.ceil(gpu() / 1000 / REFRESH - 1e-9) * REFRESH;
    at += delta;
    if (delta > 1.3 * REFRESH) late.push(at);
    budget.update(delta);
  }
  expect(gpu()).toBeLessThan(1000 * REFRESH);
  return { quality: budget.quality, changes, late };
}

test.each([
  [4, 1, 0, 0],
  [16, 1, 0, 0],
  [40, 0.6, 5.7, 80],
])(
  'a GPU that takes %d ms for all: quality %d, steady, and hardly a late frame after it',
  (full, wanted, steady, most) => {
    const { quality, changes, late } = playOn(full);
    expect(quality).toBeCloseTo(wanted);
    const reached = changes.find((change) => Math.abs(change.quality - wanted) < 1e-6)?.at ?? 0;
    expect(reached).toBeLessThanOrEqual(steady);
    expect(late.filter((at) => at > reached).length).toBeLessThanOrEqual(most);
    // What failed twice is not tried again: nothing swings.
    expect(changes.at(-1)?.at ?? 0).toBeLessThan(30);
  },
);

test('where the time of the GPU is known, nothing is tried for which there is no room', () => {
  const { quality, changes } = playOn(40, true);
  const qualities = changes.map((change) => change.quality);
  expect(qualities).toEqual(qualities.toSorted((a, b) => b - a));
  expect(quality).toBeCloseTo(0.6);
});

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
    ...levels.levels.flatMap(({ distance, poseRate }) => [distance, poseRate]),
  ];
  const before = stateOf();
  const budget = new FrameBudget([crowd]);
  expect(budget.steps.map(({ name }) => name)).toEqual([
    'levelBias',
    'shadowLevels',
    'impostors',
    'poseRates',
    'drawn',
  ]);
  while (budget.quality > 0) budget.update(0.2);
  const fewest = stateOf().map((value) => Number(value.toFixed(3)));
  expect(fewest).toEqual([2, 32, 0, 0, 3.43, 15, 6.86, 15, 34.3, 15]);
  while (budget.quality < 1) budget.update(REFRESH);
  expect(stateOf()).toEqual(before);
  expect(() => new FrameBudget([crowd], { fps: 0 })).toThrow('fps is 0');
});
