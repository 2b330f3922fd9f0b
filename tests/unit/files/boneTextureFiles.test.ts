import { MeshoptDecoder, MeshoptEncoder } from 'meshoptimizer';
import type { BoneTextureData } from 'skinned-instanced-mesh';
import { frames } from 'skinned-instanced-mesh';
import {
  decodeBoneTexture,
  encodeBoneTexture,
  readBoneTexture,
  writeBoneTexture,
} from 'skinned-instanced-mesh/files';
import { beforeAll, describe, expect, test } from 'vitest';
import { bakeEveryKind } from '../../support/bakedFiles.js';

beforeAll(() => MeshoptEncoder.ready);

/** Data with every array as its bytes, so that comparing them tells -0 from 0 and one NaN from another. */
const bits = (data: Readonly<BoneTextureData>): unknown =>
  structuredCloneWith(data, (array) => [
    array.constructor.name,
    Buffer.from(array.buffer, array.byteOffset, array.byteLength).toString('base64'),
  ]);

function structuredCloneWith(value: unknown, convert: (array: ArrayBufferView) => unknown): unknown {
  if (ArrayBuffer.isView(value)) return convert(value);
  if (Array.isArray(value)) return value.map((one) => structuredCloneWith(one, convert));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [key, structuredCloneWith(one, convert)]),
  );
}

const kinds = Object.entries(bakeEveryKind());

describe.each(kinds)('%s', (_, { boneTexture }) => {
  const wanted = bits(boneTexture.data);

  test('comes back bit for bit', async () => {
    const read = await readBoneTexture(writeBoneTexture(boneTexture), { frames });
    expect(bits(read.data)).toEqual(wanted);
  });

  test('comes back bit for bit when it is compressed', async () => {
    const file = writeBoneTexture(boneTexture, { meshoptEncoder: MeshoptEncoder });
    const read = await readBoneTexture(file, { meshoptDecoder: MeshoptDecoder, frames });
    expect(bits(read.data)).toEqual(wanted);
  });

  test('is made JSON and bytes of, and data again', () => {
    const { json, views } = structuredClone(encodeBoneTexture(boneTexture.data));
    expect(bits(decodeBoneTexture(JSON.parse(JSON.stringify(json)), views))).toEqual(wanted);
  });
});
