import { describe, expect, test } from 'vitest';
import { TimeHeap } from '../../../lib/utils/TimeHeap.js';
import { random } from '../../support/random.js';

/** All that a heap holds, earliest first; empties it. */
function drain(heap: TimeHeap): [index: number, time: number][] {
  const all: [number, number][] = [];
  while (heap.first !== -1) {
    all.push([heap.first, heap.firstTime]);
    heap.set(heap.first, Infinity);
  }
  return all;
}

const sorted = (times: readonly number[]): [number, number][] =>
  times
    .map((time, index): [number, number] => [index, time])
    .filter(([, time]) => time !== Infinity)
    .sort(([i, a], [j, b]) => a - b || i - j);

describe('TimeHeap', () => {
  test('has nothing at first', () => {
    const heap = new TimeHeap(3);
    expect(heap.first).toBe(-1);
    expect(heap.firstTime).toBe(Infinity);
    expect(heap.timeOf(1)).toBe(Infinity);
  });

  test.each([1, 2, 3])(
    'gives indices by their times, of equal times the lower one first (seed %i)',
    (seed) => {
      const next = random(seed);
      const count = 40;
      const heap = new TimeHeap(count);
      const times = new Array<number>(count).fill(Infinity);
      for (let change = 0; change < 400; change++) {
        const index = Math.floor(next() * count);
        times[index] = next() < 0.2 ? Infinity : Math.floor(next() * 20);
        heap.set(index, times[index]);
        const [first] = sorted(times);
        expect(heap.first).toBe(first?.[0] ?? -1);
        expect(heap.firstTime).toBe(first?.[1] ?? Infinity);
        expect(heap.timeOf(index)).toBe(times[index]);
      }
      expect(drain(heap)).toEqual(sorted(times));
    },
  );

  test.each([5, 40, 70])('keeps what there is room for in a capacity of %i', (capacity) => {
    const next = random(4);
    const heap = new TimeHeap(40);
    const times = Array.from({ length: 40 }, () => next());
    times.forEach((time, index) => {
      heap.set(index, time);
    });
    heap.resize(capacity);
    if (capacity > 40) {
      heap.set(capacity - 1, 0.5);
      times[capacity - 1] = 0.5;
    }
    const kept = Array.from({ length: capacity }, (_, index) => times[index] ?? Infinity);
    expect(drain(heap)).toEqual(sorted(kept));
  });
});
