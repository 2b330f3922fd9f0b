import { expect, test } from 'vitest';
import { swapItems } from '../../../lib/utils/swapItems.js';

test('exchanges two items and nothing else', () => {
  const array = [0, 0, 1, 1, 2, 2, 3, 3];
  swapItems(array, 1, 3, 2);
  expect(array).toEqual([0, 0, 3, 3, 2, 2, 1, 1]);
  swapItems(array, 2, 2, 2);
  expect(array).toEqual([0, 0, 3, 3, 2, 2, 1, 1]);
});
