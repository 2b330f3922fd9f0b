import { MeshoptEncoder, MeshoptSimplifier } from 'meshoptimizer';
import { bakedCharactersOf, type LoadedCharacter, writeCharacter } from 'skinned-instanced-mesh/files';
import { AnimationMixer, type Mesh, MeshStandardMaterial, Vector3 } from 'three';
import { GLTFLoader } from 'three/addons/loaders/GLTFLoader.js';
import { GLTFLoader as StdlibLoader } from 'three-stdlib';
import { beforeAll, describe, expect, test } from 'vitest';
import { createArm, loadFile } from '../../support/bakedFiles.js';
import { bitsOf } from '../../support/bitsOf.js';
import { crowdOfFile } from '../../support/crowdArguments.js';
import { exportGlb } from '../../support/exportGlb.js';
import { partsOf } from '../../support/features.js';
import { createKnight } from '../../support/knight.js';
import { addSimplifiedLevels, levelsOf } from '../../support/levels.js';
import {
  bakeCharacter,
  getVertexPosition,
  SkinnedInstancedMesh,
  simplifyGeometry,
} from '../../support/library.js';
import { validateGlb } from '../../support/validateGlb.js';

/** The character as a file, and as a page loads and bakes it. */
let plain: ArrayBuffer;
let baked: SkinnedInstancedMesh;
/** The file of what was baked. */
let file: Uint8Array;

beforeAll(async () => {
  await Promise.all([MeshoptEncoder.ready, MeshoptSimplifier.ready]);
  const { root, clips } = createKnight();
  (root.getObjectByName('Shield')?.children[0] as Mesh).material = new MeshStandardMaterial({ name: 'Oak' });
  plain = await exportGlb(root, clips);
  const gltf = await loadFile(plain);
  gltf.scene.name = 'Knight';
  const character = bakeCharacter(gltf.scene, gltf.animations, { hiddenParts: ['Shield'] });
  character.boneTexture.addMarker('Walk', 0.25, 'step');
  baked = new SkinnedInstancedMesh(character, 3);
  const { geometry } = baked;
  const near = simplifyGeometry(geometry, 0.4, MeshoptSimplifier);
  const far = simplifyGeometry(geometry, 0.1, MeshoptSimplifier);
  file = writeCharacter(character, {
    source: plain,
    gltf,
    animations: gltf.animations,
    levels: [
      { ...near, distance: 10, hysteresis: 0.1, castShadow: false, poseRate: 15 },
      { ...far, distance: 30, influences: 1, shadowInfluences: 2, receiveShadow: true, attachments: false },
      { geometry: null, distance: 100 },
    ],
  });
});

describe.each([
  ['three.js', GLTFLoader],
  ['three-stdlib', StdlibLoader],
])('the loader of %s', (_, Loader) => {
  const load = (bytes: Uint8Array | ArrayBuffer = file) => loadFile(bytes, {}, Loader);

  test('gives what a crowd is made of as baking in the page makes it', async () => {
    const gltf = await load();
    const crowd = crowdOfFile(gltf, 3);
    const [{ name, scene, boneTexture }] = bakedCharactersOf(gltf);
    expect(name).toBe('Knight');
    expect(scene).toBe(gltf.scene);
    expect(bitsOf(boneTexture.data)).toEqual(bitsOf(baked.boneTexture.data));
    expect(crowd.boneTexture).toBe(boneTexture);
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
    gltf.scene.name = 'Knight';
    const { boneTexture } = bakeCharacter(gltf.scene, gltf.animations);
    expect(boneTexture.data.tracks).toEqual(baked.boneTexture.data.tracks);
  });
});

test('levels of detail are those that were made in the page', async () => {
  const crowd = crowdOfFile(await loadFile(file), 3);
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
  const crowd = crowdOfFile(await loadFile(file), 3);
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

test('a loader without the plugin says what is missing', async () => {
  const gltf = await new GLTFLoader().parseAsync(file.slice().buffer, '');
  expect(() => bakedCharactersOf(gltf)).toThrow('call loader.register((parser) =>');
  const { bakedCharacters = [] } = gltf as { bakedCharacters?: LoadedCharacter[] };
  expect(() => new SkinnedInstancedMesh(bakedCharacters[0], 1)).toThrow(
    'undefined is no character; pass what bakeCharacter(root, clips) returns, or one of gltf.bakedCharacters',
  );
});

test.each(['at rest', 'playing'])('viewers without the plugin show the character %s', async (how) => {
  const { scene, animations } = await new GLTFLoader().parseAsync(file.slice().buffer, '');
  if (how === 'playing') {
    const mixer = new AnimationMixer(scene);
    mixer.clipAction(animations.find(({ name }) => name === 'Walk')!).play();
    mixer.setTime(0.3);
    baked.play(2, 'Walk', { time: 0.3 });
  }
  scene.updateMatrixWorld(true);
  const places: number[] = [];
  const [seen, wanted] = [new Vector3(), new Vector3()];
  scene.traverse((node) => {
    const { isMesh, geometry } = node as Mesh;
    for (let i = 0; isMesh && i < geometry.attributes.position.count; i++) {
      (node as Mesh).getVertexPosition(i, seen).applyMatrix4(node.matrixWorld);
      places.push(seen.distanceTo(getVertexPosition(baked, 2, i, wanted)));
    }
  });
  expect(places.length).toBeGreaterThan(100);
  expect(Math.max(...places)).toBeLessThan(1e-5);
});

test('a file has several characters, each in a scene of its own', async () => {
  const { root, clips } = createArm();
  const [one, other] = ['float', 'half'].map((precision) =>
    bakeCharacter(root, clips, { precision: precision as 'half' }),
  );
  const gltf = await loadFile(writeCharacter([one, other]));
  const read = bakedCharactersOf(gltf);
  expect(read.map(({ scene }) => scene)).toEqual(gltf.scenes);
  expect(read.map(({ boneTexture }) => bitsOf(boneTexture.data))).toEqual(
    [one, other].map(({ boneTexture }) => bitsOf(boneTexture.data)),
  );
});

test('files pass the Khronos validator', async () => {
  const { root, clips } = createArm();
  const alone = writeCharacter(bakeCharacter(root, clips), { meshoptEncoder: MeshoptEncoder });
  for (const bytes of [alone, file]) expect(await validateGlb(bytes)).toEqual([]);
});
