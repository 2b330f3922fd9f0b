import { bakeVertexTexture } from 'skinned-instanced-mesh/vertex-textures';
import {
  Float32BufferAttribute,
  Group,
  Mesh,
  MeshStandardMaterial,
  type Object3D,
  PlaneGeometry,
  Uint16BufferAttribute,
  Vector3,
} from 'three';
import { expect, test } from 'vitest';
import { assembleCharacter, SkinnedInstancedMesh } from '../../support/library.js';

/** A square whose tangents lie along its first edge, as positions of the first two vertices do. */
function createSquare(): PlaneGeometry {
  const geometry = new PlaneGeometry(1, 1);
  geometry.setAttribute(
    'tangent',
    new Float32BufferAttribute(
      [1, 2, 3, 4].flatMap(() => [1, 0, 0, -1]),
      4,
    ),
  );
  geometry.setAttribute('skinIndex', new Uint16BufferAttribute(new Uint16Array(16), 4));
  geometry.setAttribute(
    'skinWeight',
    new Float32BufferAttribute(
      [1, 2, 3, 4].flatMap(() => [1, 0, 0, 0]),
      4,
    ),
  );
  return geometry;
}

function expectTangentsAlongEdge(root: Object3D): void {
  const { geometry } = new SkinnedInstancedMesh(assembleCharacter(root, bakeVertexTexture(root, [])), 1);
  const { position, tangent } = geometry.attributes;
  const at = (vertex: number) => new Vector3().fromBufferAttribute(position, vertex);
  const edge = at(1).sub(at(0)).normalize();
  const turned = new Vector3().fromBufferAttribute(tangent, 2);
  expect(turned.distanceTo(edge)).toBeLessThan(1e-4);
  expect(edge.x, 'no test without a turn').toBeLessThan(0.9);
  expect(tangent.getW(2)).toBe(-1);
}

test('tangents go with the positions to where the mesh is, scaled and mirrored', () => {
  const mesh = new Mesh(createSquare(), new MeshStandardMaterial());
  mesh.rotation.set(0.3, 0.4, 2);
  mesh.scale.set(-3, 2, 5);
  const root = new Group().add(mesh);
  root.rotation.y = 1;
  expectTangentsAlongEdge(root);
});
