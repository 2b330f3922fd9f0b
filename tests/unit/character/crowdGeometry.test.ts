import {
  BoxGeometry,
  type BufferGeometry,
  DataTexture,
  DataUtils,
  Float16BufferAttribute,
  type InterleavedBufferAttribute,
  Mesh,
  MeshStandardMaterial,
  type Object3D,
  SphereGeometry,
} from 'three';
import { expect, test } from 'vitest';
import { isOfVertices } from '../../../lib/utils/geometries.js';
import { createCoarseCharacter } from '../../support/coarseCharacter.js';
import { crowdArguments } from '../../support/crowdArguments.js';
import { bakeCharacter, SkinnedInstancedMesh } from '../../support/library.js';
import { quantise } from '../../support/quantise.js';
import { createStick } from '../../support/stick.js';

test.each([1, 2] as const)('with %i influences the strongest are kept and add up to one', (influences) => {
  const { root, mesh, clips } = createStick();
  const { skinIndex, skinWeight } = mesh.geometry.attributes;
  skinIndex.setXYZW(0, 0, 1, 0, 1);
  skinWeight.setXYZW(0, 0.2, 0.5, 0.05, 0.25);
  const crowd = new SkinnedInstancedMesh(bakeCharacter(root, clips), 1, { influences });
  const weights = crowd.geometry.getAttribute('skinWeight');
  const expected = influences === 1 ? [1, 0] : [0.5 / 0.75, 0.25 / 0.75];
  expect([weights.getX(0), weights.getY(0)]).toEqual(expected.map((w) => expect.closeTo(w, 6)));
  expect(weights.getZ(0)).toBe(0);
});

/** Positions, normals and weights as half floats, which hold these numbers exactly. */
function inHalves(geometry: BufferGeometry): void {
  for (const name of ['position', 'normal', 'skinWeight']) {
    const source = geometry.getAttribute(name);
    if (source === undefined) continue;
    const halves = Array.from(source.array, (value) => DataUtils.toHalfFloat(value));
    geometry.setAttribute(name, new Float16BufferAttribute(new Uint16Array(halves), source.itemSize));
  }
}

test.each([false, true])('meshes of half floats are drawn as those of floats, several: %s', (several) => {
  const make = (halves: boolean) => {
    const { root, mesh, clips } = createStick();
    if (several) root.add(new Mesh(new BoxGeometry(2, 4, 8), new MeshStandardMaterial()));
    if (halves) {
      for (const mesh of root.getObjectsByProperty('isMesh', true) as Mesh[]) inHalves(mesh.geometry);
      expect(mesh.geometry.getAttribute('position').array).toBeInstanceOf(Uint16Array);
    }
    const crowd = new SkinnedInstancedMesh(bakeCharacter(root, clips), 1);
    const { position, normal, skinWeight } = crowd.geometry.attributes;
    const { boneTexture } = crowd;
    const arrays = [position, normal, skinWeight].map((one) => one && [...one.array]);
    return [...arrays, boneTexture.jointBoxes, boneTexture.data.restBounds];
  };
  expect(make(true)).toEqual(make(false));
});

/** A sphere of its own name under a character. */
function addSphere(root: Object3D, name: string, geometry: SphereGeometry, mapped: boolean) {
  const normalMap = mapped ? new DataTexture(new Uint8Array(4).fill(128), 1, 1) : null;
  const mesh = new Mesh(geometry, new MeshStandardMaterial({ normalMap }));
  mesh.name = name;
  root.add(mesh);
}

test('tangents that no material reads are left out, so that three.js derives those of others', () => {
  const { root, clips } = createStick();
  const own = new SphereGeometry(0.5, 6, 4);
  own.computeTangents();
  addSphere(root, 'With', own, false);
  addSphere(root, 'Without', new SphereGeometry(0.5, 6, 4), true);
  const crowd = new SkinnedInstancedMesh(bakeCharacter(root, clips), 1);
  expect(crowd.geometry.hasAttribute('tangent')).toBe(false);
  expect(own.hasAttribute('tangent')).toBe(true);
  crowd.dispose();
});

/** Bytes that a vertex takes in the memory of a device. */
function bytesOf({ attributes }: BufferGeometry): number {
  const buffers = new Map<object, number>();
  for (const attribute of Object.values(attributes)) {
    if (!isOfVertices(attribute)) continue;
    const { data } = attribute as InterleavedBufferAttribute;
    const { BYTES_PER_ELEMENT } = attribute.array;
    buffers.set(data ?? attribute, (data?.stride ?? attribute.itemSize) * BYTES_PER_ELEMENT);
  }
  return [...buffers.values()].reduce((sum, bytes) => sum + bytes, 0);
}

/** The figure with a hat of a mesh of its own, in another colour. */
function dressed() {
  const { root, clips } = createCoarseCharacter();
  const hat = new Mesh(new BoxGeometry(0.4, 0.2, 0.4), new MeshStandardMaterial({ color: 0x3366aa }));
  hat.name = 'Hat';
  root.getObjectByName('Head')?.add(hat);
  return { root, clips };
}

test.each([false, true])('merged vertices take no more bytes, mergeMaterials %s', (mergeMaterials) => {
  const { root, clips } = dressed();
  const exact = new SkinnedInstancedMesh(...crowdArguments(root, clips, 1, { mergeMaterials }));
  for (const mesh of root.getObjectsByProperty('isMesh', true) as Mesh[]) quantise(mesh.geometry);
  const { geometry } = new SkinnedInstancedMesh(...crowdArguments(root, clips, 1, { mergeMaterials }));
  const { normal, uv, skinWeight } = geometry.attributes;
  expect([normal, uv, skinWeight].map(({ array }) => array.constructor)).toEqual([
    Int8Array,
    Uint16Array,
    Uint8Array,
  ]);
  // Normals 4 in place of 12, uvs 4 in place of 8, weights 4 in place of 16.
  expect(bytesOf(exact.geometry) - bytesOf(geometry)).toBe(8 + 4 + 12);
  const body = (root.getObjectByName('Body') as Mesh).geometry;
  for (let i = 0; i < body.attributes.normal.count; i++) {
    for (let k = 0; k < 3; k++) {
      expect(normal.getComponent(i, k)).toBe(body.attributes.normal.getComponent(i, k));
    }
  }
});
