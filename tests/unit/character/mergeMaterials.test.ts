import { type Material, MeshBasicMaterial, MeshStandardMaterial, Texture } from 'three';
import { expect, test } from 'vitest';
import { mergeAll } from '../../../lib/character/mergeMaterials.js';

const merge = (materials: Material[], palettes: boolean) =>
  mergeAll(materials, palettes, { textures: true, maxSize: 4096 });

const surface = (parameters: ConstructorParameters<typeof MeshStandardMaterial>[0]) =>
  new MeshStandardMaterial(parameters);

/** Sizes of the groups that become one material each. */
function groups(materials: Material[], palettes = true): number[] {
  const { shares } = merge(materials, palettes);
  const merged = new Set([...shares.values()].map(({ material }) => material));
  return [...merged].map((one) => [...shares.values()].filter(({ material }) => material === one).length);
}

test.each([
  ['textures', surface({ map: new Texture() })],
  ['roughness under a map', surface({ roughness: 0.3, roughnessMap: new Texture() })],
  ['sides', surface({ side: 2 })],
  ['transparency', surface({ transparent: true, opacity: 0.5 })],
  ['types', new MeshBasicMaterial()],
  ['shader hooks of the user', Object.assign(surface({}), { onBeforeCompile: () => {} })],
])('materials of different %s stay apart', (_, material) => {
  expect(groups([surface({}), material])).toEqual([]);
});

test('families are merged apart from each other', () => {
  const map = new Texture();
  const materials = [
    surface({}),
    surface({ color: 1 }),
    surface({ map }),
    surface({ map, color: 2 }),
    surface({ side: 1 }),
  ];
  expect(groups(materials)).toEqual([2, 2]);
});

test('nodes that plain materials have go along, and methods of the user keep them apart', () => {
  const node = { isNode: true, uuid: 'a node' };
  const [red, green] = [surface({ color: 0xff0000 }), surface({ color: 0x00ff00 })];
  for (const material of [red, green]) Object.assign(material, { colorNode: node });
  const { shares } = merge([red, green], true);
  expect(shares.get(red)?.material).toMatchObject({ colorNode: node });
  expect(shares.get(red)?.material).toBe(shares.get(green)?.material);
  Object.assign(green, { colorNode: { isNode: true, uuid: 'another' } });
  expect(groups([red, green])).toEqual([]);

  const [own, other] = [surface({ color: 0xff0000 }), surface({ color: 0x00ff00 })];
  Object.assign(own, { setupDiffuseColor: () => {} });
  expect(groups([own, other])).toEqual([]);
});
