import { validateBytes } from 'gltf-validator';
import { MeshoptDecoder, MeshoptEncoder, MeshoptSimplifier } from 'meshoptimizer';
import {
  bakedCharactersOf,
  type LoadedCharacter,
  readBoneTexture,
  readLevels,
  SkinnedInstancedMeshExtension,
  type StoredLevels,
  writeBoneTexture,
} from 'skinned-instanced-mesh/files';
import { type Mesh, MeshStandardMaterial, Vector3 } from 'three';
import { GLTFLoader } from 'three/addons/loaders/GLTFLoader.js';
import { GLTFLoader as StdlibLoader } from 'three-stdlib';
import { beforeAll, describe, expect, test } from 'vitest';
import { buildGlb, parseGlb } from '../../../lib/files/glb.js';
import { createArm } from '../../support/bakedFiles.js';
import { bitsOf } from '../../support/bitsOf.js';
import { crowdOfFile } from '../../support/crowdArguments.js';
import { exportGlb } from '../../support/exportGlb.js';
import { partsOf } from '../../support/features.js';
import { createKnight } from '../../support/knight.js';
import { addSimplifiedLevels, levelsOf } from '../../support/levels.js';
import {
  bakeBoneTexture,
  bakeCharacter,
  encodingOf,
  frames,
  getVertexPosition,
  SkinnedInstancedMesh,
  simplifyGeometry,
} from '../../support/library.js';

/** The character as a file, and as a page loads and bakes it. */
let plain: ArrayBuffer;
let baked: SkinnedInstancedMesh;
/** The same file with what was baked. */
let file: ArrayBuffer;

const loadPlain = () => new GLTFLoader().parseAsync(plain, '');

const exact = (bytes: Uint8Array) => bytes.slice().buffer;

beforeAll(async () => {
  await Promise.all([MeshoptEncoder.ready, MeshoptSimplifier.ready]);
  const { root, clips } = createKnight();
  (root.getObjectByName('Shield')?.children[0] as Mesh).material = new MeshStandardMaterial({ name: 'Oak' });
  plain = await exportGlb(root, clips);
  const gltf = await loadPlain();
  baked = new SkinnedInstancedMesh(bakeCharacter(gltf.scene, gltf.animations), 3);
  baked.boneTexture.addMarker('Walk', 0.25, 'step');
  const { geometry, boneTexture } = baked;
  const near = simplifyGeometry(geometry, 0.4, MeshoptSimplifier);
  const far = simplifyGeometry(geometry, 0.1, MeshoptSimplifier);
  const bytes = writeBoneTexture(boneTexture, {
    into: plain,
    meshoptEncoder: MeshoptEncoder,
    name: 'Knight',
    hiddenParts: ['Shield'],
    geometry,
    levels: [
      { ...near, distance: 10, hysteresis: 0.1, castShadow: false, poseRate: 15 },
      { ...far, distance: 30, influences: 1, shadowInfluences: 2, receiveShadow: true, attachments: false },
      { geometry: null, distance: 100 },
    ],
  });
  file = exact(bytes);
});

