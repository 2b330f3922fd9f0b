import { MeshoptDecoder, MeshoptEncoder } from 'meshoptimizer';
import {
  bakedCharactersOf,
  type ExtensionJSON,
  readBoneTexture,
  SkinnedInstancedMeshExtension,
  type WriteOptions,
  writeBoneTexture,
} from 'skinned-instanced-mesh/files';
import type { Mesh } from 'three';
import { GLTFLoader } from 'three/addons/loaders/GLTFLoader.js';
import { beforeAll, expect, test } from 'vitest';
import { cutViews } from '../../../lib/format/cutViews.js';
import { buildGlb, parseGlb } from '../../../lib/format/glb.js';
import { bakeEveryKind, createArm } from '../../support/bakedFiles.js';
import { exportGlb } from '../../support/exportGlb.js';
import { mostRuns } from '../../support/mostRuns.js';
import { random } from '../../support/random.js';
import { validateGlb } from '../../support/validateGlb.js';

const kinds = bakeEveryKind();
const TEXTURES = ['tracks-half', 'matrix-float', 'quaternion-half', 'rest-pose'].map(
  (kind) => kinds[kind].boneTexture,
);

let source: Uint8Array;

beforeAll(async () => {
  await MeshoptEncoder.ready;
  const { root, clips } = createArm();
  source = new Uint8Array(await exportGlb(root, clips));
});

const write = (into: Uint8Array, node: number, which: number, options: WriteOptions = {}) =>
  writeBoneTexture(TEXTURES[which], { into, node, name: `node ${node}`, ...options });

interface View {
  byteOffset?: number;
  byteLength: number;
}

const viewsOf = (file: Uint8Array) => parseGlb(file).json.bufferViews as View[];

const charactersOf = (file: Uint8Array) =>
  (parseGlb(file).json.extensions as { SIM_baked_animation: ExtensionJSON }).SIM_baked_animation.characters;

/** Bytes of the buffer that no view names, but for padding. */
function unnamed(file: Uint8Array): number {
  let end = 0;
  let lost = 0;
  const size = parseGlb(file).binary.length;
  for (const { byteOffset = 0, byteLength } of [...viewsOf(file), { byteOffset: size, byteLength: 0 }].sort(
    (a, b) => (a.byteOffset ?? 0) - (b.byteOffset ?? 0),
  )) {
    const gap = byteOffset - end;
    if (gap >= 8) lost += gap;
    end = Math.max(end, byteOffset + byteLength);
  }
  return lost;
}

test.each([
  ['plain', {}],
  ['compressed', { meshoptEncoder: MeshoptEncoder }],
] as [string, WriteOptions][])(
  'writing a character again changes nothing in a file of three, %s',
  (_, options) => {
    const writeAll = (file: Uint8Array) => {
      let into = file;
      for (const node of [0, 1, 2]) into = write(into, node, node, options);
      return into;
    };
    const first = writeAll(source);
    const again = writeAll(first);
    expect(again.length).toBe(first.length);
    expect(writeAll(again)).toEqual(again);
    expect(unnamed(again)).toBe(0);
    expect(viewsOf(again)).toHaveLength(viewsOf(first).length);
    expect(charactersOf(again).map(({ name }) => name)).toEqual(['node 0', 'node 1', 'node 2']);
  },
);

test('characters that become smaller and larger leave nothing behind, and stay what they are', async () => {
  const chance = random(5);
  const pick = (count: number) => Math.floor(chance() * count);
  let file = source;
  const which = new Map<number, number>();
  for (let round = 0; round < 25; round++) {
    const node = pick(3);
    which.set(node, pick(TEXTURES.length));
    file = write(
      file,
      node,
      which.get(node) as number,
      chance() < 0.5 ? { meshoptEncoder: MeshoptEncoder } : {},
    );
    expect(unnamed(file), `round ${round}`).toBe(0);
  }
  // As long as one that is written at once.
  let fresh = source;
  const options = { meshoptEncoder: MeshoptEncoder };
  for (const { node } of charactersOf(file)) {
    file = write(file, node as number, which.get(node as number) as number, options);
    fresh = write(fresh, node as number, which.get(node as number) as number, options);
  }
  expect(parseGlb(file).binary.length).toBe(parseGlb(fresh).binary.length);
  expect(viewsOf(file)).toHaveLength(viewsOf(fresh).length);
  for (const [node, texture] of which) {
    const read = await readBoneTexture(file, { meshoptDecoder: MeshoptDecoder, character: `node ${node}` });
    expect(read.data).toEqual(TEXTURES[texture].data);
  }
  expect(await validateGlb(file)).toEqual(await validateGlb(source));
  // Meshes are where they were.
  const loader = new GLTFLoader().setMeshoptDecoder(MeshoptDecoder);
  loader.register((parser) => new SkinnedInstancedMeshExtension(parser));
  const [before, after] = await Promise.all(
    [source, file].map((one) => loader.parseAsync(one.slice().buffer, '')),
  );
  expect(bakedCharactersOf(after)).toHaveLength(which.size);
  const geometriesOf = ({ scene }: typeof before) => {
    const found: unknown[] = [];
    scene.traverse((node) => {
      const { geometry } = node as Mesh;
      if (geometry) found.push(geometry.index, geometry.attributes);
    });
    return found;
  };
  expect(geometriesOf(after)).toEqual(geometriesOf(before));
});

