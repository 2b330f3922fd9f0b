import {
  type DataTexture,
  DataUtils,
  type Material,
  MeshBasicMaterial,
  MeshStandardMaterial,
  Texture,
} from 'three';
import { expect, test } from 'vitest';
import { mergeMaterials } from '../../../lib/character/mergeMaterials.js';

const { merge } = mergeMaterials();

const surface = (parameters: ConstructorParameters<typeof MeshStandardMaterial>[0]) =>
  new MeshStandardMaterial(parameters);

/** Sizes of the groups that become one material each. */
function groups(materials: Material[], palettes = true): number[] {
  const { shares } = merge(materials, palettes);
  const merged = new Set([...shares.values()].map(({ material }) => material));
  return [...merged].map((one) => [...shares.values()].filter(({ material }) => material === one).length);
}

test('materials that differ in colour become one without a palette, and stay as they are', () => {
  const [red, green] = [
    surface({ name: 'red', color: 0xff0000 }),
    surface({ name: 'green', color: 0x00ff00 }),
  ];
  const { shares, owned } = merge([red, green], true);
  const { material } = shares.get(red) as { material: Material };
  expect(shares.get(green)?.material).toBe(material);
  expect(owned).toEqual([material]);
  expect(material).toMatchObject({ name: 'red+green', vertexColors: true });
  expect((material as MeshStandardMaterial).color.getHex()).toBe(0xffffff);
  expect(shares.get(red)).toMatchObject({ color: red.color, vertexColors: false, palette: null });
  expect(red.color.getHex()).toBe(0xff0000);
  expect(red.vertexColors).toBe(false);
});

test('roughness, metalness and emission that differ go to a palette of one texel each', () => {
  const one = surface({ roughness: 0.25, metalness: 1 });
  const other = surface({ roughness: 0.5, emissive: 0x0000ff, emissiveIntensity: 2 });
  const { shares, owned } = merge([one, other], true);
  expect([shares.get(one)?.palette, shares.get(other)?.palette]).toEqual([0.25, 0.75]);
  const { material } = shares.get(one) as { material: Material };
  const { roughness, roughnessMap, metalnessMap, emissiveMap } = material as MeshStandardMaterial;
  expect(roughness).toBe(1);
  expect(roughnessMap).toBe(metalnessMap);
  const texels = (map: Texture | null) =>
    Array.from((map as DataTexture).image.data as Uint16Array, DataUtils.fromHalfFloat);
  expect(texels(roughnessMap)).toEqual([0, 0.25, 1, 1, 0, 0.5, 0, 1]);
  expect(texels(emissiveMap)).toEqual([0, 0, 0, 1, 0, 0, 2, 1]);
  expect(owned).toEqual([material, roughnessMap, emissiveMap]);
});

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
