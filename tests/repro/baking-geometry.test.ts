import {
  BoxGeometry,
  BufferGeometry,
  Float32BufferAttribute,
  Mesh,
  MeshBasicMaterial,
  Raycaster,
  Uint16BufferAttribute,
  Vector3,
} from 'three';
import { expect, test } from 'vitest';
import { BoneTexture, SkinnedInstancedMesh } from '../support/library.js';
import { createStick } from '../support/stick.js';

test.each(['position', 'skinIndex', 'skinWeight'])('a skin without %s is named', (name) => {
  const { root, mesh, clips } = createStick();
  mesh.geometry.deleteAttribute(name);
  expect(() => BoneTexture.bake(root, clips)).toThrow(
    `BoneTexture.bake: the geometry of SkinnedMesh "StickMesh" has no attribute "${name}"`,
  );
});

test('a rigid mesh without positions is named', () => {
  const { root, bones, clips } = createStick();
  const hat = new Mesh(new BufferGeometry(), new MeshBasicMaterial());
  hat.name = 'Hat';
  bones[1].add(hat);
  expect(() => SkinnedInstancedMesh.from(root, clips, 1)).toThrow(
    'the geometry of Mesh "Hat" has no attribute "position"',
  );
  hat.visible = false;
  expect(SkinnedInstancedMesh.from(root, clips, 1).partNames).toEqual(['StickMesh']);
});

test('a vertex that follows a bone its skeleton has not got is named', () => {
  for (const index of [2, 65535]) {
    const { root, bones, mesh, clips } = createStick();
    // The joint of the box would be the third of the bone texture.
    bones[1].add(new Mesh(new BoxGeometry(), new MeshBasicMaterial()));
    mesh.geometry.getAttribute('skinIndex').setX(2, index);
    const message = `vertex 2 of SkinnedMesh "StickMesh" follows joint ${index}, but its skeleton has 2 bones`;
    expect(() => BoneTexture.bake(root, clips)).toThrow(message);
    expect(() => SkinnedInstancedMesh.from(root, clips, 1)).toThrow(message);
  }
});

test('a bone texture with more joints does not hide it', () => {
  const { root, clips } = createStick();
  const boneTexture = BoneTexture.bake(root, clips, { sockets: ['Base'] });
  const other = createStick();
  other.mesh.geometry.getAttribute('skinIndex').setX(2, 2);
  expect(() => SkinnedInstancedMesh.from(other.root, clips, 1, { boneTexture })).toThrow('follows joint 2');
});

test.each([false, true])(
  'a joint that is not there is harmless where it has no weight (merged: %s)',
  (merged) => {
    const { root, bones, mesh, clips } = createStick();
    if (merged) bones[0].add(new Mesh(new BoxGeometry(), new MeshBasicMaterial()));
    const { geometry } = mesh;
    const indices = [1, 9, 65535, 7, 0, 9, 0, 0, 1, 2, 3, 4];
    geometry.setAttribute('skinIndex', new Uint16BufferAttribute(indices, 4));
    const crowd = SkinnedInstancedMesh.from(root, clips, 1);
    crowd.play(0, 'Slide', { time: 0.5 });
    const at = (vertex: number) => crowd.getVertexPositionAt(0, vertex, new Vector3());
    expect(at(0).x).toBeCloseTo(5.5, 5);
    expect(at(1).x).toBeCloseTo(1, 5);
    crowd.computeBoundingSphere();
    expect(crowd.boundingSphere?.radius).toBeLessThan(20);
    const ray = new Raycaster(new Vector3(5.5, 0.1, 5), new Vector3(0, 0, -1));
    expect(() => ray.intersectObject(crowd)).not.toThrow();
  },
);

test('positions that are no numbers leave the sphere one', () => {
  const { root, mesh, clips } = createStick();
  mesh.geometry.setAttribute('position', new Float32BufferAttribute([0, 0, 0, 1, Number.NaN, 0, 0, 1, 0], 3));
  const crowd = SkinnedInstancedMesh.from(root, clips, 1);
  crowd.computeBoundingSphere();
  expect(crowd.boundingSphere?.radius).toBeGreaterThan(0);
});
