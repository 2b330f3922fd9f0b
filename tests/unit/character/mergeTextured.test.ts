import {
  CompressedTexture,
  DataTexture,
  type Material,
  type MeshPhysicalMaterial,
  MeshStandardMaterial,
  ObjectSpaceNormalMap,
  RGBA_S3TC_DXT5_Format,
  SRGBColorSpace,
  Texture,
  Vector2,
} from 'three';
import { afterEach, expect, test, vi } from 'vitest';
import { type MergeMaterialsOptions, mergeMaterials } from '../../../lib/character/mergeMaterials.js';

type Parameters = ConstructorParameters<typeof MeshPhysicalMaterial>[0];

const surface = (parameters: Parameters = {}) => new MeshStandardMaterial(parameters);

/** An image of one value. */
function image(value: number, settings: Partial<Texture> = {}, size = 2): DataTexture {
  const texture = new DataTexture(new Uint8Array(size * size * 4).fill(value), size, size);
  texture.name = `${value}`;
  return Object.assign(texture, settings);
}

const merge = (materials: Material[], options?: MergeMaterialsOptions) =>
  mergeMaterials(options).merge(materials, true);

/** How many materials are drawn. */
function drawn(materials: Material[], option?: MergeMaterialsOptions): number {
  const { shares } = merge(materials, option);
  return new Set(materials.map((material) => shares.get(material)?.material ?? material)).size;
}

afterEach(() => vi.restoreAllMocks());

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

test('compressed textures of one size become layers without being read, of several sizes they stay apart', () => {
  const compressed = (value: number, size: number) => {
    const mipmap = (side: number) => ({
      data: new Uint8Array(side * side).fill(value),
      width: side,
      height: side,
    });
    return new CompressedTexture([mipmap(size), mipmap(size / 2)], size, size, RGBA_S3TC_DXT5_Format);
  };
  const materials = [1, 2].map((value) => surface({ map: compressed(value, 8) }));
  const { material } = merge(materials).shares.get(materials[0]) as { material: Material };
  const { mipmaps, image: size, format } = (material as MeshStandardMaterial).map as CompressedTexture;
  expect([size.width, (size as { depth?: number }).depth, format]).toEqual([8, 2, RGBA_S3TC_DXT5_Format]);
  expect(mipmaps?.map(({ data, width }) => [data?.length, data?.[0], data?.[width * width], width])).toEqual([
    [128, 1, 2, 8],
    [32, 1, 2, 4],
  ]);
  expect(drawn([surface({ map: compressed(1, 8) }), surface({ map: compressed(2, 16) })])).toBe(2);
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
