import {
  DataTexture,
  type Material,
  type MeshPhysicalMaterial,
  MeshStandardMaterial,
  ObjectSpaceNormalMap,
  SRGBColorSpace,
  Texture,
  Vector2,
} from 'three';
import { expect, test, vi } from 'vitest';
import { type MergeMaterialsOptions, mergeAll } from '../../../lib/character/mergeMaterials.js';

type Parameters = ConstructorParameters<typeof MeshPhysicalMaterial>[0];

const surface = (parameters: Parameters = {}) => new MeshStandardMaterial(parameters);

/** An image of one value. */
function image(value: number, settings: Partial<Texture> = {}, size = 2): DataTexture {
  const texture = new DataTexture(new Uint8Array(size * size * 4).fill(value), size, size);
  texture.name = `${value}`;
  return Object.assign(texture, settings);
}

const merge = (materials: Material[], options?: MergeMaterialsOptions) =>
  mergeAll(materials, true, { textures: true, maxSize: 4096, ...options });

/** How many materials are drawn. */
function drawn(materials: Material[], option?: MergeMaterialsOptions): number {
  const { shares } = merge(materials, option);
  return new Set(materials.map((material) => shares.get(material)?.material ?? material)).size;
}

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
])('materials of different %s stay apart', (_, one, other) => {
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
