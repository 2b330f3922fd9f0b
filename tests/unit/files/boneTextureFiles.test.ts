import { MeshoptDecoder, MeshoptEncoder } from 'meshoptimizer';
import { frames } from 'skinned-instanced-mesh';
import {
  decodeBoneTexture,
  encodeBoneTexture,
  readBoneTexture,
  writeBoneTexture,
} from 'skinned-instanced-mesh/files';
import { beforeAll, describe, expect, test } from 'vitest';
import { bakeEveryKind } from '../../support/bakedFiles.js';
import { bitsOf } from '../../support/bitsOf.js';

beforeAll(() => MeshoptEncoder.ready);

const kinds = Object.entries(bakeEveryKind());

describe.each(kinds)('%s', (_, { boneTexture }) => {
  const wanted = bitsOf(boneTexture.data);

  test('comes back bit for bit', async () => {
    const read = await readBoneTexture(writeBoneTexture(boneTexture), { frames });
    expect(bitsOf(read.data)).toEqual(wanted);
  });

  test('comes back bit for bit when it is compressed', async () => {
    const file = writeBoneTexture(boneTexture, { meshoptEncoder: MeshoptEncoder });
    const read = await readBoneTexture(file, { meshoptDecoder: MeshoptDecoder, frames });
    expect(bitsOf(read.data)).toEqual(wanted);
  });

  test('is made JSON and bytes of, and data again', () => {
    const { json, views } = structuredClone(encodeBoneTexture(boneTexture.data));
    expect(bitsOf(decodeBoneTexture(JSON.parse(JSON.stringify(json)), views))).toEqual(wanted);
  });
});
