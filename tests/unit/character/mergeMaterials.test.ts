import {
  DataTexture,
  type Material,
  MeshBasicMaterial,
  type MeshPhysicalMaterial,
  MeshStandardMaterial,
  ObjectSpaceNormalMap,
  SRGBColorSpace,
  Texture,
  Vector2,
} from 'three';
import { expect, test, vi } from 'vitest';
import { mergeAll } from '../../../lib/character/mergeMaterials.js';

type Parameters = ConstructorParameters<typeof MeshPhysicalMaterial>[0];

const surface = (parameters: Parameters = {}) => new MeshStandardMaterial(parameters);

/** An image of one value. */
function image(value: number, settings: Partial<Texture> = {}, size = 2): DataTexture {
  const texture = new DataTexture(new Uint8Array(size * size * 4).fill(value), size, size);
  texture.name = `${value}`;
  return Object.assign(texture, settings);
}

const merge = (materials: Material[]) => mergeAll(materials, true, { textures: true, maxSize: 4096 });

/** How many materials are drawn. */
function drawn(materials: Material[]): number {
  const { shares } = merge(materials);
  return new Set(materials.map((material) => shares.get(material)?.material ?? material)).size;
}

test.each([
  ['textures', surface({ map: new Texture() })],
  ['roughness under a map', surface({ roughness: 0.3, roughnessMap: new Texture() })],
  ['sides', surface({ side: 2 })],
  ['transparency', surface({ transparent: true, opacity: 0.5 })],
  ['types', new MeshBasicMaterial()],
  ['shader hooks of the user', Object.assign(surface(), { onBeforeCompile: () => {} })],
])('materials of different %s stay apart', (_, material) => {
  expect(drawn([surface(), material])).toBe(2);
});

test('families are merged apart from each other', () => {
  const map = new Texture();
  const materials = [
    surface(),
    surface({ color: 1 }),
    surface({ map }),
    surface({ map, color: 2 }),
    surface({ side: 1 }),
  ];
  expect(drawn(materials)).toBe(3);
});

test('nodes that plain materials have go along, and methods of the user keep them apart', () => {
  const node = { isNode: true, uuid: 'a node' };
  const [red, green] = [surface({ color: 0xff0000 }), surface({ color: 0x00ff00 })];
  for (const material of [red, green]) Object.assign(material, { colorNode: node });
  const { shares } = merge([red, green]);
  expect(shares.get(red)?.material).toMatchObject({ colorNode: node });
  expect(shares.get(red)?.material).toBe(shares.get(green)?.material);
  Object.assign(green, { colorNode: { isNode: true, uuid: 'another' } });
  expect(drawn([red, green])).toBe(2);

  const [own, other] = [surface({ color: 0xff0000 }), surface({ color: 0x00ff00 })];
  Object.assign(own, { setupDiffuseColor: () => {} });
  expect(drawn([own, other])).toBe(2);
});

test.each<[string, Parameters, Parameters]>([
  ['wrapping', { map: image(1) }, { map: image(2, { wrapS: 1000 }) }],
  ['filters', { map: image(1) }, { map: image(2, { minFilter: 1006 }) }],
  ['colour spaces', { map: image(1) }, { map: image(2, { colorSpace: SRGBColorSpace }) }],
  ['uv sets', { map: image(1) }, { map: image(2, { channel: 1 }) }],
  ['uv transforms', { map: image(1) }, { map: image(2, { repeat: new Vector2(2, 1) }) }],
  ['normal scales', { normalMap: image(1) }, { normalMap: image(2), normalScale: new Vector2(2, 2) }],
  ['occlusion', { aoMap: image(1) }, { aoMap: image(2), aoMapIntensity: 0.5 }],
  ['alpha tests', { map: image(1), alphaTest: 0.5 }, { map: image(2) }],
  ['transparency', { map: image(1), transparent: true }, { map: image(2) }],
  ['bumps', { normalMap: image(1), bumpMap: image(3) }, { bumpMap: image(4) }],
  ['alpha maps', { map: image(1), alphaMap: image(3) }, { map: image(2), alphaMap: image(4) }],
  ['a space that has no neutral normal', { normalMap: image(1), normalMapType: ObjectSpaceNormalMap }, {}],
])('textures with different %s stay apart', (_, one, other) => {
  expect(drawn([surface(one), surface(other)])).toBe(2);
});

test('what is not loaded, or cannot be read, stays apart, and a warning says so', () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  expect(drawn([surface({ name: 'early', map: new Texture() }), surface({ map: image(1) })])).toBe(2);
  expect(warn.mock.lastCall?.[0]).toMatch('the map of material "early" is not loaded yet');
  // Scaling takes WebGL, which Node has not.
  const sizes = [surface({ name: 'small', map: image(1) }), surface({ name: 'large', map: image(2, {}, 4) })];
  expect(drawn(sizes)).toBe(2);
  expect(warn.mock.lastCall?.[0]).toMatch(
    /textures of materials "small", "large" cannot be read \(there is no WebGL/,
  );
  // The same materials as before there were textures.
  expect(drawn([...sizes, surface({ color: 1 }), surface({ roughness: 0 })])).toBe(3);
});
