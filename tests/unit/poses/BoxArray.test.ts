import { Box3, Vector3 } from 'three';
import { expect, test } from 'vitest';
import { boxToArray, expandByArray } from '../../../lib/poses/BoxArray.js';

test('a box grows by another as Box3.union does, empty ones included', () => {
  const boxes = [
    new Box3(),
    new Box3(new Vector3(0, 1, 2), new Vector3(3, 4, 5)),
    new Box3(new Vector3(-1, 2, 0), new Vector3(2, 9, 5)),
  ];
  for (const one of boxes) {
    for (const other of boxes) {
      const box = one.clone();
      expandByArray(box, boxToArray(other));
      expect(box).toEqual(one.clone().union(other));
    }
  }
});
