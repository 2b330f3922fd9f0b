import { expect, test } from 'vitest';
import { InstanceList } from '../../../lib/views/InstanceList.js';

test('a list holds an instance for each drawn index, four to a texel', () => {
  const list = new InstanceList(1030);
  for (let i = 0; i < 1030; i++) list.set(i, 1029 - i);
  expect(list.get(0)).toBe(1029);
  expect(list.get(1029)).toBe(0);
  const { image } = list.texture.plain;
  expect([...(image.data as Float32Array).subarray(0, 4)]).toEqual([1029, 1028, 1027, 1026]);
  // 256 texels of four instances in a row.
  expect([image.width, image.height]).toEqual([256, 2]);
  expect((image.data as Float32Array)[1024]).toBe(5);
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
