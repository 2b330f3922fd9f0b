import {
  BoxGeometry,
  type BufferGeometry,
  DataUtils,
  Float16BufferAttribute,
  Mesh,
  MeshStandardMaterial,
} from 'three';
import { expect, test } from 'vitest';
import { bakeCharacter, SkinnedInstancedMesh } from '../../support/library.js';
import { createStick } from '../../support/stick.js';

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
      root.traverse((node) => {
        if (node instanceof Mesh) inHalves(node.geometry);
      });
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