describe.each([
  ['three.js', GLTFLoader],
  ['three-stdlib', StdlibLoader],
])('the loader of %s', (_, Loader) => {
  const load = (bytes = file) => {
    const loader = new Loader() as GLTFLoader;
    loader.setMeshoptDecoder(MeshoptDecoder);
    loader.register((parser) => new SkinnedInstancedMeshExtension(parser));
    return loader.parseAsync(bytes, '');
  };

  test('gives the bone texture that baking in the page makes', async () => {
    const gltf = await load();
    const [{ name, scene, boneTexture }] = bakedCharactersOf(gltf);
    expect(name).toBe('Knight');
    expect(scene).toBe(gltf.scene);
    expect(bitsOf(boneTexture.data)).toEqual(bitsOf(baked.boneTexture.data));
  });

  test('gives what a crowd is made of without baking', async () => {
    const gltf = await load();
    const crowd = crowdOfFile(gltf, 3);
    const [character] = bakedCharactersOf(gltf);
    expect(crowd.boneTexture).toBe(character.boneTexture);
    const [there, here] = [new Vector3(), new Vector3()];
    for (const one of [baked, crowd]) {
      one.play(0, 'Walk', { time: 0.3 });
      one.play(1, 'Wave', { time: 0.7 });
    }
    const { count } = baked.geometry.getAttribute('position');
    expect(crowd.geometry.getAttribute('position').count).toBe(count);
    for (let vertex = 0; vertex < count; vertex += 7) {
      for (let i = 0; i < 3; i++) {
        getVertexPosition(crowd, i, vertex, here);
        expect(here.toArray()).toEqual(getVertexPosition(baked, i, vertex, there).toArray());
      }
    }
    expect(partsOf(crowd).getVisibleAt(0, { material: 'Oak' })).toBe(false);
    expect(partsOf(crowd).getVisibleAt(0, 'Sword')).toBe(true);
  });

  test('loads files without a baked character as ever', async () => {
    const gltf = await load(plain);
    expect(bakedCharactersOf(gltf)).toEqual([]);
    const { boneTexture } = bakeCharacter(gltf.scene, gltf.animations);
    expect(boneTexture.data.tracks).toEqual(baked.boneTexture.data.tracks);
  });
});

/** The file as three.js's loader with the plugin gives it. */
async function loaded(bytes = file) {
  const loader = new GLTFLoader().setMeshoptDecoder(MeshoptDecoder);
  loader.register((parser) => new SkinnedInstancedMeshExtension(parser));
  return loader.parseAsync(bytes, '');
}

test('levels of detail are those that were made in the page', async () => {
  const crowd = crowdOfFile(await loaded(), 3);
  const { geometry } = baked;
  const levels = addSimplifiedLevels(baked, MeshoptSimplifier, [
    { ratio: 0.4, distance: 10 },
    { ratio: 0.1, distance: 30 },
  ]);
  expect(levelsOf(crowd).levels.map(({ distance }) => distance)).toEqual([0, 10, 30, 100]);
  expect(levelsOf(crowd).levels.map(({ hysteresis }) => hysteresis)).toEqual([0, 0.1, 0, 0]);
  expect(levelsOf(crowd).levels[3].object).toBeNull();
  levels.forEach(({ level, triangles }, i) => {
    const { object } = levelsOf(crowd).levels[i + 1];
    const read = (object as unknown as typeof level).geometry;
    expect(read.index?.count).toBe(triangles * 3);
    expect(read.groups).toEqual(level.geometry.groups);
    const corners = ({ index, attributes: { position } }: typeof geometry) =>
      Array.from({ length: index?.count ?? 0 }, (_, k) => position.getY(index?.getX(k) ?? 0));
    expect(corners(read)).toEqual(corners(level.geometry));
    levelsOf(baked).remove(level);
  });
});

test('levels keep what they alone were told, and follow the crowd in all else', async () => {
  const crowd = crowdOfFile(await loaded(), 3);
  const seen = () =>
    levelsOf(crowd).levels.map(({ object, poseRate, attachments }) => {
      const { castShadow, receiveShadow, influences, shadowInfluences } = object as SkinnedInstancedMesh;
      return { poseRate, attachments, castShadow, receiveShadow, influences, shadowInfluences };
    });
  levelsOf(crowd).remove(100);
  for (const on of [true, false]) {
    crowd.castShadow = crowd.receiveShadow = on;
    const { influences, shadowInfluences } = crowd;
    expect(seen().slice(1)).toEqual([
      { poseRate: 15, attachments: true, castShadow: false, receiveShadow: on, influences, shadowInfluences },
      {
        poseRate: 0,
        attachments: false,
        castShadow: on,
        receiveShadow: true,
        influences: 1,
        shadowInfluences: 2,
      },
    ]);
  }
});

