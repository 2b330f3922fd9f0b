import {
  bakedCharactersOf,
  SkinnedInstancedMeshExtension,
  type WriteOptions,
  writeBoneTexture,
} from 'skinned-instanced-mesh/files';
import type { BufferGeometry } from 'three';
import { GLTFLoader } from 'three/addons/loaders/GLTFLoader.js';
import { afterEach, beforeAll, expect, test, vi } from 'vitest';
import { buildGlb, parseGlb } from '../../../lib/format/glb.js';
import { createArm } from '../../support/bakedFiles.js';
import { exportGlb } from '../../support/exportGlb.js';
import { type BoneTexture, SkinnedInstancedMesh } from '../../support/library.js';

let into: ArrayBuffer;
let boneTexture: BoneTexture;
let geometry: BufferGeometry;

async function load(file: ArrayBuffer | Uint8Array) {
  const loader = new GLTFLoader();
  loader.register((parser) => new SkinnedInstancedMeshExtension(parser));
  return loader.parseAsync(new Uint8Array(file).slice().buffer, '');
}

beforeAll(async () => {
  const { root, clips } = createArm();
  into = await exportGlb(root, clips);
  ({ boneTexture, geometry } = SkinnedInstancedMesh.from(await load(into), 1));
});

afterEach(() => void vi.restoreAllMocks());

const level = { geometry: null };

test.each<[WriteOptions | Record<string, unknown>, string | RegExp]>([
  [{ levels: [level] }, 'levels[0] begins at distance undefined and screenShare undefined; pass one'],
  [{ levels: [{ ...level, distance: 3, screenShare: 0.5 }] }, 'begins at distance 3 and screenShare 0.5;'],
  [{ levels: [{ ...level, distance: Number.NaN }] }, 'levels[0].distance is NaN; use world units'],
  [{ levels: [{ ...level, distance: -1 }] }, 'levels[0].distance is -1; use world units'],
  [{ levels: [{ ...level, screenShare: 0 }] }, 'levels[0].screenShare is 0; use a share'],
  [
    {
      levels: [
        { ...level, distance: 3 },
        { ...level, screenShare: 0.5 },
      ],
    },
    'levels[1] begins by screenShare',
  ],
  [{ levels: [{ ...level, distance: 3, hysteresis: 2 }] }, 'levels[0].hysteresis is 2; use a share'],
  [{ levels: [{ ...level, distance: 3, influences: 3 }] }, 'levels[0].influences is 3; use 1, 2 or 4'],
  [{ scene: 7 }, 'scene is 7, and the file has 1 of them'],
  [{ node: 99 }, /node is 99, and the file has \d+ of them/],
  [{ precision: 'foo' }, 'precision is "foo"; use "half" or "float"'],
  [{ mergeMaterials: 'yes' }, 'mergeMaterials is to be true, false or { textures, maxSize }'],
  [{ mergeMaterials: { maxSize: 0 } }, 'mergeMaterials is to be'],
  [{ hiddenParts: ['Nope'] }, /hiddenParts: the file has no node or mesh "Nope"; it has .*Sleeve/],
])('what could never be loaded is not written: %o', (options, message) => {
  expect(() => writeBoneTexture(boneTexture, { into, geometry, ...options } as WriteOptions)).toThrow(
    message,
  );
});

test('how materials are merged is kept', async () => {
  const mergeMaterials = { textures: false, maxSize: 512 };
  const [character] = bakedCharactersOf(await load(writeBoneTexture(boneTexture, { into, mergeMaterials })));
  expect(character.mergeMaterials).toEqual(mergeMaterials);
});

test('a document without scenes gets a bone texture that belongs to none', async () => {
  const file = writeBoneTexture(boneTexture, { into: writeBoneTexture(boneTexture) });
  const { extensions } = parseGlb(file).json as {
    extensions: { SIM_baked_animation: { characters: object[] } };
  };
  const { characters } = extensions.SIM_baked_animation;
  expect(characters).toHaveLength(1);
  expect(characters[0]).not.toHaveProperty('scene');
  expect(bakedCharactersOf(await load(file))).toEqual([]);
});

test('options that are undefined leave what the file says', async () => {
  const gltf = await load(writeBoneTexture(boneTexture, { into, hiddenParts: ['Sleeve'] }));
  const options = { boneTexture: undefined, hiddenParts: undefined, mergeMaterials: undefined };
  const crowd = SkinnedInstancedMesh.from(gltf, 1, options);
  expect(crowd.boneTexture).toBe(bakedCharactersOf(gltf)[0].boneTexture);
  expect(crowd.getPartVisibleAt(0, 'Sleeve')).toBe(false);
});

test('a character whose scene is gone is an error, or with clips a warning', async () => {
  const { json, binary } = parseGlb(writeBoneTexture(boneTexture, { into }));
  const { extensions } = json as {
    extensions: { SIM_baked_animation: { characters: { scene?: number }[] } };
  };
  delete extensions.SIM_baked_animation.characters[0].scene;
  const gltf = await load(buildGlb(json, binary));
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  const lost = "SkinnedInstancedMesh.from: the file's baked character has no scene or node";
  expect(() => SkinnedInstancedMesh.from({ ...gltf, animations: [] }, 1)).toThrow(lost);
  expect(SkinnedInstancedMesh.from(gltf, 1).boneTexture.clips).toHaveLength(3);
  expect(warn).toHaveBeenCalledWith(expect.stringContaining(lost));
});

test('a file that was not read is a warning if its own clips are there', async () => {
  const bytes = writeBoneTexture(boneTexture, { into }).slice().buffer;
  const gltf = await new GLTFLoader().parseAsync(bytes, '');
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  SkinnedInstancedMesh.from(gltf, 1);
  expect(warn).toHaveBeenCalledWith(expect.stringContaining('was not read; call loader.register'));
});
