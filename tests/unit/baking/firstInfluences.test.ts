import { BufferGeometry, Float32BufferAttribute, Uint16BufferAttribute } from 'three';
import { expect, test } from 'vitest';
import { firstInfluences } from '../../../lib/baking/firstInfluences.js';

function geometryWith(...names: string[]): BufferGeometry {
  const geometry = new BufferGeometry();
  for (const name of ['position', 'skinIndex', 'skinWeight', ...names]) {
    geometry.setAttribute(name, new Float32BufferAttribute([0, 0, 0, 0], 4));
  }
  geometry.setIndex(new Uint16BufferAttribute([0, 0, 0], 1));
  return geometry;
}

test('a geometry of four joints a vertex is used as it is, also with attributes of similar names', () => {
  const geometry = geometryWith('joints', 'weights_per_side');
  expect(firstInfluences(geometry)).toBe(geometry);
});

test('joints and weights beyond the fourth are left out, all else is shared', () => {
  const geometry = geometryWith('joints_1', 'weights_1', 'joints_2', 'weights_2', 'uv');
  const first = firstInfluences(geometry);
  expect(Object.keys(first.attributes)).toEqual(['position', 'skinIndex', 'skinWeight', 'uv']);
  expect(first.getAttribute('position')).toBe(geometry.getAttribute('position'));
  expect(first.index).toBe(geometry.index);
  expect(geometry.hasAttribute('joints_1'), 'the source is left alone').toBe(true);
});
