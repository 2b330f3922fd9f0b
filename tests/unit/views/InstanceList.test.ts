import { expect, test } from 'vitest';
import { InstanceList } from '../../../lib/views/InstanceList.js';

test('a list holds an instance for each drawn index, four to a texel', () => {
  const list = new InstanceList(8200);
  for (let i = 0; i < 8200; i++) list.set(i, 8199 - i);
  expect(list.get(0)).toBe(8199);
  expect(list.get(8199)).toBe(0);
  const { image } = list.texture.plain;
  expect([...(image.data as Float32Array).subarray(0, 4)]).toEqual([8199, 8198, 8197, 8196]);
  // 2048 texels of four instances in a row.
  expect([image.width, image.height]).toEqual([2048, 2]);
  expect((image.data as Float32Array)[8192]).toBe(7);
  const short = new InstanceList(9).texture.plain.image;
  expect([short.width, short.height]).toEqual([3, 1]);
});

test('what changed in a list is sent, and no more', () => {
  const list = new InstanceList(2048);
  const { plain } = list.texture;
  plain.clearUpdateRanges();
  const { version } = plain;
  list.set(1500, 7);
  expect(plain.version).toBeGreaterThan(version);
  expect(plain.updateRanges).toEqual([{ start: 1500, count: 4 }]);
});
