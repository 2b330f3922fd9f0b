import { expect, test } from 'vitest';
import { createStickCrowd, tipOf } from '../../support/stick.js';

const createCrowd = (count = 4) => createStickCrowd(count, { A: 1, B: 2 });

test('ranges and all instances take functions of the index', () => {
  const crowd = createCrowd(6);
  crowd.playAll((i) => (i % 2 ? 'B' : 'A'), { time: (i) => i * 0.1, timeScale: 0.5 });
  for (let i = 0; i < 6; i++) {
    expect(crowd.getClipAt(i)).toBe(i % 2 ? 'B' : 'A');
    expect(tipOf(crowd, i)).toBeCloseTo(i * 0.1, 5);
  }
  crowd.update(0.2);
  expect(tipOf(crowd, 3)).toBeCloseTo(0.4, 5);
  crowd.pause({ start: 2, count: 2 });
  crowd.setTimeScaleAt({ start: 4, count: 2 }, 1);
  crowd.update(0.2);
  expect([0, 1, 2, 3, 4].map((i) => crowd.getTimeAt(i))).toEqual(
    [0.2, 0.3, 0.3, 0.4, 0.7].map((time) => expect.closeTo(time, 6)),
  );
  crowd.stop(crowd.all);
  expect([0, 5].map((i) => crowd.getClipAt(i))).toEqual([null, null]);
});
