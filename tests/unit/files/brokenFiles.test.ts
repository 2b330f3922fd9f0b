import { MeshoptDecoder, MeshoptEncoder } from 'meshoptimizer';
import {
  decodeBoneTexture,
  encodeBoneTexture,
  readBoneTexture,
  writeBoneTexture,
} from 'skinned-instanced-mesh/files';
import { VertexTexture } from 'skinned-instanced-mesh/vertex-textures';
import { beforeAll, describe, expect, test } from 'vitest';
import { checksumOf } from '../../../lib/files/checksum.js';
import { buildGlb, parseGlb } from '../../../lib/files/glb.js';
import { bakeEveryKind, bakeVertices } from '../../support/bakedFiles.js';
import { BoneTexture, frames } from '../../support/library.js';
import { random } from '../../support/random.js';
import { THOROUGH } from '../../support/thorough.js';

/** How many files are damaged by chance in each way. */
const COUNT = THOROUGH ? 3_000 : 500;
/** Bytes of arrays that may be made of a file, as a multiple of its own, and for the texels of tracks at least. */
const GROWTH = 64;
const LEAST = 4e6;

const kinds = Object.values(bakeEveryKind()).map(({ boneTexture }) => boneTexture);
const encoded = kinds.map(({ data }) => encodeBoneTexture(data));
const files: Uint8Array[] = [];

beforeAll(async () => {
  await MeshoptEncoder.ready;
  for (const boneTexture of [...kinds, ...Object.values(bakeVertices())]) {
    files.push(writeBoneTexture(boneTexture, { name: 'One' }));
    files.push(writeBoneTexture(boneTexture, { meshoptEncoder: MeshoptEncoder }));
  }
});

const read = (bytes: Uint8Array) =>
  readBoneTexture(bytes, { meshoptDecoder: MeshoptDecoder, vertexTextures: VertexTexture, frames });

/** All that a file holds; of vertex textures that is not their data alone. */
async function contentOf(bytes: Uint8Array): Promise<unknown> {
  const texture = await read(bytes);
  return texture instanceof VertexTexture ? texture.encode() : texture.data;
}

/** Tells an error that says what is wrong with the file from one that says nothing. */
function expectClear(error: unknown, what: string): void {
  expect(error, what).toBeInstanceOf(Error);
  const { message, cause } = error as Error;
  expect(message, what).toMatch(/^SIM_baked_animation: .{10}/);
  if (cause !== undefined && /the file is damaged: /.test(message)) {
    expect(cause, `${what}: ${message}`).not.toBeInstanceOf(TypeError);
    expect(cause, `${what}: ${message}`).not.toBeInstanceOf(RangeError);
  }
}

/** Bytes of all typed arrays, as far as they were not collected. */
const taken = () => process.memoryUsage().arrayBuffers;

test('files that are damaged by chance are an error that says so, or are read as they were', async () => {
  const wanted = await Promise.all(files.map(contentOf));
  let refused = 0;
  for (let seed = 1; seed <= COUNT; seed++) {
    const chance = random(seed);
    const pick = (count: number) => Math.floor(chance() * count);
    const which = pick(files.length);
    const bytes = damaged(files[which], chance);
    const what = `seed ${seed}`;
    const before = taken();
    try {
      expect(await contentOf(bytes), what).toEqual(wanted[which]);
    } catch (error) {
      if ((error as Error).name === 'AssertionError') throw error;
      expectClear(error, what);
      refused++;
    }
    expect(taken() - before, what).toBeLessThan(LEAST + bytes.length * GROWTH);
  }
  console.log(`${refused} of ${COUNT} damaged files were refused, the others read as they were`);
  expect(refused).toBeGreaterThan(COUNT / 2);
});

