import { MeshoptEncoder } from 'meshoptimizer';
import { addLevelsOf, writeCharacter } from 'skinned-instanced-mesh/files';
import type { VertexTexture } from 'skinned-instanced-mesh/vertex-textures';
import { LoopOnce, Vector3 } from 'three';
import { GLTFLoader } from 'three/addons/loaders/GLTFLoader.js';
import { beforeAll, describe, expect, test } from 'vitest';
import { buildGlb, parseGlb } from '../../../lib/files/glb.js';
import { digestOf } from '../../../lib/files/pack.js';
import { bakeEveryKind, bakeVertices, charactersOf, loadFile } from '../../support/bakedFiles.js';
import { bitsOf } from '../../support/bitsOf.js';
import {
  type Character,
  CrowdLevels,
  getVertexPosition,
  SkinnedInstancedMesh,
} from '../../support/library.js';
import { random } from '../../support/random.js';
import { THOROUGH } from '../../support/thorough.js';

/** How many files are damaged by chance in each way. */
const COUNT = THOROUGH ? 3_000 : 500;
/** Bytes of arrays that may be made of a file, as a multiple of its own, and for the texels of tracks at least. */
const GROWTH = 64;
const LEAST = 4e6;

/** Each kind as it is, and compressed. */
const files: Uint8Array[] = [];

beforeAll(async () => {
  await MeshoptEncoder.ready;
  for (const character of Object.values({ ...bakeEveryKind(), ...bakeVertices() })) {
    const near = character.geometry.clone().setIndex([0, 1, 2, 2, 1, 0]);
    const vertices = Uint32Array.from([0, 1, 2]);
    const levels = [{ geometry: near, vertices, distance: 5 }];
    files.push(
      writeCharacter(character, { levels }),
      writeCharacter(character, { meshoptEncoder: MeshoptEncoder }),
    );
  }
});

/** All that a character plays. */
const contentOf = ({ boneTexture, parts, name }: Character) => [
  bitsOf(boneTexture.data),
  bitsOf((boneTexture as VertexTexture).vertexData),
  parts.map(({ names }) => names),
  name,
];

/** Tells an error that says what is wrong with the file, or is one of three.js's own, from one of ours that says nothing. */
function expectClear(error: unknown, what: string): void {
  const { message, stack = '' } = error as Error;
  const isOfLoader = !/\/lib\//.test(stack.split('\n').find((line) => line.includes('    at ')) ?? '');
  if (!isOfLoader) expect(message, `${what}: ${stack}`).toMatch(/^SIM_baked_animation: .{10}/);
}

/** Bytes of all typed arrays, as far as they were not collected. */
const taken = () => process.memoryUsage().arrayBuffers;

