import { type Document, NodeIO } from '@gltf-transform/core';
import { EXTMeshoptCompression } from '@gltf-transform/extensions';
import { MeshoptDecoder, MeshoptEncoder } from 'meshoptimizer';
import { bakedCharactersOf, writeCharacter } from 'skinned-instanced-mesh/files';
import { BakedAnimation } from 'skinned-instanced-mesh/gltf-transform';
import { beforeAll, describe, expect, test } from 'vitest';
import { bakeVertices, charactersOf, createArm, loadFile } from '../../support/bakedFiles.js';
import { bitsOf } from '../../support/bitsOf.js';
import { bakeCharacter, type Character } from '../../support/library.js';
import { mergeDocuments } from '../../support/mergeDocuments.js';
import { validateGlb } from '../../support/validateGlb.js';

beforeAll(() => Promise.all([MeshoptEncoder.ready, MeshoptDecoder.ready]));

const packing = { 'meshopt.decoder': MeshoptDecoder, 'meshopt.encoder': MeshoptEncoder };
const withoutBaked = new NodeIO().registerExtensions([EXTMeshoptCompression]).registerDependencies(packing);
const io = new NodeIO()
  .registerExtensions([BakedAnimation, EXTMeshoptCompression])
  .registerDependencies(packing);

const { root, clips } = createArm();
const arm = bakeCharacter(root, clips);
const KINDS: [string, Character][] = [['bones', arm], ...Object.entries(bakeVertices())];

async function changed(
  file: Uint8Array,
  change: (document: Document) => void,
  tool = io,
): Promise<Uint8Array> {
  const document = await tool.readBinary(file);
  change(document);
  return tool.writeBinary(document);
}

const positionsOf = (document: Document) =>
  document.getRoot().listMeshes()[0].listPrimitives()[0].getAttribute('POSITION')!;

const dataOf = ({ boneTexture }: Character) => bitsOf(boneTexture.data);

describe.each(KINDS)('tools of glTF-Transform, %s', (_, character) => {
  const files = () =>
    [undefined, MeshoptEncoder].map((meshoptEncoder) => writeCharacter(character, { meshoptEncoder }));

  test('keep characters, and their compression, whatever they rename', async () => {
    for (const file of files()) {
      const kept = await changed(file, (document) => {
        for (const node of document.getRoot().listNodes()) node.setName(`${node.getName()} of another name`);
      });
      expect((await charactersOf(kept)).map(dataOf)).toEqual([dataOf(character)]);
      expect(await validateGlb(kept)).toEqual([]);
      expect(kept.length).toBeLessThan(file.length * 1.3);
    }
  });

  test('that move vertices, quantise them or take triangles away are an error', async () => {
    const changes: ((document: Document) => void)[] = [
      (document) => positionsOf(document).setElement(3, [0, 0, 7]),
      (document) => {
        const array = positionsOf(document).getArray()!;
        positionsOf(document).setArray(Float32Array.from(array as Float32Array, (value) => value * 1.001));
      },
      (document) => {
        const indices = document.getRoot().listMeshes()[0].listPrimitives()[0].getIndices()!;
        indices.setArray(indices.getArray()!.slice(3));
      },
    ];
    for (const change of changes)
      await expect(charactersOf(await changed(files()[0], change))).rejects.toThrow(
        /SIM_baked_animation: .*bake (it|the file) anew/,
      );
  });

  test('that drop the character are found out, and files are loaded', async () => {
    for (const file of files()) {
      const gltf = await loadFile(await changed(file, () => {}, withoutBaked));
      expect(gltf.scene.children.length).toBeGreaterThan(0);
      expect(() => bakedCharactersOf(gltf)).toThrow(
        'a tool has left out what was baked into the file; bake it last, or have',
      );
      const without = await changed(file, (document) => document.getRoot().listMeshes()[0].dispose());
      expect(await charactersOf(without)).toEqual([]);
    }
  });

  test('that merge documents keep the characters of both', async () => {
    const document = await io.readBinary(files()[1]);
    mergeDocuments(document, await io.readBinary(writeCharacter(arm)));
    const buffers = document.getRoot().listBuffers();
    for (const accessor of document.getRoot().listAccessors()) accessor.setBuffer(buffers[0]);
    for (const buffer of buffers.slice(1)) buffer.dispose();
    const gltf = await loadFile(await io.writeBinary(document));
    const characters = bakedCharactersOf(gltf);
    expect(characters.map(dataOf)).toEqual([character, arm].map(dataOf));
    expect(characters.map(({ scene }) => scene)).toEqual(gltf.scenes);
  });
});
