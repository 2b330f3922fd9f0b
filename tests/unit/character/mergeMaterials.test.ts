import {
  type DataTexture,
  DataUtils,
  type Material,
  MeshBasicMaterial,
  MeshStandardMaterial,
  Texture,
} from 'three';
import { expect, test, vi } from 'vitest';
import { patchNodeMaterial } from '../../../lib/backends/webgpu/patchNodeMaterial.js';
import { mergeMaterials, mergingOf } from '../../../lib/character/mergeMaterials.js';

const ALL = mergingOf(true) as NonNullable<ReturnType<typeof mergingOf>>;

const surface = (parameters: ConstructorParameters<typeof MeshStandardMaterial>[0]) =>
  new MeshStandardMaterial(parameters);

/** Sizes of the groups that become one material each. */
function groups(materials: Material[], palettes = true): number[] {
  const { shares } = mergeMaterials(materials, palettes, ALL);
  const merged = new Set([...shares.values()].map(({ material }) => material));
  return [...merged].map((one) => [...shares.values()].filter(({ material }) => material === one).length);
}

test('materials that differ in colour become one without a palette, and stay as they are', () => {
  const [red, green] = [
    surface({ name: 'red', color: 0xff0000 }),
    surface({ name: 'green', color: 0x00ff00 }),
  ];
  const { shares, owned } = mergeMaterials([red, green], true, ALL);
  const { material } = shares.get(red) as { material: Material };
  expect(shares.get(green)?.material).toBe(material);
  expect(owned).toEqual([material]);
  expect(material).toMatchObject({ name: 'red+green', vertexColors: true });
  expect((material as MeshStandardMaterial).color.getHex()).toBe(0xffffff);
  expect(shares.get(red)).toMatchObject({ color: red.color, vertexColors: false, palette: null });
  expect(red.color.getHex()).toBe(0xff0000);
  expect(red.vertexColors).toBe(false);
});

test('who listens to a material does not hear of what is drawn in its place', () => {
  const [red, green] = [surface({ color: 0xff0000 }), surface({ color: 0x00ff00 })];
  const heard = vi.fn();
  red.addEventListener('dispose', heard);
  const { shares } = mergeMaterials([red, green], true, ALL);
  shares.get(red)?.material.dispose();
  expect(heard).not.toHaveBeenCalled();
});

test('roughness, metalness and emission that differ go to a palette of one texel each', () => {
  const one = surface({ roughness: 0.25, metalness: 1 });
  const other = surface({ roughness: 0.5, emissive: 0x0000ff, emissiveIntensity: 2 });
  const { shares, owned } = mergeMaterials([one, other], true, ALL);
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

test('without room for a palette, what differs in roughness stays apart', () => {
  const materials = [
    surface({ roughness: 0.1 }),
    surface({ roughness: 0.2 }),
    surface({ roughness: 0.1, color: 1 }),
  ];
  expect(groups(materials)).toEqual([3]);
  expect(groups(materials, false)).toEqual([2]);
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
  const { shares } = mergeMaterials([red, green], true, ALL);
  expect(shares.get(red)?.material).toMatchObject({ colorNode: node });
  expect(shares.get(red)?.material).toBe(shares.get(green)?.material);
  Object.assign(green, { colorNode: { isNode: true, uuid: 'another' } });
  expect(groups([red, green])).toEqual([]);

  const [own, other] = [surface({ color: 0xff0000 }), surface({ color: 0x00ff00 })];
  Object.assign(own, { setupDiffuseColor: () => {} });
  expect(groups([own, other])).toEqual([]);
});

test('materials of a class of the user with private fields are merged', () => {
  class Mine extends MeshStandardMaterial {
    #gloss = 1;
    override copy(source: this): this {
      super.copy(source);
      this.#gloss = source.#gloss;
      return this;
    }
    get gloss(): number {
      return this.#gloss;
    }
    set gloss(value: number) {
      this.#gloss = value;
    }
  }
  const materials = [new Mine({ color: 1 }), new Mine({ color: 2 })];
  for (const material of materials) material.gloss = 7;
  const { shares } = mergeMaterials(materials, true, ALL);
  expect(shares.get(materials[1])?.material).toMatchObject({ gloss: 7, vertexColors: true });

  const owner: Record<string, unknown> = {};
  owner.self = owner;
  const { userData } = Object.assign(materials[0], { userData: { owner } });
  const merged = mergeMaterials(materials, true, ALL).shares.get(materials[1])?.material;
  expect(merged).toMatchObject({ gloss: 7, userData: { owner } });
  expect(materials[0].userData).toBe(userData);
});

test('what is changed in the userData of a merged material is not changed in that of its source', () => {
  const materials = [surface({ color: 1 }), surface({ color: 2 })];
  for (const material of materials) material.userData = { health: { points: 3 } };
  const [{ userData }] = mergeMaterials(materials, true, ALL).owned as Material[];
  expect(userData).toEqual({ health: { points: 3 } });
  userData.health.points = 0;
  expect(materials[0].userData.health.points).toBe(3);
});

test('what refers to itself on a material neither keeps others from merging nor is written as JSON', () => {
  const owner: Record<string, unknown> = { name: 'the game', big: 1n };
  owner.self = owner;
  const [red, green] = [surface({ color: 0xff0000 }), surface({ color: 0x00ff00 })];
  for (const material of [red, green]) {
    Object.assign(material, { owner });
    material.userData.owner = owner;
  }
  const { shares } = mergeMaterials([red, green], true, ALL);
  expect(shares.get(red)?.material).toBe(shares.get(green)?.material);
  expect(shares.get(red)?.material).toMatchObject({ owner, userData: { owner } });
  expect(shares.get(red)?.material.userData).not.toBe(red.userData);

  const another: Record<string, unknown> = { name: 'the game', big: 1n };
  another.self = another;
  Object.assign(green, { owner: another });
  expect(groups([red, green])).toEqual([]);
});

test('materials that have been drawn by another crowd are merged with those that have not', () => {
  const [drawn, other] = [surface({ color: 0xff0000 }), surface({ color: 0x00ff00 })];
  patchNodeMaterial(drawn);
  expect(groups([drawn, other])).toEqual([2]);
});
