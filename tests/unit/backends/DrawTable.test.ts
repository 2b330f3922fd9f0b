import { BoxGeometry, MeshBasicMaterial } from 'three';
import { expect, test } from 'vitest';
import { DrawTable, TABLE_NUMBERS } from '../../../lib/backends/webgpu/views/DrawTable.js';

test('the table has the vertices that three.js draws of a part, a draw range, or edges', () => {
  const indexed = new BoxGeometry();
  for (const geometry of [indexed, indexed.toNonIndexed()]) {
    const table = new DrawTable();
    const read = (group: { start: number; count: number } | null, wireframe = false) => {
      const material = new MeshBasicMaterial({ wireframe });
      const at = table.place(geometry, material, group, 0, 1) * TABLE_NUMBERS;
      return [...table.buffer.array.slice(at, at + 2)];
    };
    expect(read(null)).toEqual([36, 0]);
    expect(read({ start: 6, count: 12 })).toEqual([12, 6]);
    geometry.setDrawRange(9, 30);
    expect(read(null), 'no more than there are').toEqual([27, 9]);
    expect(read({ start: 6, count: 12 })).toEqual([9, 9]);
    expect(read({ start: 0, count: 6 })[0]).toBe(0);
    // Two ends of an edge for each corner of a triangle.
    geometry.setDrawRange(6, 12);
    expect(read(null, true)).toEqual([24, 12]);
  }
});

test('a draw keeps its place, also among more than there was room for, and what is drawn no more is forgotten', () => {
  const table = new DrawTable();
  const geometry = new BoxGeometry();
  const material = new MeshBasicMaterial();
  const draw = (count: number) =>
    Array.from({ length: count }, (_, i) => table.place(geometry, material, null, 0, i));
  const first = draw(100);
  expect(new Set(first).size).toBe(100);
  table.beginFrame();
  const { version } = table;
  expect(draw(100)).toEqual(first);
  expect(table.version, 'of a frame that draws the same').toBe(version);
  for (let frame = 0; frame < 2; frame++) {
    table.beginFrame();
    draw(2);
  }
  expect(table.count).toBe(2);
});
