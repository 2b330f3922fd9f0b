import { Color } from 'three';
import { expect, test } from 'vitest';
import { partsOf } from '../../support/features.js';
import { createKnight } from '../../support/knight.js';
import { bakeCharacter, SkinnedInstancedMesh } from '../../support/library.js';

test('parts go by the names of their meshes and of the nodes above', () => {
  const { root, clips } = createKnight();
  const crowd = new SkinnedInstancedMesh(bakeCharacter(root, clips, { hiddenParts: ['Sword'] }), 4);
  expect([...partsOf(crowd).names].sort()).toEqual(['Body', 'Boss', 'Shield', 'Sword']);
  expect(partsOf(crowd).getVisibleAt(0, 'Sword')).toBe(false);
  expect(partsOf(crowd).getVisibleAt(3, 'Body')).toBe(true);

  partsOf(crowd).setVisibleAt(1, 'Shield', false);
  expect(partsOf(crowd).getVisibleAt(1, 'Boss'), 'below the node').toBe(false);
  expect(partsOf(crowd).getVisibleAt(2, 'Boss')).toBe(true);
  partsOf(crowd).setVisiblePartsAt({ start: 2, count: 2 }, ['Body', 'Sword']);
  expect(
    partsOf(crowd)
      .names.filter((name) => partsOf(crowd).getVisibleAt(3, name))
      .sort(),
  ).toEqual(['Body', 'Sword']);

  const red = new Color(1, 0, 0);
  partsOf(crowd).setColorAt(2, 'Body', red);
  expect(partsOf(crowd).getColorAt(2, 'Body', new Color())).toEqual(red);
  expect(partsOf(crowd).getColorAt(1, 'Body', new Color())).toEqual(new Color(1, 1, 1));

  expect(() => partsOf(crowd).setVisibleAt(0, 'Helmet', true)).toThrow(
    /There is no part "Helmet"; there are .*"Sword"/,
  );
  expect(() => partsOf(crowd).setColorAt(4, 'Body', red)).toThrow('no instance 4');
  expect(() => partsOf(crowd).getVisibleAt(0, 9)).toThrow('no part 9');
  expect(() => new SkinnedInstancedMesh(bakeCharacter(root, clips, { hiddenParts: ['Hat'] }), 1)).toThrow(
    'no part "Hat"',
  );
});
