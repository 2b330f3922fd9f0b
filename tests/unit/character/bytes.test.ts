import {
  BoxGeometry,
  type BufferGeometry,
  type InterleavedBufferAttribute,
  Mesh,
  MeshStandardMaterial,
} from 'three';
import { expect, test } from 'vitest';
import { isOfVertices } from '../../../lib/utils/geometries.js';
import { createCoarseCharacter } from '../../support/coarseCharacter.js';
import { crowdArguments } from '../../support/crowdArguments.js';
import { SkinnedInstancedMesh } from '../../support/library.js';
import { quantise } from '../../support/quantise.js';

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

test.each([false, true])(
  'merged vertices stay as few bytes as they had, with mergeMaterials %s',
  (mergeMaterials) => {
    const { root, clips } = dressed();
    const exact = new SkinnedInstancedMesh(...crowdArguments(root, clips, 1, { mergeMaterials }));
    root.traverse((node) => {
      if (node instanceof Mesh) quantise(node.geometry);
    });
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
  },
);
