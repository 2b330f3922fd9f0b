import { expect, test } from 'vitest';
import { ObjectTwins } from '../../support/ObjectTwins.js';
import { random, SEEDS } from '../../support/random.js';

/** Things done to each scene, and after how many of them it is looked at. */
const STEPS = 600;
const LOOK = 3;

test.each([...SEEDS, 2, 3])('objects stand and are seen where plain objects would, seed %i', (seed) => {
  const twins = new ObjectTwins(random(seed));
  const history: string[] = [];
  for (let step = 0; step < STEPS; step++) {
    history.push(twins.step());
    if (step % LOOK === 0) twins.check(history);
  }
  expect(new Set(history).size).toBeGreaterThan(30);
  expect(twins.checked).toBeGreaterThan(100);
});
