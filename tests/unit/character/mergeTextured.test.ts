import {
  CompressedTexture,
  type DataArrayTexture,
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
import { hasArrayMap, mergedCode, mergedTable } from '../../../lib/backends/surfaceMaps.js';
import { type MergeMaterialsOptions, mergeMaterials } from '../../../lib/character/mergeMaterials.js';
import { hasLayers, MERGED_MAPS, TABLE_TEXELS } from '../../../lib/utils/mergedMaps.js';

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

/** What the table says of a material: layers by name, and its constants. */
function rowOf(material: Material, { shares }: ReturnType<typeof merge>) {
  const share = shares.get(material) as NonNullable<ReturnType<typeof shares.get>>;
  const table = mergedTable(share.material) as DataTexture;
  const row = Array.from((table.image.data as Float32Array).subarray(share.number * TABLE_TEXELS * 4));
  const layers = Object.fromEntries(
    MERGED_MAPS.map((name, i) => [name, row[i]]).filter(([, at]) => at !== -1),
  );
  return { layers, constants: row.slice(6, 11).map((value) => Math.round(value * 1e6) / 1e6) };
}

afterEach(() => vi.restoreAllMocks());

test('textures become layers, each once, and a table says which ones a material has', () => {
  const orm = image(30);
  const [red, green] = [image(10), image(20)];
  const materials = [
    surface({ name: 'a', map: red, roughnessMap: orm, metalnessMap: orm, aoMap: orm, roughness: 0.5 }),
    surface({ name: 'b', map: green, roughnessMap: image(40), metalness: 0.25, color: 0xff0000 }),
    surface({ name: 'c', map: red, emissive: 0x00ff00, emissiveIntensity: 3 }),
    surface({ name: 'd', color: 0x0000ff, roughness: 0.75 }),
  ];
  const merged = merge(materials);
  const { shares, owned } = merged;
  const material = shares.get(materials[0])?.material as MeshStandardMaterial;
  expect(materials.map((one) => shares.get(one)?.material === material)).toEqual([true, true, true, true]);
  expect(materials.map((one) => rowOf(one, merged))).toEqual([
    { layers: { map: 0, roughnessMap: 0, metalnessMap: 0, aoMap: 0 }, constants: [0.5, 0, 0, 0, 0] },
    { layers: { map: 1, roughnessMap: 1 }, constants: [1, 0.25, 0, 0, 0] },
    { layers: { map: 0 }, constants: [1, 0, 0, 3, 0] },
    { layers: {}, constants: [0.75, 0, 0, 0, 0] },
  ]);
  const { map, roughnessMap, metalnessMap, aoMap, emissiveMap, color } = material;
  const layers = map as unknown as DataArrayTexture;
  expect(layers.image).toMatchObject({ width: 2, height: 2, depth: 2 });
  expect(Array.from(layers.image.data as Uint8Array)).toEqual([...Array(16).fill(10), ...Array(16).fill(20)]);
  expect(new Set([roughnessMap, metalnessMap, aoMap]).size).toBe(1);
  expect(emissiveMap).toBeNull();
  expect(color.getHex()).toBe(0xffffff);
  expect(owned).toEqual([material, mergedTable(material), map, roughnessMap]);
  // Nothing is changed in the materials, and instances have no array to choose layers from.
  expect(materials[0].map).toBe(red);
  expect(hasArrayMap(material)).toBe(false);
  const code = mergedCode(material);
  expect(MERGED_MAPS.filter((name) => hasLayers(code, name))).toEqual([
    'map',
    'roughnessMap',
    'metalnessMap',
    'aoMap',
  ]);
  expect(mergedCode(materials[0])).toBe(0);
  // A copy of the material is still one.
  expect(mergedTable(material.clone())).toBe(mergedTable(material));
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
