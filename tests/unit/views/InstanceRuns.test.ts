import { expect, test } from 'vitest';
import { InstanceRuns } from '../../../lib/views/InstanceRuns.js';
import { random } from '../../support/random.js';

const ids = ({ count, texture }: InstanceRuns, perRow: number): number[] =>
  Array.from({ length: count }, (_, run) => {
    const [first, length] = texture.data.subarray(run * 2, run * 2 + 2);
    expect(Math.floor(first / perRow), 'a run stays in its row').toBe(
      Math.floor((first + length - 1) / perRow),
    );
    return Array.from({ length }, (_, i) => first + i);
  }).flat();

test.each([1, 0.5, 0.03, 0])(
  'runs hold the instances that are marked, and no others: a share of %d',
  (share) => {
    const next = random(3);
    const marked = Array.from({ length: 5000 }, (_, id) => id).filter(() => next() < share);
    const bits = new Int32Array(Math.ceil(5000 / 32));
    for (const id of marked) bits[id >> 5] |= 1 << (id & 31);
    const runs = new InstanceRuns(5000, 32);
    runs.assign(bits);
    expect(ids(runs, 32)).toEqual(marked);
  },
);

test('every second instance fits in, and the same ones again are not sent', () => {
  const bits = new Int32Array(100).fill(0x55555555);
  const runs = new InstanceRuns(3200, 256);
  const { plain } = runs.texture;
  runs.assign(bits);
  expect(runs.count).toBe(1600);
  const { version } = plain;
  runs.assign(bits);
  expect(plain.version).toBe(version);
  bits.fill(-1);
  runs.assign(bits);
  expect(ids(runs, 256)).toHaveLength(3200);
});
