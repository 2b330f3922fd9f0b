import { bakedCharactersOf, readBoneTexture, writeBoneTexture } from 'skinned-instanced-mesh/files';
import { breathing, defineMotion, flutter, wind } from 'skinned-instanced-mesh/motion';
import { BoxGeometry, Matrix4, MeshBasicMaterial } from 'three';
import { expect, test } from 'vitest';
import { BoneTexture, SkinnedInstancedMesh } from '../../support/library.js';
import { createStick } from '../../support/stick.js';

/** What programs without types may pass. */
const wrong = (value: unknown) => value as never;

const { root, clips } = createStick({ A: 1 });
const boneTexture = BoneTexture.bake(root, clips);
const { geometry } = SkinnedInstancedMesh.from(root, clips, 1);
const material = new MeshBasicMaterial();

test.each<[string, (options: never) => unknown]>([
  ['SkinnedInstancedMesh.from', (options) => SkinnedInstancedMesh.from(root, clips, 1, options)],
  [
    'SkinnedInstancedMesh',
    (options) => new SkinnedInstancedMesh(geometry, material, boneTexture, 1, options),
  ],
  ['wind', (options) => wind(options)],
  ['flutter', (options) => flutter(options)],
  ['breathing', (options) => breathing(options)],
  ['defineMotion', (options) => defineMotion(options)],
  ['writeBoneTexture', (options) => writeBoneTexture(boneTexture, options)],
])('%s takes no number, text or null for its options', (caller, call) => {
  for (const [options, shown] of [
    [0.3, '0.3'],
    [null, 'null'],
    ['fast', '"fast"'],
    [[], 'Array of 0'],
  ] as const) {
    expect(() => call(wrong(options))).toThrow(
      `${caller}: options is ${shown}; pass an object, or leave it out.`,
    );
  }
});

test('files say what they take', async () => {
  const file = writeBoneTexture(boneTexture);
  await expect(readBoneTexture(file, wrong(0))).rejects.toThrow(
    'readBoneTexture: options is 0; pass an object',
  );
  for (const gltf of [undefined, null, 'scene.glb']) {
    expect(() => bakedCharactersOf(wrong(gltf))).toThrow(
      'bakedCharactersOf takes what GLTFLoader returns, not ',
    );
  }
});

test('options of crowds of the wrong kind are errors that name them', () => {
  const from = (options: object) => () => SkinnedInstancedMesh.from(root, clips, 1, options);
  expect(from({ hiddenParts: 'Hat' })).toThrow(
    'SkinnedInstancedMesh.from: hiddenParts is "Hat"; pass an array of parts.',
  );
  expect(from({ mergeMaterials: 'all' })).toThrow('mergeMaterials: options is "all"; pass an object');
  expect(from({ mergeMaterials: { textures: 'no' } })).toThrow(
    'mergeMaterials: textures is "no"; use true or false.',
  );
  expect(from({ layers: null })().playback.layers.count).toBe(1);
  for (const value of ['red', 5, {}, [undefined]]) {
    expect(() => new SkinnedInstancedMesh(geometry, wrong(value), boneTexture, 1)).toThrow(
      /^SkinnedInstancedMesh: .* is no material; pass a Material, or one for each group\./,
    );
  }
});

test('what is attached has a material and a matrix', () => {
  const crowd = SkinnedInstancedMesh.from(root, clips, 1);
  for (const value of ['red', 5, {}]) {
    expect(() => crowd.attachToJoint('Tip', new BoxGeometry(), wrong(value))).toThrow(
      /SkinnedInstancedMesh.attachToJoint: .* is no material; pass a Material/,
    );
  }
  for (const offset of [null, 5, {}, 'up', new Matrix4().makeScale(Number.NaN, 1, 1)]) {
    expect(() => crowd.attachToJoint('Tip', new BoxGeometry(), material, wrong(offset))).toThrow(
      /SkinnedInstancedMesh.attachToJoint: offset is .*; use a Matrix4 of finite numbers\./,
    );
  }
  expect(crowd.children).toEqual([]);
});
