import {
  bakedCharactersOf,
  SkinnedInstancedMeshExtension,
  type WriteOptions,
  writeBoneTexture,
} from 'skinned-instanced-mesh/files';
import type { BufferGeometry } from 'three';
import { GLTFLoader } from 'three/addons/loaders/GLTFLoader.js';
import { afterEach, beforeAll, expect, test, vi } from 'vitest';
import { buildGlb, parseGlb } from '../../../lib/files/glb.js';
import { createArm } from '../../support/bakedFiles.js';
import { exportGlb } from '../../support/exportGlb.js';
import { type BoneTexture, bakeCharacter, SkinnedInstancedMesh } from '../../support/library.js';

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
  ({ boneTexture, geometry } = new SkinnedInstancedMesh(bakeCharacter(root, clips), 1));
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

test('a character whose scene is gone is an error, and what else is in the file can be loaded', async () => {
  const { json, binary } = parseGlb(writeBoneTexture(boneTexture, { into }));
  const { extensions } = json as {
    extensions: { SIM_baked_animation: { characters: { scene?: number }[] } };
  };
  delete extensions.SIM_baked_animation.characters[0].scene;
  const gltf = await load(buildGlb(json, binary));
  expect(gltf.animations).toHaveLength(3);
  expect(() => bakedCharactersOf(gltf)).toThrow("the file's baked character has no scene or node");
});
