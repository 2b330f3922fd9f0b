import { expect, test } from 'vitest';
import { nodesAbove } from '../../../lib/baking/nodesAbove.js';

test('nodes and all that is above them are marked, siblings and children are not', () => {
  const parents = Int32Array.of(-1, 0, 1, 1, 0, 4);
  expect([...nodesAbove(parents, [2])]).toEqual([1, 1, 1, 0, 0, 0]);
  expect([...nodesAbove(parents, [5, 3])]).toEqual([1, 1, 0, 1, 1, 1]);
  expect([...nodesAbove(parents, [])]).toEqual([0, 0, 0, 0, 0, 0]);
});