test('a view that something else names too stays, and so does the number of one behind which there are others', () => {
  const baked = write(source, 0, 0);
  const { json, binary } = parseGlb(baked);
  const views = json.bufferViews as View[];
  const own = charactersOf(baked)[0].boneTexture?.views.map(({ bufferView }) => bufferView) ?? [];
  // As an extension that nobody here knows would.
  const extensions = { ...(json.extensions as object), ACME_icon: { bufferView: own[1] } };
  const bufferViews = [...views, { buffer: 0, byteOffset: 0, byteLength: 4 }];
  const file = buildGlb({ ...json, bufferViews, extensions }, binary);
  const bytesOf = (of: Uint8Array, { byteOffset = 0, byteLength }: View) =>
    parseGlb(of).binary.slice(byteOffset, byteOffset + byteLength);
  const smaller = write(file, 0, 3);
  expect(bytesOf(smaller, viewsOf(smaller)[own[1]])).toEqual(bytesOf(file, views[own[1]]));
  expect(viewsOf(smaller).at(-1)).toMatchObject({ byteLength: 4 });
  expect(viewsOf(smaller).every(({ byteLength }) => byteLength > 0)).toBe(true);
  expect(unnamed(smaller)).toBe(0);
});

test('what a .glb has besides its JSON and its buffer is kept', () => {
  const { json, binary } = parseGlb(source);
  const chunks = [
    { kind: 0x44434241, bytes: Uint8Array.of(1, 2, 3, 4) },
    { kind: 0x58585858, bytes: new Uint8Array(0) },
  ];
  const into = buildGlb(json, binary, chunks);
  expect(parseGlb(write(into, 0, 0)).chunks).toEqual(chunks);
  expect(parseGlb(write(write(into, 0, 0), 0, 1)).chunks).toEqual(chunks);
});

test('bytes that are cut out take nothing else with them', () => {
  for (let seed = 1; seed <= 200; seed++) {
    const chance = random(seed);
    const pick = (count: number) => Math.floor(chance() * count);
    const buffer = Uint8Array.from({ length: 400 }, () => pick(256));
    interface Place {
      buffer: number;
      byteOffset: number;
      byteLength: number;
      extensions?: { EXT_meshopt_compression: Place };
    }
    const views = Array.from({ length: 8 }, (): Place => {
      const byteOffset = pick(350);
      const place = { buffer: 0, byteOffset, byteLength: 1 + pick(400 - byteOffset > 60 ? 60 : 10) };
      const packed = {
        extensions: { EXT_meshopt_compression: place },
        buffer: 1,
        byteOffset: 0,
        byteLength: 5,
      };
      return chance() < 0.3 ? packed : place;
    });
    const contents = (of: typeof views, bytes: Uint8Array) =>
      of.map((view) => {
        const place = view.extensions?.EXT_meshopt_compression ?? view;
        return [
          place.byteOffset % 4,
          ...bytes.subarray(place.byteOffset, place.byteOffset + place.byteLength),
        ];
      });
    const unused = new Set([0, 1, 2, 3].map(() => pick(8)));
    const kept = views.filter((_, i) => !unused.has(i));
    const before = contents(kept, buffer);
    const left = cutViews(views, unused, buffer);
    expect(contents(kept, left), `seed ${seed}`).toEqual(before);
    expect(left.length).toBeLessThanOrEqual(buffer.length);
  }
});

test('bytes of many views are cut out in little time', async () => {
  const count = 20_000;
  const buffer = Uint8Array.from({ length: count * 8 }, (_, i) => i >> 3);
  const views = Array.from({ length: count }, (_, i) => ({ buffer: 0, byteOffset: i * 8, byteLength: 8 }));
  const unused = new Set([...views.keys()].filter((i) => i % 2 === 0));
  let left = buffer;
  const runs = await mostRuns('/lib/format/cutViews', async () => {
    const fresh: typeof import('../../../lib/format/cutViews.js') = await import(
      '../../../lib/format/cutViews.js?counted' as string
    );
    left = fresh.cutViews(views, unused, buffer) as typeof left;
  });
  // With a look at all cuts for each view it would be some hundred millions.
  expect(runs).toBeGreaterThanOrEqual(count);
  expect(runs).toBeLessThan(count * 40);
  expect(left.length).toBe(count * 4);
  const kept = views.filter((_, i) => !unused.has(i));
  expect(kept.map(({ byteOffset }) => byteOffset)).toEqual(kept.map((_, i) => i * 8));
  expect(kept.map(({ byteOffset }) => left[byteOffset])).toEqual(kept.map((_, i) => (i * 2 + 1) & 255));
});
