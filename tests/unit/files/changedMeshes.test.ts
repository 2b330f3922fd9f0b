import { type Document, NodeIO } from '@gltf-transform/core';
import { MeshoptSimplifier } from 'meshoptimizer';
import type { EncodingName } from 'skinned-instanced-mesh';
import {
  bakedCharactersOf,
  SkinnedInstancedMeshExtension,
  type WrittenLevel,
  writeBoneTexture,
} from 'skinned-instanced-mesh/files';
import { BakedAnimation } from 'skinned-instanced-mesh/gltf-transform';
import { bakeVertexTexture, VertexTexture } from 'skinned-instanced-mesh/vertex-textures';
import { AnimationMixer, LoopOnce, type Mesh, type Object3D, Texture, Vector3 } from 'three';
import { GLTFLoader } from 'three/addons/loaders/GLTFLoader.js';
import { beforeAll, describe, expect, test } from 'vitest';
import { mergeBuffers } from '../../../lib/cli/loadScene.js';
import { armDocument } from '../../support/armDocument.js';
import { crowdOfFile } from '../../support/crowdArguments.js';
import { levelsOf } from '../../support/levels.js';
import {
  assembleCharacter,
  bakeBoneTexture,
  encodingOf,
  frames,
  getVertexPosition,
  SkinnedInstancedMesh,
  simplifyGeometry,
} from '../../support/library.js';
import { mergeDocuments } from '../../support/mergeDocuments.js';

const io = new NodeIO().registerExtensions([BakedAnimation]);

async function load(file: Uint8Array) {
  const loader = new GLTFLoader();
  loader.register(() => ({ name: 'no images', loadTexture: async () => new Texture() }));
  loader.register(
    (parser) => new SkinnedInstancedMeshExtension(parser, { vertexTextures: VertexTexture, frames }),
  );
  return loader.parseAsync(file.slice().buffer, '');
}

/** The arm as a file with a baked character, of bones or of vertices, with a level of detail. */
async function baked(
  kind: 'bones' | 'vertices',
  isLeveled = true,
  change = (_: Document) => {},
  prepare = (_: Object3D) => {},
  encoding: EncodingName = 'tracks',
) {
  const document = armDocument();
  // Two nodes of the arm have one name.
  document.getRoot().listNodes()[1].setName('Elbow');
  change(document);
  const into = await io.writeBinary(document);
  const { scene, animations } = await load(into);
  prepare(scene);
  const boneTexture =
    kind === 'bones'
      ? bakeBoneTexture(scene, animations, { encoding: encodingOf(encoding) })
      : bakeVertexTexture(scene, animations, { fps: 8 });
  const { geometry } = new SkinnedInstancedMesh(assembleCharacter(scene, boneTexture), 1);
  const level: WrittenLevel = {
    ...simplifyGeometry(geometry, 0.5, MeshoptSimplifier),
    distance: 5,
  };
  const levels = isLeveled ? [level] : [];
  return { file: writeBoneTexture(boneTexture, { into, geometry, levels }), level };
}

beforeAll(() => MeshoptSimplifier.ready);

/** Turns the order of vertices around, as tools that reorder them for the vertex cache might. */
function reorder(document: Document): void {
  for (const primitive of document.getRoot().listMeshes()[0].listPrimitives()) {
    const all = [primitive, ...primitive.listTargets()];
    for (const accessor of all.flatMap((one) => one.listAttributes())) {
      const size = accessor.getElementSize();
      const array = accessor.getArray() as Float32Array<ArrayBuffer>;
      const turned = array.slice();
      for (let i = 0; i < array.length; i += size) {
        turned.set(array.subarray(i, i + size), array.length - size - i);
      }
      accessor.setArray(turned);
    }
    const indices = primitive.getIndices();
    const count = primitive.getAttribute('POSITION')?.getCount() as number;
    indices?.setArray((indices.getArray() as Uint16Array<ArrayBuffer>).map((index) => count - 1 - index));
  }
}

/** Positions half as large, which inverse bind matrices make up for: as tools that quantise positions do. */
function rescale(document: Document): void {
  const [mesh] = document.getRoot().listMeshes();
  const [skin] = document.getRoot().listSkins();
  for (const primitive of mesh.listPrimitives()) {
    for (const one of [primitive, ...primitive.listTargets()]) {
      const position = one.getAttribute('POSITION');
      position?.setArray((position.getArray() as Float32Array<ArrayBuffer>).map((value) => value / 2));
    }
  }
  const inverses = skin.getInverseBindMatrices();
  inverses?.setArray(
    (inverses.getArray() as Float32Array<ArrayBuffer>).map((value, i) => (i % 16 < 12 ? value * 2 : value)),
  );
}

