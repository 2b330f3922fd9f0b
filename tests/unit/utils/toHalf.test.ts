import { DataUtils } from 'three';
import { expect, test } from 'vitest';
import { toHalf } from '../../../lib/utils/toHalf.js';

test('is the nearest half float, and of two equally near the even one', () => {
  const step = 2 ** -10;
  expect(toHalf(1 + 0.4 * step)).toBe(toHalf(1));
  expect(toHalf(1 + 0.6 * step)).toBe(toHalf(1 + step));
  expect(toHalf(1 + 0.5 * step)).toBe(toHalf(1));
  expect(toHalf(1 + 1.5 * step)).toBe(toHalf(1 + 2 * step));
  expect(toHalf(-1 - 0.6 * step)).toBe(toHalf(-1 - step));
});

test('half floats come back as they are', () => {
  // All but the largest, of which three.js warns.
  for (let bits = 0; bits < 0x7bff; bits++) {
    expect(toHalf(DataUtils.fromHalfFloat(bits))).toBe(bits);
  }
});
