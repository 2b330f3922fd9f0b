import { type WriteOptions, writeCharacter } from 'skinned-instanced-mesh/files';
import { DataTexture, MeshStandardMaterial } from 'three';
import { expect, test } from 'vitest';
import { createArm } from '../../support/bakedFiles.js';
import { bakeCharacter } from '../../support/library.js';

const { root, clips } = createArm();
const character = bakeCharacter(root, clips);

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
  [
    { levels: [{ geometry: character.geometry, distance: 3 }] },
    'levels[0] is not what simplifyGeometry returns',
  ],
  [
    { levels: [{ geometry: character.geometry, vertices: new Uint32Array(99).fill(999), distance: 3 }] },
    "levels[0] has vertices that the character's geometry, of 40, has not",
  ],
  [{ source: new Uint8Array(8) }, 'the file is no .glb'],
  [{ mergeMaterials: { maxSize: 0 } }, 'mergeMaterials.maxSize is 0'],
])('what could never be loaded is not written: %o', (options, message) => {
  expect(() => writeCharacter(character, options as WriteOptions)).toThrow(message);
});

test('textures of another file are not written', () => {
  const material = new MeshStandardMaterial({ name: 'Cloth', map: new DataTexture() });
  expect(() => writeCharacter({ ...character, material })).toThrow(
    'material "Cloth" has textures and is none of the file\'s; pass { source, gltf }',
  );
});
