import { Color } from 'three';
import { expect, test } from 'vitest';
import { createKnight } from '../../support/knight.js';
import { SkinnedInstancedMesh } from '../../support/library.js';

test('parts go by the names of their meshes and of the nodes above', () => {
  const { root, clips } = createKnight();
  const crowd = SkinnedInstancedMesh.from(root, clips, 4, { hiddenParts: ['Sword'] });
  expect(crowd.partNames).toEqual(['Body', 'Sword', 'Shield', 'Boss'].sort((a, b) => order(crowd, a, b)));
  expect([...crowd.partNames].sort()).toEqual(['Body', 'Boss', 'Shield', 'Sword']);
  expect(crowd.getPartVisibleAt(0, 'Sword')).toBe(false);
  expect(crowd.getPartVisibleAt(3, 'Body')).toBe(true);

  crowd.setPartVisibleAt(1, 'Shield', false);
  expect(crowd.getPartVisibleAt(1, 'Boss'), 'below the node').toBe(false);
  expect(crowd.getPartVisibleAt(2, 'Boss')).toBe(true);
  crowd.setVisiblePartsAt({ start: 2, count: 2 }, ['Body', 'Sword']);
  expect(crowd.partNames.filter((name) => crowd.getPartVisibleAt(3, name)).sort()).toEqual(['Body', 'Sword']);

  const red = new Color(1, 0, 0);
  crowd.setPartColorAt(2, 'Body', red);
  expect(crowd.getPartColorAt(2, 'Body', new Color())).toEqual(red);
  expect(crowd.getPartColorAt(1, 'Body', new Color())).toEqual(new Color(1, 1, 1));

  expect(() => crowd.setPartVisibleAt(0, 'Helmet', true)).toThrow(
    /SkinnedInstancedMesh\.setPartVisibleAt: no part "Helmet"; the character has .*"Sword"/,
  );
  expect(() => crowd.setPartColorAt(4, 'Body', red)).toThrow('no instance 4');
  expect(() => crowd.getPartVisibleAt(0, 9)).toThrow('no part 9');
  expect(() => SkinnedInstancedMesh.from(root, clips, 1, { hiddenParts: ['Hat'] })).toThrow('no part "Hat"');
});

const order = (crowd: SkinnedInstancedMesh, a: string, b: string) =>
  crowd.partNames.indexOf(a) - crowd.partNames.indexOf(b);

test('parts stay with their instances', () => {
  const { root, clips } = createKnight();
  const crowd = SkinnedInstancedMesh.from(root, clips, 3);
  crowd.setPartVisibleAt(0, 'Sword', false).setPartColorAt(0, 'Body', new Color(0, 1, 0));
  crowd.swapInstances(0, 2);
  expect(crowd.getPartVisibleAt(0, 'Sword')).toBe(true);
  crowd.setCapacity(700);
  crowd.count = 650;
  crowd.setPartVisibleAt(649, 'Boss', false);
  for (const one of [crowd, crowd.clone()]) {
    expect(one.getPartVisibleAt(2, 'Sword')).toBe(false);
    expect(one.getPartColorAt(2, 'Body', new Color())).toEqual(new Color(0, 1, 0));
    expect(one.getPartVisibleAt(649, 'Boss')).toBe(false);
    expect(one.getPartVisibleAt(648, 'Boss')).toBe(true);
  }
});

test('colours of parts stay when those of instances are taken away', () => {
  const { root, clips } = createKnight();
  const crowd = SkinnedInstancedMesh.from(root, clips, 2);
  const red = new Color(1, 0, 0);
  const color = new Color();
  const colorsOf = (mesh: SkinnedInstancedMesh) => mesh.instanceColor?.count;
  crowd.setColorAt(0, red).instanceColor = null;
  expect(colorsOf(crowd)).toBe(undefined);
  crowd.setPartColorAt(1, 'Body', red).setColorAt(0, red).instanceColor = null;
  // Shaders read colours of parts only where instances have any.
  expect(colorsOf(crowd)).toBe(2);
  expect([0, 1].map((i) => (crowd.getColorAt(i, color), color.getHex()))).toEqual([0xffffff, 0xffffff]);
  expect(crowd.getPartColorAt(1, 'Body', color)).toEqual(red);
  const copy = crowd.clone();
  copy.instanceColor = null;
  expect(colorsOf(copy)).toBe(2);
});
