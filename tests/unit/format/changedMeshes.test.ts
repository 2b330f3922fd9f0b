import { type Accessor, Document, type Node, NodeIO, type vec3 } from '@gltf-transform/core';
import { MeshoptSimplifier } from 'meshoptimizer';
import type { EncodingName } from 'skinned-instanced-mesh';
import {
  bakedCharactersOf,
  SkinnedInstancedMeshExtension,
  type WrittenLevel,
  writeBoneTexture,
} from 'skinned-instanced-mesh/files';
import { BakedAnimation } from 'skinned-instanced-mesh/gltf-transform';
import { VertexTexture } from 'skinned-instanced-mesh/vertex-textures';
import { AnimationMixer, LoopOnce, type Mesh, type Object3D, Texture, Vector3 } from 'three';
import { GLTFLoader } from 'three/addons/loaders/GLTFLoader.js';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { mergeBuffers } from '../../../lib/cli/prepareDocument.js';
import { warned } from '../../../lib/utils/warnOnce.js';
import { armDocument } from '../../support/armDocument.js';
import { BoneTexture, SkinnedInstancedMesh } from '../../support/library.js';
import { cloneDocument, mergeDocuments } from '../../support/mergeDocuments.js';

const io = new NodeIO().registerExtensions([BakedAnimation]);