/** A copy that is cut off, longer, or has other bytes in some places. */
function damaged(file: Uint8Array, chance: () => number): Uint8Array {
  const pick = (count: number) => Math.floor(chance() * count);
  const way = pick(6);
  if (way === 0) return file.slice(0, pick(file.length));
  if (way === 1) return Uint8Array.from([...file.subarray(0, 500), pick(256), ...file.subarray(500)]);
  const bytes = file.slice();
  // Where lengths and JSON are, as often as anywhere.
  const range = way === 2 ? 20 : way === 3 ? new DataView(file.buffer).getUint32(12, true) + 28 : file.length;
  for (let i = 0; i < (way === 4 ? 1 : 1 + pick(8)); i++) bytes[pick(range)] = pick(256);
  if (way === 5) new DataView(bytes.buffer).setUint32(pick(file.length / 4 - 1) * 4, pick(2 ** 32), true);
  return bytes;
}

const HOSTILE = [
  -1,
  0,
  1,
  1.5,
  7,
  1e9,
  2 ** 31,
  2 ** 32,
  2 ** 53,
  1e308,
  null,
  true,
  '',
  'tracks',
  'half',
  [],
  [null],
  {},
  [[]],
];

test('JSON that says anything, with a checksum that is right, is an error that says what', () => {
  for (let seed = 1; seed <= COUNT; seed++) {
    const chance = random(seed);
    const pick = (count: number) => Math.floor(chance() * count);
    const { json, views } = structuredClone(encoded[pick(encoded.length)]);
    let what = `seed ${seed}:`;
    for (let i = 0; i < 1 + pick(2); i++) {
      const [place, key] = anyPlace(json as never, chance);
      const value = HOSTILE[pick(HOSTILE.length)];
      what += ` ${key} = ${JSON.stringify(value)}`;
      if (chance() < 0.15) delete place[key];
      else place[key] = structuredClone(value);
    }
    // Numbers in the arrays too.
    if (chance() < 0.5) {
      const view = views[pick(views.length)];
      view[pick(view.length)] = pick(256);
      if (chance() < 0.2) views.splice(pick(views.length), 1, view.slice(0, pick(view.length)));
    }
    // As a file would have it, without holes in arrays.
    const parsed = JSON.parse(JSON.stringify(json));
    parsed.checksum = checksumOf(parsed, views);
    const before = taken();
    try {
      new BoneTexture(decodeBoneTexture(parsed, views), frames);
    } catch (error) {
      expectClear(error, what);
    }
    expect(taken() - before, what).toBeLessThan(LEAST);
  }
});

type Place = Record<string, unknown>;

/** An object somewhere in JSON, and one of its keys. */
function anyPlace(json: Place, chance: () => number): [Place, string] {
  let place = json;
  for (;;) {
    const keys = Object.keys(place);
    const key = keys[Math.floor(chance() * keys.length)] ?? 'other';
    const value = place[key];
    const isInner = typeof value === 'object' && value !== null && Object.keys(value).length > 0;
    if (!isInner || chance() < 0.2) return [place, key];
    place = value as Place;
  }
}

/** The file with something else in its JSON. */
function changed(change: (json: never) => void, compressed = true): Uint8Array {
  const { json, binary } = parseGlb(files[compressed ? 1 : 0]);
  const own = structuredClone(json);
  change(own as never);
  return buildGlb(own, binary);
}

interface Document {
  extensions: {
    SIM_baked_animation: { version: unknown; characters: { boneTexture: { views: unknown[] } }[] };
  };
  bufferViews: Record<string, unknown>[];
  buffers: Record<string, unknown>[];
}

const extension = ({ extensions }: Document) => extensions.SIM_baked_animation;
const viewsOf = (json: Document) =>
  extension(json).characters[0].boneTexture.views as Record<string, unknown>[];