async function changed(file: Uint8Array, change: (document: Document) => void): Promise<Uint8Array> {
  const document = await io.readBinary(file);
  change(document);
  return io.writeBinary(document);
}

/** The farthest that a crowd of the file's character is from an AnimationMixer in the same file, in a clip. */
async function worstOf(file: Uint8Array, index = 0, clip = 'Wave'): Promise<number> {
  const gltf = await load(file);
  const { scene } = bakedCharactersOf(gltf)[index];
  const crowd = crowdOfFile(bakedCharactersOf(gltf)[index], 1);
  crowd.play(0, clip, { time: 0.5, loop: LoopOnce, timeScale: 0 });
  const mixer = new AnimationMixer(scene);
  const own =
    gltf.animations.filter(({ name }) => name === clip)[index] ??
    gltf.animations.find(({ name }) => name === clip);
  mixer.clipAction(own).setLoop(LoopOnce, 1).play();
  mixer.setTime(0.5);
  scene.updateMatrixWorld(true);
  const places = verticesOf(scene);
  let worst = 0;
  for (let vertex = 0; vertex < crowd.geometry.getAttribute('position').count; vertex++) {
    const place = getVertexPosition(crowd, 0, vertex, new Vector3());
    worst = Math.max(worst, Math.min(...places.map((other) => other.distanceTo(place))));
  }
  return worst;
}

function verticesOf(scene: Object3D): Vector3[] {
  const places: Vector3[] = [];
  scene.traverse((node) => {
    const { isMesh, geometry } = node as Mesh;
    for (let i = 0; isMesh && i < geometry.getAttribute('position').count; i++) {
      places.push((node as Mesh).getVertexPosition(i, new Vector3()).applyMatrix4(node.matrixWorld));
    }
  });
  return places;
}

describe('meshes that a tool has changed behind what was baked', () => {
  test('bones do not mind another order of vertices, their levels do', async () => {
    const { file } = await baked('bones', false);
    expect(await worstOf(await changed(file, reorder))).toBeLessThan(1e-5);
    const reordered = await load(await changed((await baked('bones')).file, reorder));
    expect(() => crowdOfFile(reordered, 1)).toThrow(
      "SIM_baked_animation: the file's levels of detail were made for vertices at other places or in another order",
    );
  });

  test('vertex textures do', async () => {
    for (const isLeveled of [false, true]) {
      const { file } = await baked('vertices', isLeveled);
      const reordered = await load(await changed(file, reorder));
      expect(() => crowdOfFile(reordered, 1)).toThrow(
        'SIM_baked_animation: characters[0] was baked of other meshes than it has: vertices of mesh "Sleeve" are not where they were',
      );
    }
  });

  test('bones mind other inverse bind matrices, vertex textures do not', async () => {
    const rescaled = await load(await changed((await baked('bones')).file, rescale));
    expect(() => crowdOfFile(rescaled, 1)).toThrow(
      'characters[0] was baked of other meshes than it has: joint "Shoulder" of mesh "Sleeve" has another inverse bind matrix',
    );
    const { file, level } = await baked('vertices');
    const quantised = await changed(file, rescale);
    expect(await worstOf(quantised)).toBeCloseTo(await worstOf(file), 5);
    const crowd = crowdOfFile(await load(quantised), 1);
    const { geometry } = levelsOf(crowd).levels[1].object as Mesh;
    expect(geometry.index?.count).toBe(level.geometry?.index?.count);
  });
});

describe('documents of glTF-Transform', () => {
  /** The arm with other names, so that both can be in one file. */
  const second = (document: Document) => {
    for (const node of document.getRoot().listNodes()) node.setName(`Left${node.getName()}`);
    document.getRoot().listAnimations()[0].setName('Greet');
  };

  test.each([
    ['with other names', second],
    ['with the same names, which GLTFLoader numbers', () => {}],
  ])('that are merged keep the characters of both, %s', async (_, change) => {
    const [one, other] = [await baked('bones'), await baked('bones', true, change)];
    const document = await io.readBinary(one.file);
    mergeDocuments(document, await io.readBinary(other.file));
    mergeBuffers(document);
    const file = await io.writeBinary(document);
    const gltf = await load(file);
    expect(gltf.scenes).toHaveLength(2);
    expect(bakedCharactersOf(gltf).map(({ scene }) => scene)).toEqual(gltf.scenes);
    expect(await worstOf(file, 0)).toBeLessThan(1e-5);
    expect(await worstOf(file, 1, change === second ? 'Greet' : 'Wave')).toBeLessThan(1e-5);
  });
});