async function load(file: Uint8Array) {
  const loader = new GLTFLoader();
  loader.register(() => ({ name: 'no images', loadTexture: async () => new Texture() }));
  loader.register((parser) => new SkinnedInstancedMeshExtension(parser, { vertexTextures: VertexTexture }));
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
      ? BoneTexture.bake(scene, animations, { encoding })
      : VertexTexture.bake(scene, animations, { fps: 8 });
  const { geometry } = SkinnedInstancedMesh.from(scene, [], 1, { boneTexture });
  const level: WrittenLevel = {
    ...SkinnedInstancedMesh.simplify(geometry, 0.5, MeshoptSimplifier),
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

/** The node of the rigid mesh, and its positions. */
function watchOf(document: Document) {
  const node = document
    .getRoot()
    .listNodes()
    .find((one) => one.getName() === 'Watch') as Node;
  const position = node.getMesh()?.listPrimitives()[0].getAttribute('POSITION') as Accessor;
  return { node, position };
}

/** A copy of the sleeve on the same bones, bound in another size. */
function addArmour(document: Document): void {
  const [skin] = document.getRoot().listSkins();
  const [mesh] = document.getRoot().listMeshes();
  const inverses = skin.getInverseBindMatrices()?.clone() as Accessor;
  inverses.setArray(
    (inverses.getArray() as Float32Array<ArrayBuffer>).map((value, i) => (i % 16 < 12 ? value * 1.2 : value)),
  );
  const other = document.createSkin('Armour').setInverseBindMatrices(inverses);
  for (const joint of skin.listJoints()) other.addJoint(joint);
  document
    .getRoot()
    .listScenes()[0]
    .addChild(document.createNode('Armour').setMesh(mesh.clone()).setSkin(other));
}

function show(scene: Object3D, name: string, isVisible: boolean): void {
  (scene.getObjectByName(name) as Object3D).visible = isVisible;
}

/** Puts the arm under a node of that scale, in whose units it is: as large as before. */
function inArmature(document: Document, scale: number): void {
  const root = document.getRoot();
  const [scene] = root.listScenes();
  const armature = document.createNode('Armature').setScale([scale, scale, scale]);
  for (const child of scene.listChildren()) armature.addChild(child);
  scene.addChild(armature);
  const resize = (accessor: Accessor | null | undefined, isScaled = (_: number) => true) => {
    const array = accessor?.getArray() as Float32Array<ArrayBuffer>;
    accessor?.setArray(array.map((value, i) => (isScaled(i) ? value / scale : value)));
  };
  for (const primitive of root.listMeshes().flatMap((mesh) => mesh.listPrimitives())) {
    for (const one of [primitive, ...primitive.listTargets()]) resize(one.getAttribute('POSITION'));
  }
  resize(root.listSkins()[0].getInverseBindMatrices(), (i) => i % 16 >= 12 && i % 16 < 15);
  for (const node of root.listNodes()) {
    if (node !== armature) node.setTranslation(node.getTranslation().map((one) => one / scale) as vec3);
  }
  for (const channel of root.listAnimations().flatMap((animation) => animation.listChannels())) {
    if (channel.getTargetPath() === 'translation') resize(channel.getSampler()?.getOutput());
  }
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
  const crowd = SkinnedInstancedMesh.from(bakedCharactersOf(gltf)[index], 1);
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
    const place = crowd.getVertexPositionAt(0, vertex, new Vector3());
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
    expect(() => SkinnedInstancedMesh.from(reordered, 1)).toThrow(
      "SkinnedInstancedMesh.from: the file's levels of detail were made for vertices at other places or in another order",
    );
  });

  test('vertex textures do', async () => {
    for (const isLeveled of [false, true]) {
      const { file } = await baked('vertices', isLeveled);
      const reordered = await load(await changed(file, reorder));
      expect(() => SkinnedInstancedMesh.from(reordered, 1)).toThrow(
        'SkinnedInstancedMesh.from: characters[0] of the file was baked of other meshes than it has: vertices of mesh "Sleeve" are not where they were',
      );
    }
  });

  test('bones mind other inverse bind matrices, vertex textures do not', async () => {
    const rescaled = await load(await changed((await baked('bones')).file, rescale));
    expect(() => SkinnedInstancedMesh.from(rescaled, 1)).toThrow(
      'characters[0] of the file was baked of other meshes than it has: joint "Shoulder" of mesh "Sleeve" has another inverse bind matrix',
    );
    const { file, level } = await baked('vertices');
    const quantised = await changed(file, rescale);
    expect(await worstOf(quantised)).toBeCloseTo(await worstOf(file), 5);
    const crowd = SkinnedInstancedMesh.from(await load(quantised), 1);
    const { geometry } = crowd.levels[1].object as Mesh;
    expect(geometry.index?.count).toBe(level.geometry?.index?.count);
  });

  test('bones mind other positions of a rigid mesh, which its node makes up for, and nothing else', async () => {
    const quantise = (document: Document) => {
      const { node, position } = watchOf(document);
      const values = position.getArray() as Float32Array<ArrayBuffer>;
      position.setArray(values.map((value, i) => (value - [0.1, -2, 5][i % 3]) / 0.3));
      node.setScale([0.3, 0.3, 0.3]).setTranslation([0.1, -2, 5]);
    };
    for (const encoding of ['tracks', 'quaternion', 'matrix'] as const) {
      const { file } = await baked('bones', false, undefined, undefined, encoding);
      const gltf = await load(await changed(file, quantise));
      // In whatever pose the scene is meanwhile.
      new AnimationMixer(gltf.scene).clipAction(gltf.animations[0]).play().getMixer().setTime(0.4);
      expect(() => SkinnedInstancedMesh.from(gltf, 1)).toThrow(
        'was baked of other meshes than it has: positions of mesh "Watch" are in other units, which its node makes up for',
      );
    }
    // Meshes that are others, in another place, or simpler are drawn as they are.
    const { file } = await baked('bones', false);
    for (const change of [
      (document: Document) => watchOf(document).node.setScale([2, 2, 2]).setTranslation([1, 0, 0]),
      (document: Document) => {
        const { position } = watchOf(document);
        const values = position.getArray() as Float32Array<ArrayBuffer>;
        position.setArray(values.map((value) => value * 3 + 1));
      },
    ]) {
      const { scene, animations, ...gltf } = await load(await changed(file, change));
      new AnimationMixer(scene).clipAction(animations[0]).play().getMixer().setTime(0.4);
      expect(SkinnedInstancedMesh.from({ scene, animations, ...gltf }, 1).count).toBe(1);
    }
  });

  test('a rigid mesh that is the whole character is one of those', async () => {
    const document = armDocument();
    const { node, position } = watchOf(document);
    const index = document.getRoot().listNodes().indexOf(node);
    const into = await io.writeBinary(document);
    const load1 = await load(into);
    const watch = load1.scene.getObjectByName('Watch') as Mesh;
    const file = writeBoneTexture(BoneTexture.bake(watch, []), { into, node: index });
    expect(SkinnedInstancedMesh.from(await load(file), 1).count).toBe(1);
    const quantised = await changed(file, (one) => {
      const { node, position } = watchOf(one);
      const values = position.getArray() as Float32Array<ArrayBuffer>;
      position.setArray(values.map((value) => (value - 0.15) / 0.15));
      node.setScale([0.15, 0.15, 0.15]).setTranslation([0.15, 0.15, 0.15]);
    });
    const gltf = await load(quantised);
    expect(() => SkinnedInstancedMesh.from(gltf, 1)).toThrow(
      'was baked of other meshes than it has: positions of mesh "Watch" are in other units, which its node makes up for',
    );
    expect(position.getCount()).toBe(3);
  });

  test('a character that was moved as a whole is drawn where it was baked, and it says so', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
    for (const encoding of ['tracks', 'quaternion'] as const) {
      const { file } = await baked('bones', false, undefined, undefined, encoding);
      warn.mockClear();
      warned.clear();
      expect(SkinnedInstancedMesh.from(await load(file), 1).count).toBe(1);
      expect(warn).not.toHaveBeenCalled();
      // As glTF-Transform's `center` does it.
      const pivoted = await changed(file, (document) => {
        const pivot = document.createNode('Pivot').setTranslation([0, -1, 0.25]);
        const [scene] = document.getRoot().listScenes();
        for (const child of scene.listChildren()) pivot.addChild(child);
        scene.addChild(pivot);
      });
      const moved = await load(pivoted);
      // In whatever pose the scene is meanwhile.
      new AnimationMixer(moved.scene).clipAction(moved.animations[0]).play().getMixer().setTime(0.4);
      expect(SkinnedInstancedMesh.from(moved, 1).count).toBe(1);
      expect(warn).toHaveBeenCalledExactlyOnceWith(
        'SkinnedInstancedMesh.from: characters[0] of the file was moved as a whole since it was baked, by 0, -1, 0.25, as ' +
          "glTF-Transform's center does it, and is drawn where it was baked; bake the file anew, as the last of all steps, or move the crowd.",
      );
    }
    // One bone in another place is another pose.
    const { file } = await baked('bones', false);
    warn.mockClear();
    warned.clear();
    const bent = await changed(file, (document) => {
      document.getRoot().listNodes()[2].setTranslation([1, 1, 0]);
    });
    expect(SkinnedInstancedMesh.from(await load(bent), 1).count).toBe(1);
    expect(warn).not.toHaveBeenCalled();
  });

  test('meshes that were left out of what was baked may be any', async () => {
    for (const kind of ['bones', 'vertices'] as const) {
      const { file } = await baked(kind, false, addArmour, (scene) => show(scene, 'Armour', false));
      const gltf = await load(file);
      show(gltf.scene, 'Armour', false);
      expect(SkinnedInstancedMesh.from(gltf, 1).wardrobe.paths.flat()).not.toContain('Armour');
      // What is drawn is looked at yet.
      const change = kind === 'bones' ? rescale : reorder;
      const other = await load(await changed(file, change));
      show(other.scene, 'Armour', false);
      expect(() => SkinnedInstancedMesh.from(other, 1)).toThrow(/of mesh "Sleeve"/);
    }
  });

  test.each([0.01, 1, 100])('units of a mesh are its own, under an armature scaled by %f', async (scale) => {
    // What other tools round, or change, of a mesh of size 2 / scale.
    const shift = (by: number) => (document: Document) => {
      const inverses = document.getRoot().listSkins()[0].getInverseBindMatrices();
      const array = inverses?.getArray() as Float32Array<ArrayBuffer>;
      inverses?.setArray(array.map((value, i) => (i % 16 === 12 ? value + by / scale : value)));
    };
    const { file } = await baked('bones', false, (document) => inArmature(document, scale));
    expect(await worstOf(file)).toBeLessThan(1e-4);
    expect(SkinnedInstancedMesh.from(await load(await changed(file, shift(1e-3))), 1).count).toBe(1);
    const moved = await load(await changed(file, shift(0.02)));
    expect(() => SkinnedInstancedMesh.from(moved, 1)).toThrow(/has another inverse bind matrix/);
  });

  test('vertices that code has moved since the file was loaded are not taken for others', async () => {
    const gltf = await load((await baked('vertices', false)).file);
    gltf.scene.traverse((node) => {
      const { isMesh, geometry } = node as Mesh;
      if (isMesh) geometry.rotateX(1);
    });
    expect(SkinnedInstancedMesh.from(gltf, 1).count).toBe(1);
  });

  test('files of libraries that did not say where vertices are, are read as ever', async () => {
    const { file } = await baked('vertices');
    const texture = bakedCharactersOf(await load(file))[0].boneTexture as VertexTexture;
    const { json, views } = texture.encode();
    expect(json.parts.map(({ positions }) => positions?.length)).toEqual([3, 3]);
    const old = { json: { ...json, parts: json.parts.map(({ positions: _, ...part }) => part) }, views };
    expect(VertexTexture.decode(old).vertexData.parts[0]).not.toHaveProperty('positions');
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

  test('that have none get those that are merged into them', async () => {
    const document = armDocument();
    second(document);
    mergeDocuments(document, await io.readBinary((await baked('vertices')).file));
    mergeBuffers(document);
    const gltf = await load(await io.writeBinary(document));
    expect(bakedCharactersOf(gltf).map(({ scene }) => gltf.scenes.indexOf(scene as never))).toEqual([1]);
  });

  test('that are cloned have each character once', async () => {
    const { file } = await baked('bones');
    const clone = await io.writeBinary(cloneDocument(await io.readBinary(file), new Document()));
    expect(bakedCharactersOf(await load(clone))).toHaveLength(1);
    expect(await worstOf(clone)).toBeLessThan(1e-5);
  });
});