describe('what is wrong is said', () => {
  /** A file in whose JSON something is another value. */
  const having = (change: (json: Document) => unknown) => () => changed((json) => void change(json));

  test.each([
    ['no file', () => new Uint8Array(0), 'the file is no .glb; pass the bytes of a binary glTF file.'],
    ['text', () => new TextEncoder().encode('{"asset":{"version":"2.0"}}'), 'the file is no .glb'],
    ['cut off', () => files[0].slice(0, -1), /the file is cut off: it has \d+ bytes of \d+; fetch it again/],
    [
      'no baked animation',
      () => buildGlb({ asset: {} }, new Uint8Array(0)),
      'the file has no baked animation;',
    ],
    [
      'a later version',
      having((json) => Object.assign(extension(json), { version: 2 })),
      'the file is of version 2, and this library reads version 1; bake the file anew',
    ],
    [
      'no version',
      having((json) => Object.assign(extension(json), { version: 'one' })),
      'the file is of version one, and this library reads version 1',
    ],
    [
      'another checksum',
      having((json) => Object.assign(extension(json).characters[0].boneTexture, { checksum: 5 })),
      /boneTexture\.checksum is 5, but has to be \d+, for what the file holds/,
    ],
    [
      'no such buffer view',
      having((json) => Object.assign(viewsOf(json)[0], { bufferView: 99 })),
      /characters\[0\]\.boneTexture\.views\[0\]\.bufferView is 99, but has to be a whole number from 0 to \d+/,
    ],
    [
      'offset out of range',
      having(({ bufferViews }) => Object.assign(bufferViews[2], { byteOffset: 1e9 })),
      /bufferViews\[2\]\.byteOffset is 1000000000, but has to be a whole number from 0 to \d+/,
    ],
    [
      'length out of range',
      having(({ bufferViews }) => Object.assign(bufferViews[2], { byteLength: 1e9 })),
      /bufferViews\[2\]\.byteLength is 1000000000/,
    ],
    [
      'another file',
      having(({ buffers }) => Object.assign(buffers[0], { uri: 'knight.bin' })),
      'buffers[0] is in another file; read it with GLTFLoader',
    ],
    ['no buffer', having((json) => Object.assign(json, { buffers: [] })), 'buffers is Array of 0'],
    ['deep JSON', () => nested(), 'the JSON is nested too deeply'],
  ] as [string, () => Uint8Array, string | RegExp][])('%s', async (_, make, message) => {
    await expect(read(make())).rejects.toThrow(message);
  });

  test('compressed, and no decoder', async () => {
    await expect(readBoneTexture(files[1])).rejects.toThrow(
      'call loader.setMeshoptDecoder(MeshoptDecoder), or',
    );
  });
});

/** JSON that holds itself a hundred thousand times, which JSON.parse takes. */
function nested(): Uint8Array {
  const { json, binary } = parseGlb(files[0]);
  const deep = `${'['.repeat(1e5)}${']'.repeat(1e5)}`;
  const text = JSON.stringify(json).replace('"encoding":', `"deep":${deep},"encoding":`);
  const bytes = buildGlb({ asset: {} }, new Uint8Array(0));
  const chunk = new TextEncoder().encode(text.padEnd(Math.ceil(text.length / 4) * 4));
  const all = new Uint8Array(20 + chunk.length + 8 + binary.length);
  all.set(bytes.subarray(0, 20));
  all.set(chunk, 20);
  all.set(binary, 28 + chunk.length);
  const view = new DataView(all.buffer);
  view.setUint32(8, all.length, true);
  view.setUint32(12, chunk.length, true);
  view.setUint32(20 + chunk.length, binary.length, true);
  view.setUint32(24 + chunk.length, 0x004e4942, true);
  return all;
}

describe('no memory is taken that the file does not have', () => {
  const textureOf = (json: Document) => extension(json).characters[0].boneTexture;
  const layout = { width: 2 ** 20, height: 2 ** 20, stride: 1 };
  test.each([
    ['elements', (json) => Object.assign(compressedView(json).meshopt as object, { count: 2 ** 31 })],
    [
      'bytes of an element',
      (json) => Object.assign(compressedView(json).meshopt as object, { stride: 2 ** 31 }),
    ],
    ['frames', (json) => Object.assign(textureOf(json), { frames: 2 ** 40 })],
    ['texels', (json) => Object.assign(textureOf(json), { layout })],
  ] as [string, (json: Document) => void][])('%s', async (_, change) => {
    const bytes = changed(change);
    const before = taken();
    await expect(read(bytes)).rejects.toThrow('SIM_baked_animation: ');
    expect(taken() - before).toBeLessThan(1e6 + bytes.length * GROWTH);
  });
});

const compressedView = (json: Document) =>
  viewsOf(json).find(({ meshopt }) => meshopt) as Record<string, unknown>;