test('levels that are damaged are an error when the file is loaded', async () => {
  const { json, binary } = parseGlb(file);
  const { characters } = (json as never as Document).extensions.SIM_baked_animation;
  Object.assign(characters[0].levels, { vertices: 1 });
  await expect(loaded(exact(buildGlb(json, binary)) as ArrayBuffer)).rejects.toThrow(
    /characters\[0\]\.levels\.checksum is \d+, but has to be \d+, for what the file holds/,
  );
});

interface Document {
  extensions: { SIM_baked_animation: { characters: { levels: object }[] } };
}

test('levels can be read without a crowd', async () => {
  const [{ levels }] = bakedCharactersOf(await loaded());
  const { vertices, list } = readLevels(levels as StoredLevels);
  expect(vertices).toBe(baked.geometry.getAttribute('position').count);
  expect(list.map(({ start }) => start)).toEqual([10, 30, 100]);
});

test('a loader without the plugin says what is missing', async () => {
  const gltf = await new GLTFLoader().parseAsync(file, '');
  expect(() => bakedCharactersOf(gltf)).toThrow('call loader.register((parser) =>');
  const { bakedCharacters = [] } = gltf as { bakedCharacters?: LoadedCharacter[] };
  expect(() => new SkinnedInstancedMesh(bakedCharacters[0], 1)).toThrow(
    'undefined is no character; pass what bakeCharacter(root, clips) returns, or one of gltf.bakedCharacters',
  );
});

test('a file has several characters, each at a node of its own', async () => {
  const { root, clips } = createArm();
  const arm = bakeBoneTexture(root, clips);
  const both = writeBoneTexture(arm, { into: file, node: 0, name: 'Arm' });
  const [knight, other] = bakedCharactersOf(await loaded(exact(both)));
  expect([knight.name, other.name]).toEqual(['Knight', 'Arm']);
  expect(bitsOf(other.boneTexture.data)).toEqual(bitsOf(arm.data));
  const { data } = await readBoneTexture(both, { character: 'Arm' });
  expect(bitsOf(data)).toEqual(bitsOf(arm.data));
  await expect(readBoneTexture(both, { character: 'Cow' })).rejects.toThrow(
    'the file has no character "Cow"; it has "Knight", "Arm".',
  );
});

test('what is written anew takes the place of what was there', async () => {
  const again = writeBoneTexture(baked.boneTexture, { into: file });
  expect(bakedCharactersOf(await loaded(exact(again)))).toHaveLength(1);
  const once = writeBoneTexture(baked.boneTexture, { into: plain });
  expect(again.length).toBe(once.length);
  const grown = writeBoneTexture(bakeBoneTexture(createArm().root, []), { into: again, node: 0 });
  const [first] = bakedCharactersOf(
    await loaded(exact(writeBoneTexture(baked.boneTexture, { into: grown }))),
  );
  expect(first.name, 'the one behind it stays').toBe('');
});

test('16 bits can be chosen as late as when it is written', async () => {
  const { root, clips } = createArm();
  for (const encoding of ['tracks', 'frames'] as const) {
    const float = bakeBoneTexture(root, clips, { encoding: encodingOf(encoding) });
    const half = bakeBoneTexture(root, clips, { encoding: encodingOf(encoding), precision: 'half' });
    const read = await readBoneTexture(writeBoneTexture(float, { precision: 'half' }), { frames });
    expect(bitsOf(read.data)).toEqual(bitsOf(half.data));
    expect(() => writeBoneTexture(half, { precision: 'float' })).toThrow('bake it with precision "float"');
  }
});

test('files pass the Khronos validator, but for the extension that it does not know', async () => {
  const { root, clips } = createArm();
  const alone = writeBoneTexture(bakeBoneTexture(root, clips));
  const warningsOf = async (bytes: Uint8Array) => {
    const { issues } = await validateBytes(bytes);
    expect(issues.numErrors, JSON.stringify(issues.messages)).toBe(0);
    return issues.messages.filter(({ severity }) => severity < 2);
  };
  expect(await warningsOf(alone)).toEqual([]);
  // Such as it has without the extension.
  expect(await warningsOf(new Uint8Array(file))).toEqual(await warningsOf(new Uint8Array(plain)));
});
