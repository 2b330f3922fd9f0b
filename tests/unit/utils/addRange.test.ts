import { expect, test } from 'vitest';
import { addRange } from '../../../lib/utils/addRange.js';
import { random } from '../../support/random.js';

type Ranges = { start: number; count: number }[];

test('ranges that touch or are near each other become one', () => {
  const ranges: Ranges = [];
  addRange(ranges, 10, 5, 4);
  addRange(ranges, 15, 5, 4);
  addRange(ranges, 2, 4, 4);
  expect(ranges).toEqual([{ start: 2, count: 18 }]);
});

test('ranges far from each other stay apart', () => {
  const ranges: Ranges = [];
  addRange(ranges, 10, 5, 4);
  addRange(ranges, 20, 5, 4);
  expect(ranges).toEqual([
    { start: 10, count: 5 },
    { start: 20, count: 5 },
  ]);
});

test('a range within another changes nothing', () => {
  const ranges: Ranges = [{ start: 0, count: 100 }];
  addRange(ranges, 40, 2, 4);
  expect(ranges).toEqual([{ start: 0, count: 100 }]);
});

test('there are never more than 16, and all that was added is in one of them', () => {
  const next = random(3);
  const ranges: Ranges = [];
  for (let i = 0; i < 200; i++) {
    const start = Math.floor(next() * 1e5);
    const count = 1 + Math.floor(next() * 50);
    addRange(ranges, start, count, 64);
    expect(ranges.length).toBeLessThanOrEqual(16);
    const holder = ranges.find((range) => range.start <= start && range.start + range.count >= start + count);
    expect(holder, `${start} to ${start + count}`).toBeDefined();
  }
});