test('files that are damaged by chance are an error that says so, or are read as they were', async () => {
  const wanted = await Promise.all(files.map(async (file) => contentOf((await charactersOf(file))[0])));
  let refused = 0;
  for (let seed = 1; seed <= COUNT; seed++) {
    const chance = random(seed);
    const which = Math.floor(chance() * files.length);
    const bytes = damaged(files[which], chance);
    const what = `seed ${seed}`;
    const before = taken();
    try {
      // Without a buffer three.js's loader fails in promises that nobody waits for.
      if (parseGlb(bytes).binary.length === 0) throw new Error('SIM_baked_animation: no buffer at all');
      const [read] = await charactersOf(bytes);
      if (read !== undefined) expect(contentOf(read), what).toEqual(wanted[which]);
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
  ...[-1, 0, 1.5, 7, 1e9, 2 ** 32, 1e308],
  ...[null, true, '', 'tracks', '__proto__'],
  ...[[], [null], {}, { $: [0, 0, 0, 4] }, { $: [0, 1, 0, 1e9] }],
];
const NAMES = ['__proto__', 'constructor', '$'];

type Place = Record<string, unknown>;

interface Stored {
  version: unknown;
  value: Place;
  views: number[];
  digest: number;
}

interface Document {
  bufferViews: { byteOffset: number; byteLength: number; extensions?: Record<string, Place> }[];
  accessors: { bufferView: number }[];
  meshes: {
    primitives: { attributes: { POSITION: number } }[];
    extensions: { SIM_baked_animation: Stored };
  }[];
}

/** The file with something else in its JSON or its bytes; with a digest that is right if it is not compressed. */
function changed(
  file: Uint8Array,
  change: (json: Document, viewOf: (view: number) => Uint8Array) => unknown,
): Uint8Array {
  const { json, binary } = parseGlb(file.slice());
  const document = structuredClone(json) as unknown as Document;
  const viewOf = (view: number) => {
    const { byteOffset = 0, byteLength } = document.bufferViews[view] ?? { byteLength: 0 };
    return binary.subarray(byteOffset, byteOffset + byteLength);
  };
  change(document, viewOf);
  // As a file would have it, without holes in arrays.
  const parsed = JSON.parse(JSON.stringify(document)) as Document;
  const character = extension(parsed);
  const { bufferView } = parsed.accessors[parsed.meshes[0].primitives[0].attributes.POSITION];
  if (
    Array.isArray(character.views) &&
    !('EXT_meshopt_compression' in (document.bufferViews[bufferView].extensions ?? {}))
  )
    character.digest = digestOf(character.value, [...character.views.map(viewOf), viewOf(bufferView)]);
  return buildGlb(parsed, binary);
}

test('what says anything, with a digest that is right, is an error that says what, or can be played', async () => {
  let refused = 0;
  for (let seed = 1; seed <= COUNT; seed++) {
    const chance = random(seed * 7919);
    const pick = (count: number) => Math.floor(chance() * count);
    let what = `seed ${seed}:`;
    const bytes = changed(files[pick(files.length / 2) * 2], (json, viewOf) => {
      const character = extension(json);
      for (let i = 0; i < 1 + pick(2); i++) {
        const [place, key] = anyPlace(
          chance() < 0.9 && character.value instanceof Object ? character.value : (character as never),
          chance,
        );
        const value = structuredClone(HOSTILE[pick(HOSTILE.length)]);
        const name = chance() < 0.05 ? NAMES[pick(NAMES.length)] : key;
        what += ` ${name} = ${JSON.stringify(value)}`;
        if (chance() < 0.15) delete place[key];
        else
          Object.defineProperty(place, name, { value, enumerable: true, configurable: true, writable: true });
      }
      // Numbers in the arrays too.
      const view =
        chance() < 0.5 &&
        Array.isArray(character.views) &&
        viewOf(character.views[pick(character.views.length)]);
      for (let i = pick(4); view && i > 0; i--) view[pick(view.length)] = [0, 127, 255, pick(256)][pick(4)];
    });
    const before = taken();
    try {
      const [character] = await charactersOf(bytes);
      const crowd = new SkinnedInstancedMesh(character, 1);
      character.boneTexture.clips.forEach((_, clip) => {
        crowd.play(0, clip, { time: 0.3, loop: LoopOnce }).update(0.1);
        getVertexPosition(crowd, 0, 1, new Vector3());
      });
    } catch (error) {
      refused++;
      const { message } = error as Error;
      // Of joints that are none crowds say so.
      if (!/^(SkinnedInstancedMesh: |Vertex \d|The (skin weights|geometry))/.test(message))
        expectClear(error, what);
    }
    expect(taken() - before, what).toBeLessThan(2 * LEAST);
  }
  expect(refused).toBeGreaterThan(COUNT / 2);
});

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

const extension = ({ meshes }: Document) => meshes[0].extensions.SIM_baked_animation;

/** JSON that holds itself a hundred thousand times. */
function nested(): unknown {
  let value: unknown = [];
  for (let i = 0; i < 1000; i++) value = [value];
  return value;
}

describe('what is wrong is said', () => {
  test.each([
    [
      'an earlier version',
      (json) => Object.assign(json, { extensions: { SIM_baked_animation: { version: 2, characters: [] } } }),
      'the file is of version 2, and this library reads version 3; bake the file anew',
    ],
    [
      'no version',
      (json) => Object.assign(extension(json), { version: null }),
      'is of version null, and this library',
    ],
    ['no such view', (json) => extension(json).views.push(99), 'bufferViews.99 does not fit'],
    ['the same view', (json) => extension(json).views.fill(2), 'bufferViews.2 does not fit'],
    ['deep JSON', (json) => Object.assign(extension(json).value, { deep: nested() }), 'nested less deeply'],
    [
      'a place beyond',
      (json) => Object.assign(extension(json).value, { name: { $: [0, 0, 0, 2 ** 40] } }),
      'value.name is "[0,0,0,1099511627776]", but has to be a place of its own in what is stored',
    ],
    [
      'a rate that does not go with its frames',
      (json) => Object.assign((extension(json).value.data as { clips: Place[] }).clips[0], { fps: 1e9 }),
      'value.data.clips.0 does not fit',
    ],
    [
      'a kind',
      (json) => Object.assign(extension(json).value, { parts: 5 }),
      'value.parts is 5, but has to be',
    ],
  ] as [string, (json: Document) => unknown, string][])('%s', async (_, change, message) => {
    await expect(charactersOf(changed(files[0], change))).rejects.toThrow(message);
    await expect(charactersOf(changed(files[0], change))).rejects.toThrow(
      /^SIM_baked_animation: .*bake (the file|it) anew/,
    );
  });

  test('another vertex, and other bytes', async () => {
    for (const pick of [1, -1]) {
      const { json, binary } = parseGlb(files[0].slice());
      const { accessors, meshes } = json as never as Document;
      const place = accessors[meshes[0].primitives[0].attributes.POSITION].bufferView;
      const views = extension(json as never).views;
      const { byteOffset } = (json as never as Document).bufferViews[
        pick < 0 ? (views.at(-1) as number) : place
      ];
      // Once a bit, once two signs.
      binary[(byteOffset ?? 0) + 2] ^= pick > 0 ? 0 : 1;
      for (const at of pick > 0 ? [3, 15] : []) binary[(byteOffset ?? 0) + at] ^= 0x80;
      await expect(charactersOf(buildGlb(json, binary))).rejects.toThrow('what was baked is not as it was');
    }
  });

  test('compressed, and no decoder; and nobody who reads it', async () => {
    const loader = new GLTFLoader();
    await expect(loader.parseAsync(files[1].slice().buffer, '')).rejects.toThrow(
      'setMeshoptDecoder must be called',
    );
    await expect(loadFile(files[4], {})).rejects.toThrow('was baked into frames; import { frames }');
    await expect(loadFile(files.at(-2) as Uint8Array, {})).rejects.toThrow('import { VertexTexture } from');
  });
});

test('levels that have their corners again and again are refused', async () => {
  const bytes = changed(files[0], (json) => {
    const run = { start: 0, count: 6, materialIndex: 0 };
    Object.assign((extension(json).value.levels as Place[])[0], { groups: Array(9).fill(run) });
  });
  const [character] = await charactersOf(bytes);
  const levels = new CrowdLevels(new SkinnedInstancedMesh(character, 1));
  expect(() => addLevelsOf(character, levels)).toThrow("the file's levels of detail are not for this crowd");
});

test('joints that hang on each other are refused', async () => {
  const bytes = changed(files[4], (json) => {
    const data = extension(json).value.data as { jointNames: string[] };
    Object.assign(data, { jointParents: data.jointNames.map((_, i) => (i === 0 ? 1 : 0)) });
  });
  await expect(charactersOf(bytes)).rejects.toThrow('value.data.jointParents does not fit');
});

test.each(['accessors', 'buffers'])('without %s no promise is left that fails unseen', async (list) => {
  const { json, binary } = parseGlb(files[0].slice());
  await expect(charactersOf(buildGlb({ ...json, [list]: undefined }, binary))).rejects.toThrow(
    `SIM_baked_animation: file.${list} is undefined, but has to be a list`,
  );
});

test.each([
  ['elements', { count: 2 ** 31 }],
  ['bytes of an element', { byteStride: 2 ** 31 }],
])('no memory is taken that the file does not have: %s', async (_, more) => {
  const bytes = changed(files[1], ({ bufferViews }) => {
    const view = bufferViews.find(({ extensions }) => extensions);
    Object.assign(view?.extensions?.EXT_meshopt_compression as Place, more);
  });
  const before = taken();
  await expect(charactersOf(bytes)).rejects.toThrow('SIM_baked_animation: ');
  expect(taken() - before).toBeLessThan(1e6 + bytes.length * GROWTH);
});

test.each(['half', 'float'])('places beyond numbers that can be added are refused, %s', async (precision) => {
  const far = Float32Array.of(3e38);
  const bytes = changed(files.at(precision === 'half' ? -4 : -2) as Uint8Array, (json, viewOf) => {
    const { value, views } = extension(json);
    const { boxes, texels } = value.vertices as Record<string, { $: [number, number, number] }>;
    const [view, , from] = (precision === 'half' ? boxes : texels).$;
    viewOf(views[view]).set(new Uint8Array(far.buffer), from * 4);
  });
  await expect(charactersOf(bytes)).rejects.toThrow(/vertices\.(boxes|texels) does not fit/);
});
